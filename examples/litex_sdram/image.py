"""A compiled model in the memory of the system, when its list starts and when it has ended.

The steps of the host before the list run in onnxruntime.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

MAIN_RAM = 0x4000_0000
"""Address of the SDRAM in LiteX's systems, and base of the program."""
SDRAM_BYTES = 1 << 25


def read_program(folder: Path) -> dict[str, Any]:
    """Return program.json of `systoliq compile`; ends with an error if the system cannot run it."""
    file = folder / "program.json"
    if not file.is_file():
        raise SystemExit(f"error: {folder} must be a program of systoliq compile, but {file} is missing")
    program: dict[str, Any] = json.loads(file.read_text())
    if program["memory"]["base"] != MAIN_RAM:
        raise SystemExit(f"error: {folder} must have the base {MAIN_RAM:#x}: systoliq compile --base {MAIN_RAM:#x}")
    if (size := program["memory"]["size"]) > SDRAM_BYTES:
        raise SystemExit(f"error: {folder} must fit the SDRAM of {SDRAM_BYTES:,} bytes, but has {size:,}")
    if (lists := len(program["runs"])) != 1:
        raise SystemExit(f"error: {folder} must have one list, but has {lists}, with steps of the host between them")
    steps = steps_of_list(program)
    given = [(step["step"], name) for step in steps for name in _given(step)]
    if given != [(steps[0]["step"], "a")]:
        raise SystemExit(f"error: {folder} must have one input, a of its first step; the host would write {given}")
    return program


def _given(step: Mapping[str, Any]) -> list[str]:
    """Return the operands of a step that neither the program nor a step before it has."""
    if step["by"] == "vector unit":
        return [name for name in ("a", "b") if name in step and name not in step["sources"]]
    found = ["a"] if step["a_from"] is None else []
    if "b_from" not in step and any(each["b"]["by"] == "host" for each in step["operations"]):
        found.append("b")
    return found + ["zero points"] * bool(step["patches"])


def steps_of_list(program: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the steps of the only list."""
    (run,) = program["runs"]
    return [step for step in program["steps"] if step["step"] in run["steps"]]


def operand_of(step: Mapping[str, Any]) -> dict[str, Any]:
    """Return the buffer of a step's first operand."""
    return step["a"] if "a" in step else step["operations"][0]["a"]


def result_of(step: Mapping[str, Any]) -> dict[str, Any]:
    """Return the buffer of a step's result."""
    return step["y"] if "y" in step else step["operations"][-1]["y"]


def memory(folder: Path, inputs: Mapping[str, np.ndarray] | None) -> bytes:
    """Return the SDRAM from `MAIN_RAM` on: weights, lists, and the model's `inputs`, by name, if given."""
    program = read_program(folder)
    image = program["memory"]["image"]
    contents = bytearray(image["address"] - MAIN_RAM + image["size"])
    contents[image["address"] - MAIN_RAM :] = (folder / image["file"]).read_bytes()
    if inputs is not None:
        first = steps_of_list(program)[0]
        before = [step for step in program["steps"] if step["step"] < first["step"]]
        buffer, tensor = operand_of(first), _run(folder, before, dict(inputs))[first["takes"][0]]
        rows = np.ascontiguousarray(tensor).view(np.uint8).reshape(buffer["rows"], buffer["row_bytes"])
        padded = np.pad(rows, ((0, 0), (0, max(buffer["stride"] - buffer["row_bytes"], 0)))).tobytes()
        at = buffer["address"] - MAIN_RAM
        contents[at : at + buffer["size"]] = padded[: buffer["size"]]
    return bytes(contents)


def result(folder: Path, data: bytes) -> np.ndarray:
    """Return the list's result [rows, elements], of integers; ``data`` are its bytes in memory.

    The rows of a convolution are pixels, line by line, and the elements are channels.
    """
    last = steps_of_list(read_program(folder))[-1]
    buffer, kind = result_of(last), last.get("types") or last["operations"][-1]["types"]
    rows, stride = buffer["rows"], max(buffer["stride"], buffer["row_bytes"])
    padded = np.frombuffer(data + bytes(rows * stride - len(data)), np.uint8).reshape(rows, stride)
    return np.ascontiguousarray(padded[:, : buffer["row_bytes"]]).view(kind["y"])


def _run(folder: Path, steps: list[dict[str, Any]], tensors: dict[str, Any]) -> dict[str, Any]:
    """Return `tensors` with those that the host's `steps` add."""
    for step in steps:
        session = onnxruntime.InferenceSession(folder / step["model"], providers=["CPUExecutionProvider"])
        feeds = {each.name: tensors[each.name] for each in session.get_inputs()}
        tensors |= zip((each.name for each in session.get_outputs()), session.run(None, feeds), strict=True)
    return tensors


def read_inputs(file: Path | None) -> dict[str, np.ndarray] | None:
    """Return the arrays of an .npz file, or None without one."""
    if file is None:
        return None
    with np.load(file) as found:
        return dict(found)
