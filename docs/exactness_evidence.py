"""Print the numbers of measurements/exactness.md: `python docs/exactness_evidence.py`, two minutes, fixed seeds."""
# ruff: noqa: T201  # printing is its purpose

from pathlib import Path

import numpy as np

from systoliq.golden.exact import Fit, smallest_exact
from systoliq.golden.formats import INT8, INT32, UINT8
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.requantization import Requantization, Rounding
from systoliq.golden.thresholds import count_differences

SCALES = 10000
FULL = "all int32"


def ranges(k: int | str) -> tuple[int, int]:
    """Accumulators that K products of int8 x int8 can sum to."""
    return (INT32.min, INT32.max) if isinstance(k, str) else (-k * 128 * 127, k * 128 * 128)


def forms_with_whole_mantissas() -> None:
    """Every accumulator of a range, through its steps."""
    scale = np.exp2(np.random.default_rng(1).uniform(-40, 4, SCALES)).astype(np.float32)
    print(
        f"\n24-bit multipliers, {SCALES} scales log-uniform in 2^-40..2^4: scales that differ, accumulators that differ"
    )
    for output, zero_point in ((INT8, 3), (UINT8, 128)):
        for rounding, name in (
            (Rounding.NEAR_TIE, "near-tie"),
            (Rounding.NEAREST, "nearest"),
            (Rounding.FLOOR, "half up"),
        ):
            form = Requantization.from_scales(scale, zero_point, output, rounding=rounding)
            for k in (64, 2048, FULL):
                wrong = count_differences(form, scale, *ranges(k))
                print(f"  {output} {name:9} K = {k!s:9} {np.mean(wrong > 0):7.2%} {wrong.sum():9}")


def narrower_multipliers() -> None:
    """What rounding the mantissa costs."""
    scale = np.exp2(np.random.default_rng(2).uniform(-14, -6, 1000)).astype(np.float32)
    print("\nnear-tie / nearest with rounded mantissas, 1000 scales in 2^-14..2^-6, K = 64: scales that differ")
    for bits in (8, 12, 16, 20, 22, 23, 24):
        shares = (
            np.mean(
                count_differences(
                    Requantization.from_scales(scale, 0, INT8, rounding=rounding, multiplier_bits=bits),
                    scale,
                    *ranges(64),
                )
                > 0
            )
            for rounding in (Rounding.NEAR_TIE, Rounding.NEAREST)
        )
        print(f"  {bits:2} bits " + " ".join(f"{share:8.2%}" for share in shares))


def layer_like(k: int, columns: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scales and reachable ranges of columns with normal int8 weights whose outputs span 4 standard deviations."""
    rng = np.random.default_rng(k)
    weights = np.clip(np.rint(rng.normal(0, rng.uniform(16, 48, columns), (k, columns))), -127, 127).astype(np.int64)
    lo = np.minimum(weights * -128, weights * 127).sum(axis=0)
    hi = np.maximum(weights * -128, weights * 127).sum(axis=0)
    deviation = 64 * np.sqrt((weights**2).sum(axis=0))
    return (127 / (4 * deviation)).astype(np.float32), lo, hi


def impossible_at_any_width(fit: Fit) -> bool:
    """Whether no slope is left at all, or one alone that is no M / 2^S."""
    slopes = fit.slopes
    alone = slopes.above is not None and slopes.above.slope == slopes.below.slope
    return slopes.empty or (alone and slopes.below.slope.denominator.bit_count() > 1)


def smallest_forms() -> None:
    """The search, column by column."""
    print("\nsmallest exact form of 2000 columns, ranges reachable from their weights: columns with none, bits of M")
    undecided = 0
    for k in (16, 64, 256, 2048):
        scale, lo, hi = layer_like(k, 2000)
        for zero_point in (0, -128):
            search = smallest_exact(scale, zero_point, INT8, lo, hi)
            for rounding in (Rounding.FLOOR, Rounding.NEAREST, Rounding.NEAR_TIE):
                bits = [width for width in search.bits(rounding) if width is not None]
                undecided += sum(not impossible_at_any_width(fit) for fit in search.fits[rounding] if fit.bits is None)
                print(
                    f"  K = {k:4} zero point {zero_point:4} {rounding.value:8} none {1 - len(bits) / 2000:6.1%}"
                    f"  bits {min(bits):2} to {max(bits):2}, median {np.median(bits):.0f}"
                )
    print(f"  columns with none where more than 30 bits of M might do: {undecided}")


def layers_of_ten() -> None:
    """The choice for whole layers, whose columns share one rounding and one width."""
    print("\nwhole layers of 10 columns, zero point -128: the form chosen, 200 layers each; mean bits of M saved")
    for k in (16, 64, 256):
        scale, lo, hi = layer_like(k, 2000)
        chosen = [
            smallest_exact(scale[n : n + 10], -128, INT8, lo[n : n + 10], hi[n : n + 10]) for n in range(0, 2000, 10)
        ]
        roundings = [search.requantization.rounding for search in chosen]
        shares = ", ".join(f"{rounding.value} {roundings.count(rounding)}" for rounding in Rounding)
        print(f"  K = {k:3} {shares}; saved {np.mean([search.saved_bits for search in chosen]):.2f}")


def real_layer() -> None:
    """The 64 -> 10 layer of ResNet8, where the project's shared data is present."""
    path = Path(__file__).resolve().parents[2] / "shared" / "data" / "resnet8_fc.npz"
    if not path.exists():
        return
    names = {"b": "weights", "a_zero_point": "a_zp", "b_zero_point": "b_zp", "y_zero_point": "y_zp"}
    with np.load(path) as arrays:
        scales = {name: arrays[name] for name in ("a_scale", "b_scale", "y_scale", "bias")}
        layer = MatMulLayer(**scales, **{field: arrays[name] for field, name in names.items()})
    search = smallest_exact(layer.scale, layer.y_zero_point, layer.y_format, *layer.accumulator_range())
    print("\nresnet8-fc, 64 -> 10, over the accumulators its weights can reach")
    for rounding in Rounding:
        print(f"  {rounding.value:8} bits of M {search.bits(rounding)}")
    print(f"  chosen: {search.requantization.rounding.value}, {search.saved_bits} bits saved")


if __name__ == "__main__":
    for measure in (
        forms_with_whole_mantissas,
        narrower_multipliers,
        smallest_forms,
        layers_of_ten,
        real_layer,
    ):
        measure()
