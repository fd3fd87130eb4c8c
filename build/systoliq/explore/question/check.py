"""Check of an answer: its plan in RTL against golden, on random inputs and on given ones, and its time an image."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from systoliq.golden.archive import read_arrays
from systoliq.golden.formats import IntFormat
from systoliq.golden.layer import MatMulLayer
from systoliq.golden.network import Network
from systoliq.golden.operand import integer_format
from systoliq.sim.runner import SimulatorName
from systoliq.sim.simulated import Simulated

from ...design import Design
from ...design.network import NetworkDesign
from ...errors import InputError
from ..network_data import network_inputs

__all__ = ["Checked", "Inputs", "check_design", "given_inputs"]

Inputs = Mapping[str, npt.NDArray[Any]]

_Shape = tuple[str, IntFormat, tuple[int, ...]]

_INPUTS = ("inputs", "a")  # names of a layer's
_SEED = 20
_STALLS = 0.3
_CYCLES = 100_000  # that a run of random inputs may take, about
_FEWEST, _MOST = 4, 16  # images of it
_GIVEN = 32  # of the user's, the first ones


@dataclass(frozen=True, kw_only=True)
class Checked:
    """Result of cosimulation: images that ran, `given` of them the user's, integers compared and integers that differ.

    `image_cycles` are the measured cycles from one image to the next, and `planned_cycles` the plan's, a lower bound if
    they are not `exact`, and an upper bound if the network has `several_outputs`: the last output may be quicker.
    """

    simulator: str
    images: int
    given: int
    outputs: int
    mismatches: int
    image_cycles: float
    planned_cycles: int
    exact: bool = True
    several_outputs: bool = False
    faults: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """True if outputs are golden's, no rule of the streams was violated, and an image takes the planned cycles."""
        late = self.image_cycles - self.planned_cycles
        planned = late == 0 or (late > 0 and not self.exact) or (late < 0 and self.several_outputs)
        return not self.mismatches and not self.faults and planned

    @property
    def line(self) -> str:
        """In words."""
        seen = f"{self.image_cycles:g} cycles an image, of {self.planned_cycles} planned"
        what = f"{self.outputs:,} integers of {self.images} images, {self.given} of them given"
        judged = f"all are golden's; {seen}" if self.passed else f"{self.mismatches} differ from golden; {seen}"
        return f"cosimulated ({self.simulator}): {what}: {judged}{''.join(f'; {each}' for each in self.faults[:3])}"

    @property
    def as_json(self) -> dict[str, Any]:
        """For files."""
        return asdict(self) | {"faults": list(self.faults), "passed": self.passed}


def check_design(
    design: Design,
    subject: Network | MatMulLayer,
    planned: int,
    *,
    given: Inputs | None = None,
    simulator: SimulatorName = "verilator",
    progress: Callable[[str], None] | None = None,
) -> Checked:
    """Run the Verilog of `design` on random inputs of `subject`, with and without stalls, and on those `given`.

    `planned` are the cycles from one image to the next, which runs of other lengths without stalls show, too.
    """
    count = max(_FEWEST, min(_MOST, _CYCLES // planned))
    several = random_inputs(subject, count)
    runs: list[tuple[Inputs, float]] = [(several, 0.0), (_first(several, count // 2), 0.0), (several, _STALLS)]
    users = 0 if given is None else min(_GIVEN, len(next(iter(given.values()))))
    if given is not None and users:
        runs.append((_first(given, users), 0.0))
    found = [_run(design, subject, inputs, stalls, simulator, progress) for inputs, stalls in runs]
    reports = [each.report for each in found]
    seen = (reports[0]["cycles"] - reports[1]["cycles"]) / (count - count // 2)
    return Checked(
        simulator=simulator,
        images=2 * count + count // 2 + users,
        given=users,
        outputs=sum(report["outputs"] for report in reports),
        mismatches=sum(report["mismatches"] for report in reports),
        image_cycles=seen,
        planned_cycles=planned,
        several_outputs=isinstance(subject, Network) and len(subject.outputs) > 1,
        exact=isinstance(subject, MatMulLayer) or cast(NetworkDesign, design).assembly.exact,
        faults=tuple(text for report in reports for text in (*report["first_mismatches"], *report["violations"])),
    )


def random_inputs(subject: Network | MatMulLayer, count: int) -> Inputs:
    """`count` inputs, uniform over all integers of their type, seeded."""
    generator = np.random.default_rng(_SEED)
    if isinstance(subject, MatMulLayer):
        shapes: list[_Shape] = [("a", integer_format("a_format", subject.a_format), (subject.k,))]
    else:
        shapes = [(each.name, each.format, each.shape[1:]) for each in subject.inputs]
    return {
        name: generator.integers(form.min, form.max, (count, *shape), endpoint=True).astype(form.dtype)
        for name, form, shape in shapes
    }


def given_inputs(path: Path, subject: Network | MatMulLayer) -> Inputs:
    """The inputs that the archive `path` has for `subject`; labels and outputs in it are left alone.

    Raises InputError, which names the array, if an array does not fit.
    """
    if isinstance(subject, Network):
        return network_inputs(path, read_arrays(path), subject)
    arrays = read_arrays(path)
    key = next((name for name in _INPUTS if name in arrays), None)
    if key is None:
        raise InputError(f"{path}: must have the key 'inputs' (or 'a'); it has {', '.join(arrays) or 'none'}")
    a = arrays[key]
    if a.ndim != 2 or a.shape[1] != subject.k or not len(a):
        raise InputError(f"{path}: {key} must have the shape [M, {subject.k}], not {list(a.shape)}")
    try:
        return {"a": subject.quantize(a) if a.dtype.kind == "f" else subject.check_input(a)}
    except (TypeError, ValueError) as error:
        raise InputError(f"{path}: {key}: {error}") from error


def _first(inputs: Inputs, count: int) -> Inputs:
    return {name: array[:count] for name, array in inputs.items()}


def _run(
    design: Design,
    subject: Network | MatMulLayer,
    inputs: Inputs,
    stalls: float,
    simulator: SimulatorName,
    progress: Callable[[str], None] | None,
) -> Simulated:
    operands = inputs if isinstance(subject, MatMulLayer) else {"inputs": inputs}
    return design.simulate(**operands, simulator=simulator, stalls=stalls, seed=_SEED, progress=progress)
