"""The system as files: Verilog, testbench, firmware with its memory contents, and files for a board."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from systoliq.golden.words import Words
from systoliq.hw.rom_file import SUFFIX, hexadecimal
from systoliq.hw.soc import Soc, SocConfig
from systoliq.hw.soc.system import CONTENTS
from systoliq.hw.verilog import emit_verilog

from ..board.boards import open_board
from ..design.digits import train_digits
from ..errors import InputError, need
from ..files import json_bytes
from ..generator import GENERATOR, versions
from .board import PINS, board_top, constraints, stem
from .compiler import TooLargeError, compile_firmware
from .core import soc_core
from .digits import digits_header
from .sources import LIBRARY, firmware_sources
from .testbench import soc_testbench
from .texts import makefile, readme

__all__ = ["MEMORY", "NAME", "SocDesign", "memory_file", "picorv32"]

NAME = "soc"
MEMORY = CONTENTS + SUFFIX
"""The file with the initial contents of memory."""


def picorv32() -> str:
    """The processor's Verilog, from its package."""
    package = need("pythondata_cpu_picorv32", "pythondata-cpu-picorv32", "the processor", extra="soc")
    return (Path(package.data_location) / "picorv32.v").read_text()


def memory_file(program: bytes, config: SocConfig) -> bytes:
    """The memory of a system, from address 0 on, as the file that its Verilog reads; bytes beyond `program` are 0."""
    if len(program) > config.ram_bytes:
        raise InputError(f"memory must have {len(program)} bytes at least for this program, not {config.ram_bytes}")
    words: Words = np.zeros(config.ram_bytes, np.uint8)
    words[: len(program)] = np.frombuffer(program, np.uint8)
    return hexadecimal(words.reshape(-1, config.bus_bytes), 8 * config.bus_bytes)


@dataclasses.dataclass(frozen=True, kw_only=True)
class SocDesign:
    """A system of `config` whose firmware classifies `images` handwritten digits, with files for `board`."""

    config: SocConfig
    images: int = 16
    board: str = "ulx3s-85f"

    @functools.cached_property
    def verilog(self) -> Mapping[str, str]:
        """Name -> text of each file of Verilog for simulation."""
        return {
            f"{NAME}.v": str(emit_verilog(Soc(self.config), NAME)),
            f"{NAME}_tb.v": soc_testbench(self.config, NAME),
            "picorv32.v": picorv32(),
        }

    @functools.cached_property
    def sources(self) -> Mapping[str, str]:
        """Name -> text of each source of the firmware."""
        header = digits_header(train_digits(), self.images, self.config.engine)
        return firmware_sources(self.config) | {"digits_data.h": header}

    @functools.cached_property
    def firmware(self) -> bytes:
        """The program, compiled; errors as `compile_firmware`, but an InputError where it is too large."""
        try:
            return compile_firmware(self.sources, (*LIBRARY, "digits.c"))
        except TooLargeError as error:
            ram = self.config.ram_kib
            raise InputError(f"ram_kib must be larger than {ram} for this firmware: {error}") from error

    def compile(self) -> None:
        """Compile the program now, so that errors are raised here and not later."""
        _ = self.firmware

    @property
    def memory(self) -> Mapping[str, bytes]:
        """The file that the Verilog reads."""
        return {MEMORY: memory_file(self.firmware, self.config)}

    def files(self, *, compiled: bool = True) -> dict[str, bytes]:
        """Name -> content of each file of the package; without the program where it is not `compiled`."""
        config, board, pins = self.config, open_board(self.board), stem(self.board)
        titles = {
            f"{NAME}.v": "the system", f"{NAME}_tb.v": "its testbench, which prints the UART's output",
            "picorv32.v": "the processor, unchanged (ISC license)",
            f"{NAME}_{pins}.v": f"the system on the {board.title}", f"{pins}.lpf": "pins of that board",
            "Makefile": "firmware, simulation, bitstream", "README.md": "how to use the package",
            f"{NAME}.core": "for FuseSoC",
        }  # fmt: skip
        texts = {
            **self.verilog, f"{NAME}_{pins}.v": board_top(NAME, self.board),
            f"{pins}.lpf": constraints(board.title, PINS[self.board], config),
            "Makefile": makefile(NAME, MEMORY, config, board),
            f"{NAME}.core": soc_core(NAME, MEMORY, [f"{NAME}.v", "picorv32.v"], board),
            "README.md": readme(NAME, config, self.images, board, compiled=compiled),
        }  # fmt: skip
        files = {name: text.encode() for name, text in (texts | dict(self.sources)).items()}
        files |= self.memory if compiled else {}
        titles |= dict.fromkeys(self.sources, "firmware") | {MEMORY: "the firmware, as memory holds it at first"}
        engine = config.engine
        facts = {
            "generator": GENERATOR, "format": 1, "name": NAME, "top": NAME, "kind": "soc",
            "clocking": {"clock": "clk", "edge": "rising", "reset": "rst", "reset_kind": "synchronous, active high"},
            "engine": {"rows": engine.rows, "cols": engine.cols, "depth": engine.depth, "lanes": engine.lanes},
            "bus_bits": 8 * config.bus_bytes, "ram_bytes": config.ram_bytes, "clock_hz": config.clock_hz,
            "baud": config.baud, "files": {name: titles[name] for name in files}, "versions": versions(),
        }  # fmt: skip
        return files | {f"{NAME}.json": json_bytes(facts)}
