"""The compiler of the firmware: Zig's C compiler from PyPI, which knows RISC-V without more."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from systoliq.sim.cache import cache_directory
from systoliq.subprocesses import run_child

from ..errors import SynthesisError, need

__all__ = ["COMPILE", "FLAGS", "OBJCOPY", "TooLargeError", "compile_firmware", "has_compiler"]

COMPILE = ("-m", "ziglang", "cc")
OBJCOPY = ("-m", "ziglang", "objcopy", "-O", "binary")
FLAGS = (
    "-target", "riscv32-freestanding-none", "-mcpu=generic_rv32+m", "-O2", "-g0", "-ffreestanding",
    "-ffunction-sections", "-fdata-sections", "-Wall", "-Wextra", "-Wl,--gc-sections", "-Wl,-T,link.ld",
)  # fmt: skip
_PURPOSE = "compiling firmware"


class TooLargeError(ValueError):
    """A program does not fit into the memory; the message says by how much."""


def has_compiler() -> bool:
    """True if firmware can be compiled on this machine."""
    return importlib.util.find_spec("ziglang") is not None


def compile_firmware(sources: Mapping[str, str], program: Sequence[str]) -> bytes:
    """The bytes of a program from address 0 on: the C and assembler files `program` of `sources`, name -> text.

    Raises
    ------
    MissingPackageError
        where ziglang is not installed.
    TooLargeError
        where the program is too large for the memory that link.ld has.
    SynthesisError
        where the compiler refuses it.
    """
    need("ziglang", "ziglang", _PURPOSE, extra="soc")
    cache = cache_directory() / "zig"
    cache.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {"ZIG_GLOBAL_CACHE_DIR": str(cache), "ZIG_LOCAL_CACHE_DIR": str(cache / "local")}
    with tempfile.TemporaryDirectory(prefix="systoliq-") as name:
        folder = Path(name)
        for file, text in sources.items():
            (folder / file).write_text(text)
        for command in ([*COMPILE, *FLAGS, "-o", "firmware.elf", *program], [*OBJCOPY, "firmware.elf", "firmware.bin"]):
            done = run_child([sys.executable, *command], cwd=folder, env=environment)
            if done.returncode:
                _raise(done.stderr + done.stdout)
        return (folder / "firmware.bin").read_bytes()


def _raise(said: str) -> None:
    """Raise the error that the tools' output describes."""
    if overflows := re.findall(r"overflowed by (\d+) bytes", said):
        raise TooLargeError(f"it needs {max(map(int, overflows))} bytes more than there are")
    if "memory is too small" in said:
        raise TooLargeError("nothing is left for its stack")
    raise SynthesisError(f"the firmware was not compiled:\n{said.strip()}")
