"""Send a compiled model, or another input for it, to the system on the board, and print what it answers.

    python send.py PROGRAM_DIR PORT --input inputs.npz
    python send.py PROGRAM_DIR PORT --input others.npz --only-input

The second command needs the program in the board's memory, from a first one since the last reset.
Needs: pip install pyserial onnxruntime
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import serial
from image import REGISTERS, input_rows, memory, message, read_inputs, read_program, result

END = b"\x04"
OTHER_ENGINE, OTHER_PROGRAM = 300, 301  # as in main.c


def exchange(port: str, sent: bytes) -> list[str]:
    """Return the lines of the answer to `sent`; ends with an error if there is none."""
    try:
        with serial.Serial(port, 115200, timeout=60) as opened:
            if not opened.read_until(b"?").endswith(b"?"):
                raise SystemExit(f"error: {port} does not ask for a program: load the bitstream, or reset the board")
            opened.write(sent)
            opened.flush()
            answer = opened.read_until(END)
    except serial.SerialException as error:
        raise SystemExit(f"error: {port} must be the serial port of the board: {error}") from None
    lines = answer.removesuffix(END).lstrip(b"?").decode("ascii", "replace").split("\n")
    if not answer.endswith(END) or len(lines) != 4:
        raise SystemExit(f"error: {port} did not send a whole answer within 60 s")
    return lines


def check(folder: Path, error: int, data: bytes) -> None:
    """End with the text of an error."""
    if error == OTHER_ENGINE:
        program = read_program(folder)
        wanted = [*(program["registers"]["values"][name] for name in REGISTERS), program["engine"]["bus_bits"]]
        found = np.frombuffer(data, "<u4").tolist()
        names = (*REGISTERS, "bits of the bus")
        different = [
            f"{name} must be {wants:#x}, not {has:#x}"
            for name, wants, has in zip(names, wanted, found, strict=True)
            if wants != has
        ]
        raise SystemExit(f"error: the engine on the board must be the one of {folder}: {', '.join(different)}")
    if error == OTHER_PROGRAM:
        raise SystemExit(f"error: {folder} must be in the board's memory: send it without --only-input")
    if error:
        raise SystemExit(f"error: the list ended with the error {error}, see engine_lists.h")


def main() -> None:
    """Send the program, and print the answer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("port")
    parser.add_argument("--input", type=Path, required=True)
    parser.add_argument("--only-input", action="store_true")
    given = parser.parse_args()
    inputs = read_inputs(given.input, read_program(given.program))
    if given.only_input:
        address, rows = input_rows(given.program, inputs)
        sent = message(given.program, rows, address=address, is_program=False)
    else:
        sent = message(given.program, memory(given.program, inputs))
    lines = exchange(given.port, sent)
    try:
        error, cycles, data = int(lines[0], 16), int(lines[1], 16), bytes.fromhex(lines[2])
        check(given.program, error, data)
        found = result(given.program, data)
    except ValueError:
        raise SystemExit(f"error: {given.port} sent an answer that is damaged: {lines}") from None
    sys.stdout.write(f"{cycles} cycles\n{found.tolist()}\n")


if __name__ == "__main__":
    main()
