"""The compiler of the firmware: Zig's C compiler from PyPI, which knows RISC-V without more."""

from __future__ import annotations

import importlib.util
import os
import re
import struct
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
_PT_LOAD = 1  # a segment that is loaded


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
        command = [sys.executable, *COMPILE, *FLAGS, "-o", "firmware.elf", *program]
        done = run_child(command, cwd=folder, env=environment)
        if done.returncode:
            _raise(done.stderr + done.stdout)
        return _loaded((folder / "firmware.elf").read_bytes())


def _loaded(elf: bytes) -> bytes:
    """The bytes from address 0 on that a program in a 32-bit little-endian ELF file puts into memory.

    `OBJCOPY`, in the Makefile that is written, does the same, but Zig compiles it first: 14 s of processor time.
    """
    (headers,) = struct.unpack_from("<I", elf, 28)  # e_phoff
    size, count = struct.unpack_from("<HH", elf, 42)  # e_phentsize, e_phnum
    image = bytearray()
    for index in range(count):
        kind, offset, _, address, length = struct.unpack_from("<5I", elf, headers + index * size)
        if kind == _PT_LOAD and length:
            image.extend(bytes(max(address + length - len(image), 0)))
            image[address : address + length] = elf[offset : offset + length]
    return bytes(image)


def _raise(said: str) -> None:
    """Raise the error that the tools' output describes."""
    if overflows := re.findall(r"overflowed by (\d+) bytes", said):
        raise TooLargeError(f"it needs {max(map(int, overflows))} bytes more than there are")
    if "memory is too small" in said:
        raise TooLargeError("nothing is left for its stack")
    raise SynthesisError(f"the firmware was not compiled:\n{said.strip()}")
