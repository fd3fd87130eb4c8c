"""`systoliq simulate`: a design's Verilog on the user's own input, with a report."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.formats import IntFormat
from systoliq.golden.layer_file import read_arrays
from systoliq.hw.cells import models_verilog
from systoliq.hw.verilog import emit_verilog
from systoliq.sim import cosimulation
from systoliq.sim.cosimulation import CosimulationResult, cosimulate, cosimulate_array
from systoliq.sim.runner import SimulatorName

from .design import ArrayDesign, Design, EngineDesign, LayerDesign
from .errors import InputError
from .simulate_engine import read_operation, run_engine
from .simulated import Simulated, check_stalls
from .synth.netlist import netlist_sources

__all__ = ["Simulated", "check_file", "json_bytes", "read_operands", "run_design", "write_file"]

_WAVES = {"verilator": (".vcd",), "icarus": (".vcd", ".fst")}


def read_operands(design: Design, path: Path) -> dict[str, npt.NDArray[Any]]:
    """From an .npz archive, `a` for a layer, `a` and `b` for a bare array, all that an operation of an engine takes.

    Other arrays in it are left alone.
    """
    if isinstance(design, EngineDesign):
        return read_operation(path)
    arrays = read_arrays(path)
    names = ("a",) if isinstance(design, LayerDesign) else ("a", "b")
    for name in names:
        if name not in arrays:
            raise InputError(f"{path}: must have the key {name!r}; it has {', '.join(arrays) or 'none'}")
    try:
        if isinstance(design, LayerDesign):
            a = design.layer.check_input(arrays["a"])
            if a.ndim != 2 or not len(a):
                raise InputError(f"a must have the shape [M, {design.layer.k}] with M at least 1, not {list(a.shape)}")
            return {"a": a}
        return _matrices(design, arrays["a"], arrays["b"])
    except (TypeError, ValueError) as error:
        raise type(error)(f"{path}: {error}") from error


def _matrices(design: ArrayDesign, a: npt.NDArray[Any], b: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
    for name, operand, fmt in (("a", a, design.config.a), ("b", b, design.config.b)):
        _check_matrix(name, operand, fmt)
    if a.shape[1] != b.shape[0]:
        raise InputError(f"b must have K = {a.shape[1]} rows for a of shape {list(a.shape)}, not shape {list(b.shape)}")
    if a.shape[1] > design.longest_sum and not design.wrap:
        raise InputError(
            f"K must be at most {design.longest_sum}, beyond which sums of {design.config.a.name} x "
            f"{design.config.b.name} can pass {design.config.accumulator_bits} bits, not {a.shape[1]}"
        )
    return {"a": a, "b": b}


def _check_matrix(name: str, operand: npt.NDArray[Any], fmt: IntFormat) -> None:
    if operand.dtype != fmt.dtype:
        raise TypeError(f"{name} must be {fmt.dtype.name} to hold {fmt.name}, not {operand.dtype.name}")
    if operand.ndim != 2 or not operand.size:
        raise InputError(f"{name} must be a matrix with at least one element, not of shape {list(operand.shape)}")
    if outside := fmt.first_outside(operand):
        raise InputError(f"{name}{list(outside[0])} must be in {fmt.name}, {fmt.min} to {fmt.max}, not {outside[1]}")


def run_design(
    design: Design,
    operands: dict[str, npt.NDArray[Any]],
    *,
    simulator: SimulatorName,
    stalls: float = 0.0,
    seed: int = 0,
    waves: Path | None = None,
    netlist: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Simulated:
    """Run a design on checked operands; `stalls` is the probability of a pause in a cycle on either side.

    With `netlist`, a family of `synth.NETLISTS`, it is the synthesized netlist that runs, with models of its cells.
    """
    if isinstance(design, EngineDesign):
        for option, value in (("waves", waves), ("netlist", netlist)):
            if value is not None:
                raise InputError(f"{option} must be left out for the source engine: its simulation has none")
        return run_engine(design, operands, simulator=simulator, stalls=stalls, seed=seed, progress=progress)
    if waves is not None and waves.suffix not in _WAVES[simulator]:
        raise InputError(f"waves must end in {' or '.join(_WAVES[simulator])} under {simulator}, not {waves.name!r}")
    check_stalls(stalls)
    common: dict[str, Any] = {
        "simulator": simulator, "stalls": stalls, "seed": seed, "waves": waves, "progress": progress,
        "verilog": _verilog(design, netlist, progress),
    }  # fmt: skip
    if isinstance(design, LayerDesign):
        result = cosimulate(design.dense, operands["a"], **common)
        y = result.y
        normative = int(np.count_nonzero(y != design.layer.golden(operands["a"])))
        facts = {"float32_mismatches": normative, "model_cycles": design.dense.cycles(len(operands["a"]))}
    else:
        result = cosimulate_array(design.array, operands["a"], operands["b"], **common)
        y = result.y.astype(np.int32 if design.config.accumulator_bits <= 32 else np.int64)
        tiles = -(-y.shape[0] // design.config.rows) * -(-y.shape[1] // design.config.cols)
        beats = -(-operands["a"].shape[1] // design.config.depth)
        facts = {"model_cycles": design.array.cycles([beats] * tiles)}
    report = _report(design, result, stalls) | facts | {"netlist": netlist}
    return Simulated(y=y, report=report, passed=result.passed)


def _verilog(
    design: LayerDesign | ArrayDesign, netlist: str | None, progress: Callable[[str], None] | None
) -> str | None:
    """What is simulated: the netlist, or the Verilog with models of its vendor cells; None where it needs none."""
    name = cosimulation.DENSE_TOP if isinstance(design, LayerDesign) else cosimulation.ARRAY_TOP
    if netlist is not None:
        return "\n".join(netlist_sources(design.top, name, netlist, progress=progress))
    models = models_verilog(design.config.cells)
    return emit_verilog(design.top, name) + models if models else None


def _report(design: LayerDesign | ArrayDesign, result: CosimulationResult, stalls: float) -> dict[str, Any]:
    config = design.config
    return {
        "name": design.name,
        "simulator": result.simulator,
        "outputs": int(result.expected.size),
        "mismatches": result.mismatches,
        "violations": list(result.violations),
        "first_mismatches": [str(mismatch) for mismatch in result.details[:10]],
        "cycles": result.cycles,
        "macs": result.macs,
        "utilization": result.utilization,
        "seconds": round(result.seconds, 3),
        "simulated_cycles": result.simulated_cycles,
        "stalls": stalls,
        "array": {
            "rows": config.rows,
            "cols": config.cols,
            "depth": config.depth,
            "accumulator_bits": config.accumulator_bits,
            "cells": config.cells,
        },
    }


def check_file(name: str, path: Path | None) -> None:
    """An InputError where the output file `path` cannot be written: its folder must be there."""
    if path is not None and path.is_dir():
        raise InputError(f"{name} must be a file, but {path} is a directory")
    if path is not None and not path.absolute().parent.is_dir():
        raise InputError(f"{name}: the directory {path.absolute().parent} must exist")


def write_file(path: Path, content: bytes) -> None:
    """Write a file whole or not at all."""
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.absolute().parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).chmod(0o644)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def json_bytes(content: Any) -> bytes:
    """`content` as the text of a JSON file."""
    return (json.dumps(content, indent=2) + "\n").encode()
