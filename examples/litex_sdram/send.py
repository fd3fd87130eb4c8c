"""Send a compiled model to the system on the board, and print what it answers.

    python send.py PROGRAM_DIR PORT --input inputs.npz

Needs: pip install pyserial onnxruntime
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import serial
from image import memory, read_inputs, result

END = b"\x04"


def main() -> None:
    """Send the program, and print the answer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("port")
    parser.add_argument("--input", type=Path, required=True)
    given = parser.parse_args()
    contents = memory(given.program, read_inputs(given.input))
    with serial.Serial(given.port, 115200, timeout=60) as port:
        if not port.read_until(b"?").endswith(b"?"):
            raise SystemExit(f"error: {given.port} does not ask for a program: load the bitstream, or reset the board")
        port.write(len(contents).to_bytes(4, "little") + contents)
        port.flush()
        answer = port.read_until(END)
    lines = answer.lstrip(b"?").decode("ascii", "replace").split()
    if not answer.endswith(END) or len(lines) != 4:
        raise SystemExit(f"error: {given.port} did not send a whole answer within 60 s")
    if error := int(lines[0], 16):
        raise SystemExit(f"error: the list ended with the error {error}, see engine_lists.h")
    sys.stdout.write(f"{int(lines[1], 16)} cycles\n")
    sys.stdout.write(f"{result(given.program, bytes.fromhex(lines[2])).tolist()}\n")


if __name__ == "__main__":
    main()
