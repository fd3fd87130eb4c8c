"""The memory of a compiled model when its list starts."""

from __future__ import annotations

import json
from pathlib import Path

MAIN_RAM = 0x4000_0000
"""Address of the SDRAM in LiteX's systems, and base of the program."""


def read_program(folder: Path) -> dict:
    """Return program.json of `systoliq compile`; ends with an error if the system cannot run it."""
    file = folder / "program.json"
    if not file.is_file():
        raise SystemExit(f"error: {folder} must be a program of systoliq compile, but {file} is missing")
    program = json.loads(file.read_text())
    if program["memory"]["base"] != MAIN_RAM:
        raise SystemExit(f"error: {folder} must have the base {MAIN_RAM:#x}: systoliq compile --base {MAIN_RAM:#x}")
    if (lists := len(program["runs"])) != 1:
        raise SystemExit(f"error: {folder} must have one list, but has {lists}, with steps of the host between them")
    return program


def place(step: dict, name: str) -> dict:
    """Return the buffer of a step's first operand ("a") or its result ("y")."""
    operations = step.get("operations", [step])
    return operations[0 if name == "a" else -1][name]


def memory(folder: Path, operand: Path | None) -> bytes:
    """Return the SDRAM from `MAIN_RAM` on: weights, lists, and the first operand (the bytes of `operand`)."""
    program = read_program(folder)
    image = program["memory"]["image"]
    contents = bytearray(image["address"] - MAIN_RAM + image["size"])
    contents[image["address"] - MAIN_RAM :] = (folder / image["file"]).read_bytes()
    if operand is not None:
        first = next(step for step in program["steps"] if step["by"] == "engine")
        a, given = place(first, "a"), operand.read_bytes()
        if len(given) != a["size"]:
            raise SystemExit(f"error: {operand} must have {a['size']} bytes, not {len(given)}")
        at = a["address"] - MAIN_RAM
        contents[at : at + len(given)] = given
    return bytes(contents)
