"""Send a compiled model to the system on the board, and print what it answers.

    python send.py PROGRAM_DIR PORT [--input input.bin]

Needs: pip install pyserial (LiteX installs it, too)
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import serial
from image import memory

END = b"\x04"


def main() -> None:
    """Send the program, and print the answer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("port")
    parser.add_argument("--input", type=Path)
    given = parser.parse_args()
    contents = memory(given.program, given.input)
    with serial.Serial(given.port, 115200, timeout=60) as port:
        if not port.read_until(b"?").endswith(b"?"):
            raise SystemExit(f"error: {given.port} does not ask for a program: load the bitstream, or reset the board")
        port.write(len(contents).to_bytes(4, "little") + contents)
        port.flush()
        answer = port.read_until(END)
    sys.stdout.write(answer.removesuffix(END).decode("ascii", "replace"))


if __name__ == "__main__":
    main()
