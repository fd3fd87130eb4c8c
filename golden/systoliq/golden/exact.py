"""Exactness: the smallest requantizer of a constant layer that equals the float32 formula, and its certificate.

On the accumulators that a column can reach, a rescale is defined by its steps (`thresholds`), and `slopes` finds the
constants that reproduce these for each rounding. Here the cheapest constants for the whole layer are selected, and
recorded in a certificate. No file is read or written here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy.typing as npt

from .formats import IntFormat
from .parameters import as_scale
from .requantization import MULTIPLIER_LIMIT, OFFSET_LIMIT, Requantization, Rounding
from .slopes import Slopes, offsets, slopes_through_zero, slopes_with_offset
from .thresholds import Steps, differences, first_difference, float32_steps, integer_steps, steps_digest

_FORMS = (Rounding.FLOOR, Rounding.NEAREST, Rounding.NEAR_TIE)  # from the least rounding logic to the most


@dataclass(frozen=True)
class Fit:
    """Fit of one rounding to one column: the possible slopes, and the constants with the smallest multiplier.

    `constants` are (M, S, C), or None if no constants within the limits of a `Requantization` are exact.
    """

    slopes: Slopes
    constants: tuple[int, int, int] | None

    @property
    def bits(self) -> int | None:
        """Width of the multiplier; None if no multiplier is exact."""
        return None if self.constants is None else self.constants[0].bit_length()

    @property
    def obstacle(self) -> str | None:
        """The reason why no constants are exact; None if some are."""
        if self.constants is not None:
            return None
        none = "" if self.slopes.empty else f", where no M / 2^S with M below {MULTIPLIER_LIMIT:#x} lies"
        return f"the slope would have to be {self.slopes}{none}"


@dataclass(frozen=True, kw_only=True)
class SmallestExact:
    """The cheapest exact requantization of a layer, and the parameters that each rounding needs in each column."""

    requantization: Requantization
    fits: Mapping[Rounding, tuple[Fit, ...]]
    full_bits: int  # multiplier bits of the near-tie form with the whole mantissas

    @property
    def saved_bits(self) -> int:
        """Multiplier bits saved compared with whole mantissas."""
        return self.full_bits - self.requantization.multiplier_bits

    def bits(self, rounding: Rounding) -> tuple[int | None, ...]:
        """Multiplier bits that each column needs with `rounding`; None if no constants are exact."""
        return tuple(fit.bits for fit in self.fits[rounding])

    def obstacles(self, rounding: Rounding) -> dict[int, str]:
        """The columns for which `rounding` cannot be exact, with the reasons."""
        return {n: fit.obstacle for n, fit in enumerate(self.fits[rounding]) if fit.obstacle is not None}


def smallest_exact(
    scale: npt.ArrayLike,
    zero_point: int,
    output: IntFormat,
    lo: npt.ArrayLike,
    hi: npt.ArrayLike,
    form: Rounding | Literal["auto"] = "auto",
) -> SmallestExact:
    """Return the smallest requantization equal to the float32 formula at `scale` [N] on all accumulators lo..hi
    (inclusive).

    Columns share lanes, so one rounding serves all of them, and the widest multiplier counts. The cost is the number of
    multiplier bits; for equal bits, floor is cheaper than nearest, and nearest than near-tie, by the size of their
    rounding logic. Offsets and shifts are constants in a table and are not counted. `form` selects a rounding; if it is
    not exact for every column, ValueError gives the reason. near-tie is always exact.
    """
    if form != "auto" and not isinstance(form, Rounding):
        raise TypeError(f"form must be a Rounding or 'auto', not {form!r}")
    whole = Requantization.from_scales(as_scale("scale", scale).reshape(-1), zero_point, output)
    steps = float32_steps(scale, zero_point, output, lo, hi)
    fits = {rounding: _fits(steps, zero_point, rounding) for rounding in _FORMS}
    candidates = [_requantization(fits[rounding], whole, rounding) for rounding in _FORMS if form in ("auto", rounding)]
    exact = [candidate for candidate in candidates if candidate is not None]
    if not exact:
        n, fit = next((n, fit) for n, fit in enumerate(fits[Rounding(form)]) if fit.constants is None)
        raise ValueError(
            f"form must be exact for every column, not {Rounding(form).value!r} for column {n}: {fit.obstacle}"
        )
    best = min(
        exact, key=lambda candidate: candidate.multiplier_bits
    )  # the first of equals: _FORMS is in order of cost
    return SmallestExact(requantization=best, fits=fits, full_bits=whole.multiplier_bits)


def certificate(
    requantization: Requantization, scale: npt.ArrayLike, lo: npt.ArrayLike, hi: npt.ArrayLike
) -> dict[str, Any]:
    """Return the data, ready for JSON, to check that `requantization` equals the float32 formula on lo..hi.

    Scales are hexadecimal floats. `digest` is of the float32 formula's steps (`thresholds.steps_digest`). The verdict
    is "exact" if the integer form has the same steps, otherwise "differs", with the number of differences and the first
    one.
    """
    scales = as_scale("scale", scale).reshape(-1)
    wanted = float32_steps(scales, requantization.zero_point, requantization.output, lo, hi)
    found = integer_steps(requantization, lo, hi)
    columns: list[dict[str, Any]] = [
        {
            "scale": float(value).hex(),
            "multiplier": multiplier,
            "shift": shift,
            "offset": offset,
            "accumulators": [least, most],
            "steps": steps,
            "digest": digest,
            "verdict": "exact" if first is None else "differs",
        }
        | ({} if first is None else {"differences": different, "first_difference": first})
        for value, multiplier, shift, offset, least, most, steps, digest, different, first in zip(
            scales.tolist(),
            requantization.multiplier,
            requantization.shift,
            requantization.offset,
            wanted.lo.tolist(),
            wanted.hi.tolist(),
            wanted.count,
            steps_digest(wanted),
            differences(wanted, found).tolist(),
            first_difference(wanted, found),
            strict=True,
        )
    ]
    return {
        "rounding": requantization.rounding.value,
        "output": requantization.output.name,
        "zero_point": requantization.zero_point,
        "verdict": "exact" if all(column["verdict"] == "exact" for column in columns) else "differs",
        "columns": columns,
    }


def _requantization(fits: tuple[Fit, ...], whole: Requantization, rounding: Rounding) -> Requantization | None:
    constants = [fit.constants for fit in fits if fit.constants is not None]
    if len(constants) < len(fits):
        return None
    multiplier, shift, offset = (tuple(column[i] for column in constants) for i in range(3))
    return whole.replace(multiplier=multiplier, shift=shift, offset=offset, rounding=rounding)


def _fits(steps: Steps, zero_point: int, rounding: Rounding) -> tuple[Fit, ...]:
    if rounding is not Rounding.FLOOR:
        columns = slopes_through_zero(steps, zero_point, rounding)
        return tuple(Fit(slopes, None if (pair := slopes.dyadic()) is None else (*pair, 0)) for slopes in columns)
    columns = slopes_with_offset(steps, zero_point)
    return tuple(Fit(slopes, _with_offset(steps, zero_point, n, slopes)) for n, slopes in enumerate(columns))


def _with_offset(steps: Steps, zero_point: int, n: int, slopes: Slopes) -> tuple[int, int, int] | None:
    if (pair := slopes.dyadic()) is None:
        return None
    least, most = offsets(steps, zero_point, n, *pair)
    offset = least if least is not None else most
    return None if offset is None or abs(offset) > OFFSET_LIMIT else (*pair, offset)
