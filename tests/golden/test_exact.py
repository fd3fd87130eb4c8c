"""The smallest exact requantizer against brute force over all constants, and its certificate.

Outputs wanted are written out in numpy float32; a slope's bounds are checked in exact rationals.
"""

import json
from fractions import Fraction

import numpy as np
import pytest

from systoliq.golden.exact import certificate, smallest_exact
from systoliq.golden.formats import INT8, UINT8, IntFormat
from systoliq.golden.requantization import Requantization, Rounding
from systoliq.golden.thresholds import count_differences, float32_steps, steps_digest

NEAR_TIE, NEAREST, FLOOR = Rounding.NEAR_TIE, Rounding.NEAREST, Rounding.FLOOR


def float32_formula(acc, scale, zero_point, output):
    product = np.asarray(acc).astype(np.float32) * np.asarray(scale, dtype=np.float32)
    return np.rint(np.clip(product, output.min - zero_point, output.max - zero_point)).astype(np.int64) + zero_point


def some_floor_is_exact(wanted, acc, zero_point, output, multipliers, shift):
    """Brute force: does any C at all make (acc * M + C) >> S right for one of `multipliers`?"""
    reach = (int(np.abs(acc).max()) * max(multipliers, default=0)) + (1 << (shift + output.bits + 1))
    offsets = np.arange(-reach, reach + 1)[:, None]
    return any(
        np.all(np.clip(((acc * m + offsets) >> shift) + zero_point, output.min, output.max) == wanted, axis=1).any()
        for m in multipliers
    )


@pytest.mark.parametrize("seed", range(40))
def test_floor_has_the_fewest_bits_that_brute_force_finds(seed):
    rng = np.random.default_rng(seed)
    output = IntFormat(int(rng.integers(2, 5)), signed=bool(rng.integers(2)))
    zero_point = int(rng.integers(output.min, output.max + 1))
    lo, hi = int(rng.integers(-25, 0)), int(rng.integers(0, 25))
    scale = np.exp2(rng.uniform(-5, 0.5, 1)).astype(np.float32)
    acc = np.arange(lo, hi + 1)
    wanted = float32_formula(acc, scale, zero_point, output)
    [fit] = smallest_exact(scale, zero_point, output, lo, hi).fits[FLOOR]
    for shift in range(6):
        least = 1 << 6 if fit.constants is None or fit.constants[1] > shift else fit.constants[0]
        assert not some_floor_is_exact(wanted, acc, zero_point, output, range(min(least, 1 << 6)), shift)
    if fit.constants:
        multiplier, shift, offset = fit.constants
        found = np.clip(((acc * multiplier + offset) >> shift) + zero_point, output.min, output.max)
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("rounding", [NEAREST, NEAR_TIE])
@pytest.mark.parametrize("seed", range(12))
def test_nearest_and_near_tie_have_the_fewest_bits_that_brute_force_finds(rounding, seed):
    rng = np.random.default_rng(100 + seed)
    output = IntFormat(int(rng.integers(2, 9)), signed=bool(rng.integers(2)))
    zero_point = int(rng.integers(output.min, output.max + 1))
    lo, hi = int(rng.integers(-1500, 0)), int(rng.integers(0, 1500))
    scale = np.exp2(rng.uniform(-9, 1, 1)).astype(np.float32)
    acc = np.arange(lo, hi + 1)[:, None]
    wanted = float32_formula(acc, scale, zero_point, output)
    [fit] = smallest_exact(scale, zero_point, output, lo, hi).fits[rounding]

    def right(multipliers, shift):
        form = Requantization(
            multiplier=multipliers,
            shift=(shift,) * len(multipliers),
            offset=(0,) * len(multipliers),
            zero_point=zero_point,
            output=output,
            rounding=rounding,
        )
        return np.all(form.apply(np.repeat(acc, len(multipliers), axis=1)) == wanted, axis=0)

    multiplier, shift, _ = fit.constants or (1 << 13, 30, 0)
    if fit.constants:
        assert right((multiplier,), shift).all()
    for smaller in range(min(shift, 22)):
        near = round(float(scale[0]) * (1 << smaller))
        candidates = tuple({0, *range(max(near - 40, 0), near + 40)} & set(range(multiplier)))
        assert not right(candidates, smaller).any()


@pytest.mark.parametrize("k", [64, 2048])
@pytest.mark.parametrize(("output", "zero_point"), [(INT8, 3), (UINT8, 0)], ids=str)
def test_every_fit_is_exact_and_every_obstacle_contradicts_the_outputs(k, output, zero_point):
    rng = np.random.default_rng(k)
    scale = np.exp2(rng.uniform(-16, -2, 400)).astype(np.float32)
    lo, hi = -rng.integers(1, k * 128 * 128, 400), rng.integers(1, k * 128 * 128, 400)
    search = smallest_exact(scale, zero_point, output, lo, hi)
    for rounding in Rounding:
        fits = search.fits[rounding]
        good = [n for n, fit in enumerate(fits) if fit.constants]
        multiplier, shift, offset = zip(*(fits[n].constants for n in good), strict=True)
        form = Requantization(
            multiplier=multiplier,
            shift=shift,
            offset=offset,
            zero_point=zero_point,
            output=output,
            rounding=rounding,
        )
        assert count_differences(form, scale[good], lo[good], hi[good]).sum() == 0
        assert len(good) + len(search.obstacles(rounding)) == 400
    assert not search.obstacles(NEAR_TIE)
    assert max(search.bits(NEAR_TIE)) <= 24

    contradicted = 0
    for n in search.obstacles(FLOOR):
        slopes = search.fits[FLOOR][n].slopes
        if slopes.empty:
            contradicted += 1
            (a, b), (c, d) = slopes.below.accumulators, slopes.above.accumulators
            ya, yb, yc, yd = (int(float32_formula(acc, scale[n], zero_point, output)) for acc in (a, b, c, d))
            assert all(lo[n] <= acc <= hi[n] for acc in (a, b, c, d))
            assert ya < output.max
            assert yb > output.min
            assert yc > output.min
            assert yd < output.max
            # floor(line) is y, so that the line lies in [y, y + 1): between two points its rise is known to less than 1
            assert Fraction(yb - ya - 1, b - a) >= Fraction(yd - yc + 1, d - c)
    assert contradicted > 5


def test_the_cheapest_form_that_serves_every_column_is_chosen():
    search = smallest_exact(np.float32([0.37, 0.21]), 0, INT8, -20, 20)
    widths = {rounding: search.bits(rounding) for rounding in (FLOOR, NEAREST, NEAR_TIE)}
    cheapest = min((max(bits), order) for order, bits in enumerate(widths.values()) if None not in bits)
    assert search.requantization.rounding is list(widths)[cheapest[1]]
    assert search.requantization.multiplier_bits == cheapest[0] == 24 - search.saved_bits < 10


def test_three_tenths_can_be_no_fixed_point_number():
    # 5 * 0.3f and 15 * 0.3f both become float32 ties: 1.5 goes up to 2, which takes a slope of 0.3 or more, and 4.5
    # goes down to 4, which takes 0.3 or less; no M / 2^S is 0.3
    assert float32_formula([5, 15], 0.3, 0, INT8).tolist() == [2, 4]
    search = smallest_exact(np.float32(0.3), 0, INT8, -20, 20)
    [fit] = search.fits[NEAREST]
    assert fit.slopes.below.slope == fit.slopes.above.slope == Fraction(3, 10)
    assert fit.slopes.below.included
    assert fit.slopes.above.included
    assert fit.constants is None
    assert "no M / 2^S" in fit.obstacle
    assert search.bits(FLOOR) == (None,)
    assert search.requantization.rounding is NEAR_TIE


def test_ties_at_a_power_of_two_need_one_bit_to_nearest_and_have_no_floor():
    search = smallest_exact(np.float32(0.25), 0, INT8, -1000, 1000)
    assert search.requantization.rounding is NEAREST
    assert search.requantization.multiplier == (1,)
    assert search.requantization.shift == (2,)
    assert search.bits(FLOOR) == (None,)
    assert "the slope would have to be above" in search.obstacles(FLOOR)[0]


def test_columns_that_never_change_take_no_multiplier():
    search = smallest_exact(np.float32([1e-11, 0, 0.5, 1.0]), -4, INT8, [-9, -9, 0, 2**30], [9, 9, 0, 2**30 + 5])
    assert search.bits(FLOOR) == (0, 0, 0, 0)
    assert search.requantization.rounding is FLOOR
    assert search.requantization.apply([[5, -9, 0, 2**30]]).tolist() == [[-4, -4, -4, 127]]


def test_a_form_asked_for_is_used_or_refused_with_the_reason():
    scale = np.float32([0.5, 0.01])
    assert smallest_exact(scale, 0, INT8, -20, 20, form=NEAR_TIE).requantization.rounding is NEAR_TIE
    with pytest.raises(
        ValueError, match=r"exact for every column, not 'nearest' for column 1: the slope would have to"
    ):
        smallest_exact(scale, 0, INT8, -13000, 13000, form=NEAREST)
    with pytest.raises(TypeError, match="form must be a Rounding or 'auto', not 'floor'"):
        smallest_exact(scale, 0, INT8, -20, 20, form="floor")


def test_certificate_of_an_exact_form_is_json_and_names_the_steps():
    scale = np.float32([0.01, 0.3])
    data = certificate(Requantization.from_scales(scale, 2, UINT8), scale, [-100, -5], [3000, 5])
    assert json.loads(json.dumps(data)) == data
    assert {key: data[key] for key in data if key != "columns"} == {
        "rounding": "near-tie",
        "output": "uint8",
        "zero_point": 2,
        "verdict": "exact",
    }
    assert float.fromhex(data["columns"][0]["scale"]) == scale[0]
    assert data["columns"][1] == {
        "scale": float(scale[1]).hex(),
        "multiplier": 5033165,
        "shift": 24,
        "offset": 0,
        "accumulators": [-5, 5],
        "steps": 4,
        "digest": steps_digest(float32_steps(scale, 2, UINT8, -5, 5))[1],
        "verdict": "exact",
    }


def test_certificate_of_another_form_says_where_it_differs():
    scale = np.float32([0.01, 0.5])
    data = certificate(Requantization.from_scales(scale, 0, INT8, rounding=NEAREST), scale, -(2**20), 2**20)
    assert data["verdict"] == "differs"
    assert [column["verdict"] for column in data["columns"]] == ["differs", "exact"]
    assert (data["columns"][0]["differences"], data["columns"][0]["first_difference"]) == (127, -12750)
