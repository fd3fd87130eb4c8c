"""Frequency model: MHz of a design by its size, fitted to designs that were placed and routed before.

log(MHz) is linear in the logarithms of LUT sites, multiplier cells and memory blocks, with a term each for windows and
for rows of A that are added up, for each family; with fewer than `_FIT_FROM` points it is their mean. The fit and its
points are in frequency.json, which

    python -m systoliq.design.network.frequency

makes again, with the points that `explore` has placed since, and says how far each is from a fit that it was not in.
"""

from __future__ import annotations

import functools
import json
import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.sim.cache import cache_directory

from ...errors import InputError
from ...files import json_bytes, write_file

__all__ = ["Frequency", "Placed", "fit", "frequency_of", "keep", "known_frequency"]

_FILE = "frequency.json"
_FIT_FROM = 8  # points
_RIDGE = 0.01  # of the slopes, in units of one point: few points must not make steep ones
_FAMILIES = {"ecp5-25k": "ecp5", "ecp5-45k": "ecp5", "ecp5-85k": "ecp5", "ice40-up5k": "ice40-up5k"}
"""Targets with a common frequency model and estimates of sizes: of ECP5, the speed grade 6."""


@dataclass(frozen=True, kw_only=True)
class Placed:
    """A design after place and route: the median MHz of its seeds, and where that is written down.

    Sizes are the estimates that a search begins with; of designs that are no plans, those after synthesis. `windows`
    slide over images, of convolutions or pools. `row_sums`: rows of A are added up (`rate.needs_row_sums`).
    """

    target: str
    design: str
    lut_sites: int
    dsp: int
    ram: int
    mhz: float
    source: str
    windows: bool = False
    row_sums: bool = False

    @property
    def features(self) -> list[float]:
        """The features of the model."""
        return _features(self.lut_sites, self.dsp, self.ram, windows=self.windows, row_sums=self.row_sums)


@dataclass(frozen=True, kw_only=True)
class Frequency:
    """A fitted model of one family: `coefficients` are for `features`. Errors are cross-validated, each point left out
    of its own fit: `median` and `worst`, as shares of the measured value, over `points`; `above` is the largest excess
    of a point over its expected value, as a share of the latter.
    """

    coefficients: Sequence[float]
    median: float
    worst: float
    points: int
    above: float = 0.0

    def mhz(self, lut_sites: int, dsp: int, ram: int, *, windows: bool = False, row_sums: bool = False) -> float:
        """Expected MHz."""
        features = _features(lut_sites, dsp, ram, windows=windows, row_sums=row_sums)
        return math.exp(float(np.dot(self.coefficients, features)))

    def most(self, lut_sites: int, dsp: int, ram: int, *, windows: bool = False, row_sums: bool = False) -> float:
        """MHz that no point has surpassed by the model: what such a design may reach at best."""
        return self.mhz(lut_sites, dsp, ram, windows=windows, row_sums=row_sums) * (1 + self.above)


def _features(lut_sites: int, dsp: int, ram: int, *, windows: bool, row_sums: bool) -> list[float]:
    sizes = math.log(max(lut_sites, 1) / 1000), math.log1p(dsp), math.log1p(ram)
    return [1.0, *sizes, float(windows), float(row_sums)]


def frequency_of(target: str) -> Frequency:
    """The model for a target; an InputError where none was fitted for its family."""
    found = known_frequency(target)
    if found is None:
        names = ", ".join(name for name, family in _FAMILIES.items() if family in _stored()["models"])
        raise InputError(f"target must be one of {names}, whose frequencies were learned, not {target!r}")
    return found


def known_frequency(target: str) -> Frequency | None:
    """The model for a target; None where none was fitted for its family."""
    known = _stored()["models"].get(_FAMILIES.get(target))
    return None if known is None else Frequency(**known)


@functools.cache
def _stored() -> dict[str, Any]:
    content: dict[str, Any] = json.loads((files(__package__) / _FILE).read_text(encoding="utf-8"))
    return content


def fit(points: Iterable[Placed]) -> Frequency:
    """The model of points of one family."""
    found = list(points)
    alone = [_ratio(_solved([*found[:index], *found[index + 1 :]]), each) for index, each in enumerate(found)]
    return Frequency(
        coefficients=[round(each, 5) for each in _solved(found).coefficients],
        points=len(found),
        above=round(max(ratio - 1 for ratio in alone), 4),
        **_errors(alone),
    )


def _ratio(model: Frequency, point: Placed) -> float:
    """Ratio of the measured to the expected frequency."""
    return point.mhz / math.exp(float(np.dot(model.coefficients, point.features)))


def _errors(ratios: Sequence[float]) -> dict[str, float]:
    """Errors as shares of the measured frequency."""
    shares = [abs(1 / ratio - 1) for ratio in ratios]
    return {"median": round(float(np.median(shares)), 4), "worst": round(max(shares), 4)}


def _solved(points: Sequence[Placed]) -> Frequency:
    target = np.log([each.mhz for each in points] or [1.0])
    if len(points) < _FIT_FROM:
        coefficients = [float(target.mean()), 0.0, 0.0, 0.0, 0.0, 0.0]
    else:
        rows: npt.NDArray[np.float64] = np.array([each.features for each in points])
        penalty = np.diag([0.0, *[_RIDGE * len(points)] * (rows.shape[1] - 1)])
        coefficients = np.linalg.solve(rows.T @ rows + penalty, rows.T @ target).tolist()
    return Frequency(coefficients=coefficients, median=0.0, worst=0.0, points=len(points))


def keep(point: Placed) -> None:
    """Keep a point in the cache for the next fit."""
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True)
    name = "".join(letter if letter.isalnum() else "_" for letter in f"{point.target} {point.design}")
    write_file(folder / f"{name}.json", json_bytes(asdict(point)))


def _folder() -> Path:
    return cache_directory() / "placed_plans"


def _kept() -> list[Placed]:
    return [point for path in sorted(_folder().glob("*.json")) if (point := _read(path)) is not None]


def _read(path: Path) -> Placed | None:
    try:
        return Placed(**json.loads(path.read_text()))
    except (OSError, ValueError, TypeError):
        return None


def fitted(points: Iterable[Placed]) -> dict[str, Any]:
    """The content of the file: models by family, and their points."""
    found = {(each.target, each.design): each for each in points if each.target in _FAMILIES}
    by_family: dict[str, list[Placed]] = {}
    for each in found.values():
        by_family.setdefault(_FAMILIES[each.target], []).append(each)
    models: Mapping[str, Any] = {family: asdict(fit(each)) for family, each in sorted(by_family.items())}
    return {"models": models, "points": [asdict(each) for each in found.values()]}


def main() -> None:
    """Fit the stored points and those in the cache, and write the file again."""
    content = fitted([*(Placed(**each) for each in _stored()["points"]), *_kept()])
    path = Path(str(files(__package__) / _FILE))
    write_file(path, json_bytes(content))
    for family, model in content["models"].items():
        errors = f"median {model['median']:.1%}, worst {model['worst']:.1%}, above {model['above']:.1%}"
        sys.stdout.write(f"{family}: {model['points']} points, each left out of its fit: {errors}\n")


if __name__ == "__main__":
    main()
