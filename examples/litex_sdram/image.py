"""A compiled model in the memory of the system: what is sent to it, and what its list returns.

The steps of the host before the list run in onnxruntime.
"""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

MAIN_RAM = 0x4000_0000
"""Address of the SDRAM in LiteX's systems, and base of the program."""
SDRAM_BYTES = 1 << 25
REGISTERS = ("ARRAY", "LANES", "BUFFERS")
"""Registers of the engine that main.c compares with the program's."""


def read_json(file: Path, maker: str) -> dict[str, Any]:
    """Return the object in `file`, which `maker` has written; ends with an error if there is none."""
    try:
        found = json.loads(file.read_text())
    except FileNotFoundError:
        raise SystemExit(f"error: {file.parent} must be a folder of {maker}, but {file} is missing") from None
    except (OSError, ValueError) as error:  # JSONDecodeError and UnicodeDecodeError are ValueErrors
        raise SystemExit(f"error: {file} must be a JSON file of {maker}, but cannot be read: {error}") from None
    if not isinstance(found, dict):
        raise SystemExit(f"error: {file} must be a JSON object of {maker}, not a {type(found).__name__}")
    return found


def read_program(folder: Path) -> dict[str, Any]:
    """Return program.json of `systoliq compile`; ends with an error if the system cannot run it."""
    program = read_json(folder / "program.json", "systoliq compile")
    try:
        _check(program, folder)
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        text = f"error: {folder / 'program.json'} must be complete and from this version of systoliq compile, but"
        raise SystemExit(f"{text} reading it ends with {type(error).__name__}: {error}") from None
    return program


def _check(program: dict[str, Any], folder: Path) -> None:
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
    task_of(program, number=1)
    for each in program["inputs"].values():
        np.dtype(each["type"]), tuple(each["shape"])


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


def task_of(program: Mapping[str, Any], *, number: int) -> list[int]:
    """Return the words of `task` in main.c from `program` on."""
    (run,) = program["runs"]
    y, values = result_of(steps_of_list(program)[-1]), program["registers"]["values"]
    engine = [*(values[name] for name in REGISTERS), program["engine"]["bus_bits"]]
    return [number, run["address"], run["size"] // 4, y["address"], y["size"], *engine]


def message(folder: Path, data: bytes, *, address: int = MAIN_RAM, is_program: bool = True) -> bytes:
    """Return what main.c receives: `data` for its memory, from `address` on, and the task.

    Without `is_program`, `data` are an input, and the program must be in memory. Without `data`, all is there.
    """
    program = read_program(folder)
    number = zlib.crc32(_read_image(folder, program)) or 1  # main.c has no program 0
    words = [address, len(data), int(is_program), *task_of(program, number=number)]
    return np.array(words, "<u4").tobytes() + data


def _read_image(folder: Path, program: Mapping[str, Any]) -> bytes:
    """Return the weights and lists, of the size that program.json has."""
    image = program["memory"]["image"]
    file = folder / image["file"]
    if not file.is_file():
        raise SystemExit(f"error: {folder} must be a folder of systoliq compile, but {file} is missing")
    if (size := file.stat().st_size) != image["size"]:
        raise SystemExit(f"error: {file} must have {image['size']:,} bytes, as program.json says, not {size:,}")
    return file.read_bytes()


def input_rows(folder: Path, inputs: Mapping[str, np.ndarray]) -> tuple[int, bytes]:
    """Return the address and the bytes of the list's input, for the model's `inputs` by name."""
    program = read_program(folder)
    first = steps_of_list(program)[0]
    before = [step for step in program["steps"] if step["step"] < first["step"]]
    buffer, tensor = operand_of(first), _run(folder, before, dict(inputs))[first["takes"][0]]
    rows = np.ascontiguousarray(tensor).view(np.uint8).reshape(buffer["rows"], buffer["row_bytes"])
    padded = np.pad(rows, ((0, 0), (0, max(buffer["stride"] - buffer["row_bytes"], 0)))).tobytes()
    return buffer["address"], padded[: buffer["size"]]


def memory(folder: Path, inputs: Mapping[str, np.ndarray]) -> bytes:
    """Return the SDRAM from `MAIN_RAM` on: weights, lists, and the model's `inputs`, by name."""
    program = read_program(folder)
    contents = bytearray(program["memory"]["image"]["address"] - MAIN_RAM) + _read_image(folder, program)
    address, rows = input_rows(folder, inputs)
    contents[address - MAIN_RAM : address - MAIN_RAM + len(rows)] = rows
    return bytes(contents)


def result(folder: Path, data: bytes) -> np.ndarray:
    """Return the list's result [rows, elements], of integers; ``data`` are its bytes in memory.

    The rows of a convolution are pixels, line by line, and the elements are channels.
    """
    last = steps_of_list(read_program(folder))[-1]
    buffer, kind = result_of(last), last.get("types") or last["operations"][-1]["types"]
    rows, stride = buffer["rows"], max(buffer["stride"], buffer["row_bytes"])
    if len(data) != buffer["size"]:
        raise ValueError(f"data must have the {buffer['size']} bytes of the result, not {len(data)}")
    padded = np.frombuffer(data + bytes(rows * stride - len(data)), np.uint8).reshape(rows, stride)
    return np.ascontiguousarray(padded[:, : buffer["row_bytes"]]).view(kind["y"])


def _run(folder: Path, steps: list[dict[str, Any]], tensors: dict[str, Any]) -> dict[str, Any]:
    """Return `tensors` with those that the host's `steps` add."""
    for step in steps:
        file = folder / step["model"]
        if not file.is_file():
            raise SystemExit(f"error: {folder} must be a folder of systoliq compile, but {file} is missing")
        try:
            session = onnxruntime.InferenceSession(file, providers=["CPUExecutionProvider"])
        except Exception as error:  # noqa: BLE001 - onnxruntime's exceptions have no class in common
            raise SystemExit(f"error: {file} must be a model of systoliq compile, but onnxruntime: {error}") from None
        feeds = {each.name: tensors[each.name] for each in session.get_inputs()}
        tensors |= zip((each.name for each in session.get_outputs()), session.run(None, feeds), strict=True)
    return tensors


def read_inputs(file: Path, program: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """Return the model's inputs from an .npz file; ends with an error if they are not as `program` has them."""
    try:
        loaded = np.load(file)  # of a .npy file, it returns the array
        found = dict(loaded) if isinstance(loaded, np.lib.npyio.NpzFile) else None
    except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise SystemExit(f"error: {file} must be an .npz file with arrays by name: {error}") from None
    if found is None:
        raise SystemExit(f"error: {file} must be an .npz file with arrays by name, not a single array")
    wanted = program["inputs"]
    if set(found) != set(wanted):
        raise SystemExit(f"error: {file} must have the arrays {sorted(wanted)}, not {sorted(found)}")
    for name, array in found.items():
        kind, shape = wanted[name]["type"], wanted[name]["shape"]
        if array.dtype != kind:
            raise SystemExit(f"error: {name} in {file} must be of the type {kind}, not {array.dtype}")
        if list(array.shape) != shape:
            raise SystemExit(f"error: {name} in {file} must have the shape {shape}, not {list(array.shape)}")
    return found
