"""NetworkSession: a model with InferenceSession's call, its network in simulated Verilog or on a board."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
import numpy.typing as npt

from ..design.network import NetworkDesign, NetworkOptions
from ..errors import InputError, expect, path_of
from ..inference.report import OutputReport, differing
from ..onnx.runtime import Session
from ..partition import Partition, partition_of, read_partition
from .feed import Arrays, batches_of
from .hardware import HardwareRun, open_hardware
from .package import check_same, open_package
from .report import NetworkReport, stage_reports

__all__ = ["NetworkSession", "open_design", "open_parts"]

Array = npt.NDArray[Any]


class NetworkSession:
    """Run the quantized ONNX model in the file `model` with its network in hardware, and the rest in onnxruntime.

    The network is the largest part that hardware takes, see `systoliq.partition`; `model` may also be a directory of
    `systoliq partition`. Every integer of the network is compared with golden, and every output of the model with
    onnxruntime.

    Parameters
    ----------
    hardware
        options of the network's design. Default: `NetworkOptions()`.
    package
        directory of `systoliq emit` or `build` that has the network's design, instead of `hardware`.
    on
        where the network runs: "verilator", whose build is kept in the cache, "icarus", "auto" (the one that ends a
        run sooner, its build included), "golden" (no Verilog, and nothing compared with golden), or the serial port of
        a board that has the design. A session on a port must be closed, or used in a `with` statement.
    baud
        bits per second of the port.
    stalls
        probability of a pause per cycle in a simulation, on each side.
    progress
        receives the current step.

    Raises
    ------
    InputError
        for a model without a network in hardware, and for a package of another network.
    LinkError
        for a board that does not answer or has another design.

    >>> session = NetworkSession("model_int8.onnx")
    >>> logits, = session.run(None, {"x": images})
    >>> session.report.check().stages
    """

    def __init__(
        self,
        model: str | Path,
        hardware: NetworkOptions | None = None,
        *,
        package: str | Path | None = None,
        on: str | Path = "verilator",
        baud: int = 115200,
        stalls: float = 0.0,
        seed: int = 0,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        model = path_of("model", model)
        expect("hardware", hardware, NetworkOptions, type(None))
        expect("on", on, str, Path)
        expect("baud", baud, int)
        expect("stalls", stalls, int, float)
        expect("seed", seed, int)
        self._progress = progress or (lambda text: None)
        self._report: NetworkReport | None = None
        self.partition = open_parts(model, self._progress)
        self.design = open_design(self.partition, hardware, package)
        self._whole = _session(model if model.is_file() else self.partition.whole, "the model")
        self._before = self._after = None
        if self.partition.before is not None:
            self._before = _session(self.partition.before, "the part before the network")
        self._network = _session(self.partition.network, "the network")
        if self.partition.after is not None:
            self._after = _session(self.partition.after, "the part after the network")
        self._hardware = open_hardware(
            self.design, on, baud=baud, stalls=stalls, seed=seed, progress=self._progress
        )  # fmt: skip

    def __repr__(self) -> str:
        return f"NetworkSession({str(self.partition.path)[-100:]!r}, {self.design!r}, on {self._hardware.on})"

    def __enter__(self) -> NetworkSession:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the serial port of a board; the session cannot run after that."""
        self._hardware.close()

    def get_inputs(self) -> list[Any]:
        """Return name, shape and type of each input, as InferenceSession does."""
        return self._whole.inputs

    def get_outputs(self) -> list[Any]:
        """Return name, shape and type of each output, as InferenceSession does."""
        return self._whole.outputs

    @property
    def report(self) -> NetworkReport:
        """Report of the last `run`; raises RuntimeError before the first one."""
        if self._report is None:
            raise RuntimeError("there is no report before the first run")
        return self._report

    def run(self, output_names: Sequence[str] | None, input_feed: Mapping[str, npt.ArrayLike]) -> list[Array]:
        """Return the outputs with these names (None: all) for the inputs by name, and set `report`.

        The first dimension of all inputs is a multiple of the model's batch, of any size if the model leaves it open.
        """
        outputs = [each.name for each in self.get_outputs()]
        names = outputs if output_names is None else list(output_names)
        if unknown := [name for name in names if name not in outputs]:
            raise InputError(f"outputs must be among {', '.join(outputs)}, not {unknown[0]!r}")
        start, end = self.partition.start, self.partition.end
        batches = batches_of(self.get_inputs(), input_feed)
        known = [batch | self._run(self._before, batch) for batch in batches]
        found = self._hardware.run(np.concatenate([tensors[start] for tensors in known]))
        results = np.split(found.y, len(batches))
        known = [tensors | {end: result} for tensors, result in zip(known, results, strict=True)]
        last = [tensors | self._run(self._after, tensors) for tensors in known]
        self._report = self._compared(found, batches, last)
        return [np.concatenate([each[name] for each in last]) if len(last) > 1 else last[0][name] for name in names]

    def _run(self, session: Session | None, tensors: Arrays) -> Arrays:
        """Return the outputs of a part, whose inputs are taken from `tensors`."""
        if session is None:
            return {}
        taken = {each.name: tensors[each.name] for each in session.inputs}
        return session.run([each.name for each in session.outputs], taken)

    def _compared(self, found: HardwareRun, batches: Sequence[Arrays], last: Sequence[Arrays]) -> NetworkReport:
        """Return the report of a run that made the tensors `last` of `batches`."""
        start, end = self.partition.start, self.partition.end
        names = [each.name for each in self.get_outputs()]
        elements, mismatches, inside = dict.fromkeys(names, 0), dict.fromkeys(names, 0), 0
        for batch, tensors in zip(batches, last, strict=True):
            inside += differing(tensors[end], self._network.run([end], {start: tensors[start]})[end])
            for name, right in self._whole.run(names, batch).items():
                elements[name] += right.size
                mismatches[name] += differing(tensors[name], right)
        images = len(found.y)
        cycles = self.design.cycles(images) if found.cycles is None else found.cycles
        return NetworkReport(
            on=self._hardware.on,
            images=images,
            cycles=cycles,
            measured=found.cycles is not None,
            stages=stage_reports(self.design, images, cycles),
            compared=found.compared,
            golden_mismatches=found.mismatches,
            onnxruntime_mismatches=inside,
            outputs={name: OutputReport(elements=elements[name], mismatches=mismatches[name]) for name in names},
            lines=found.lines,
        )


def open_parts(model: Path, progress: Callable[[str], None] | None = None) -> Partition:
    """Return the partition of the file `model`, or the one in the directory `model`."""
    return read_partition(model) if model.is_dir() else partition_of(model, progress)


def open_design(
    partition: Partition, hardware: NetworkOptions | None = None, package: str | Path | None = None
) -> NetworkDesign:
    """Return the design of the network of `partition`: with the options `hardware`, or as the `package` describes it.

    Raises InputError for both, and for a package of another network.
    """
    network = partition.read_network()
    if package is None:
        return NetworkDesign(network, hardware, name="network", origin=f"the network in {partition.path.name}")
    if hardware is not None:
        raise InputError("hardware and package cannot both be given: a package has its options")
    path = path_of("package", package)
    design = open_package(path)
    check_same(design.network, network, f"package {path}")
    return design


def _session(model: Any, what: str) -> Session:
    """Return the session of a file, or of a model in memory."""
    return Session(str(model) if isinstance(model, Path) else model.SerializeToString(), what)
