"""Play of a partition: its network in simulated Verilog, what comes before and after in onnxruntime."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.sim.choice import SimulatorChoice

from ..design import Simulated
from ..design.network import NetworkDesign
from ..errors import InputError
from ..files import read_input
from ..inference.feed import checked_feed
from ..inference.report import differing
from ..onnx.network import read_network
from ..onnx.runtime import Session
from .files import AFTER, BEFORE, NETWORK, SIDECAR, WHOLE

__all__ = ["Played", "is_partition", "play"]

Arrays = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True, kw_only=True, eq=False)
class Played:
    """Outputs of a model whose network ran as Verilog, and what was compared.

    `network` is the simulation, compared with golden. `network_mismatches` are elements of the network's result that
    differ from onnxruntime's for the same integers; `mismatches` are elements of `outputs` that differ from what
    onnxruntime computes for the whole model.
    """

    outputs: Arrays
    network: Simulated
    network_mismatches: int
    mismatches: int

    @property
    def passed(self) -> bool:
        """Whether nothing differs."""
        return self.network.passed and not self.network_mismatches and not self.mismatches

    def facts(self) -> dict[str, Any]:
        """The report, ready for JSON."""
        return {
            "network": self.network.report,
            "network_onnxruntime_mismatches": self.network_mismatches,
            "outputs": int(sum(array.size for array in self.outputs.values())),
            "mismatches": self.mismatches,
        }


def is_partition(path: Path) -> bool:
    """Return whether `path` is a directory that `systoliq partition` wrote."""
    return path.is_dir() and (path / SIDECAR).is_file()


def play(
    directory: Path,
    feed: Mapping[str, npt.ArrayLike],
    *,
    simulator: SimulatorChoice = "auto",
    stalls: float = 0.0,
    seed: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Played:
    """Run the partition in `directory` on `feed`: an array per input of the whole model, by name, whose first
    dimension is a multiple of the model's batch.

    Raises InputError for a wrong `feed` or an incomplete directory.
    """
    facts = _facts(directory)
    start, end = str(facts["start"]), str(facts["end"])
    whole = _session(directory / WHOLE)
    batches = _batches(whole, feed)
    before = _session(directory / BEFORE) if facts["before"] else None
    first = [batch | (before.run(facts["boundary"], _taken(before, batch)) if before else {}) for batch in batches]

    design = NetworkDesign(read_network(directory / NETWORK), name=NETWORK.removesuffix(".onnx"))
    given = np.concatenate([tensors[start] for tensors in first])
    simulated = design.simulate(
        inputs={start: given}, simulator=simulator, stalls=stalls, seed=seed, progress=progress
    )  # fmt: skip
    found = np.split(simulated.outputs[end], len(batches))
    alone = _session(directory / NETWORK)
    judged = [alone.run([end], {start: tensors[start]})[end] for tensors in first]

    after = _session(directory / AFTER) if facts["after"] else None
    last = []
    for tensors, made in zip(first, found, strict=True):
        known = tensors | {end: made}
        last.append(known | (after.run([each.name for each in after.outputs], _taken(after, known)) if after else {}))
    names = [each.name for each in whole.outputs]
    mismatches = 0
    for batch, tensors in zip(batches, last, strict=True):
        right = whole.run(names, batch)
        mismatches += sum(differing(tensors[name], right[name]) for name in names)
    return Played(
        outputs={name: np.concatenate([each[name] for each in last]) for name in names},
        network=simulated,
        network_mismatches=sum(map(differing, found, judged)),
        mismatches=mismatches,
    )


def _facts(directory: Path) -> dict[str, Any]:
    try:
        facts = json.loads(read_input(directory / SIDECAR))
        missing = [key for key in ("start", "end", "boundary", "before", "after") if key not in facts]
    except (ValueError, TypeError) as error:
        raise InputError(f"{directory / SIDECAR}: must be written by systoliq partition ({error})") from error
    if missing:
        raise InputError(f"{directory / SIDECAR}: must be written by systoliq partition, and lacks {missing[0]!r}")
    return dict(facts)


def _session(path: Path) -> Session:
    if not path.is_file():
        raise InputError(f"{path}: there is no such file: write the partition again by systoliq partition")
    return Session(str(path), str(path))


def _batches(whole: Session, feed: Mapping[str, npt.ArrayLike]) -> list[Arrays]:
    """`feed` in pieces of the model's batch, 1 where the model leaves it open; InputError where it cannot be."""
    arrays = {name: np.asarray(array) for name, array in feed.items()}
    sizes = {each.name: each.shape[0] if each.shape and isinstance(each.shape[0], int) else 1 for each in whole.inputs}
    counts = {name: len(arrays[name]) // size for name, size in sizes.items() if name in arrays and arrays[name].ndim}
    count = max(1, *counts.values()) if counts else 1
    batches = []
    for i in range(count):
        piece = {name: array[i * sizes.get(name, 1) :][: sizes.get(name, 1)] for name, array in arrays.items()}
        batches.append(checked_feed(whole.inputs, piece))
    return batches


def _taken(session: Session, arrays: Arrays) -> Arrays:
    """The `arrays` that are inputs of `session`."""
    return {each.name: arrays[each.name] for each in session.inputs}
