"""The driver: what software does with the engine's registers and streams to run a job, step by step.

`sequence` is the one description: the bench inside the simulator carries it out, and `describe` prints it for those who
write the same for a processor. Addresses and bit positions come from the register description given, nothing else.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from systoliq.golden import INT8, Requantization
from systoliq.golden.float8_requantization import Float8Requantization

from ...float8_requantizer import exponents_of
from ..axi_engine import lane_slots
from ..config import EngineConfig
from ..float8_registers import map_of
from ..registers import Register, RegisterMap, Table
from .job import AnyJob, Float8Job, Job

__all__ = ["DriverStep", "Map", "column_constants", "describe", "recovery", "sequence"]

MULTIPLIER_BITS = 24
ZERO_SHIFT = 14  # the least that the hardware takes; the shift of a multiplier 0 does not matter


@dataclasses.dataclass(frozen=True, kw_only=True)
class Map(RegisterMap):
    """The register description that a driver works with."""

    @classmethod
    def of(cls, config: EngineConfig) -> Map:
        """That of an engine of `config`."""
        found = map_of(config)
        return cls(**{field.name: getattr(found, field.name) for field in dataclasses.fields(found)})

    def register(self, name: str) -> Register:
        """The register called `name`."""
        return next(register for register in self.registers if register.name == name)

    def write(self, name: str, text: str = "", **fields: int) -> DriverStep:
        """Write a register: `fields`, and zeros elsewhere."""
        register = self.register(name)
        value = 0
        for field_name, field_value in fields.items():
            field = register.field(field_name)
            value |= (field_value << field.lsb) & field.mask
        named = " | ".join(f"{key} = {given}" for key, given in fields.items())
        return DriverStep(action="write", name=name, address=register.offset, value=value, text=text or named)

    def read(self, name: str, text: str = "") -> DriverStep:
        """Read a register."""
        return DriverStep(action="read", name=name, address=self.register(name).offset, text=text)

    def poll(self, name: str, field_name: str, text: str = "") -> DriverStep:
        """Read a register until a field of it is 0."""
        register = self.register(name)
        return DriverStep(
            action="poll",
            name=name,
            address=register.offset,
            value=register.field(field_name).mask,
            text=text or f"until {field_name} is 0",
        )

    def extract(self, name: str, field_name: str, word: int) -> int:
        """A field of a register that was read."""
        field = self.register(name).field(field_name)
        return (word & field.mask) >> field.lsb


@dataclasses.dataclass(frozen=True, kw_only=True)
class DriverStep:
    """One step of a driver.

    "write" puts `value` at `address`, "fill" puts `data` there and on, "read" looks at it, "poll" until the bits of
    `value` in it are 0; "send" and "receive" set a transfer of a stream going; "wait" is for the interrupt.
    """

    action: Literal["write", "fill", "read", "poll", "send", "receive", "wait"]
    name: str
    address: int = 0
    value: int = 0
    data: bytes = b""
    text: str = ""

    def __str__(self) -> str:
        what = {
            "write": f"write {self.name} (0x{self.address:06x}) = 0x{self.value:08x}",
            "fill": f"write {len(self.data)} bytes to {self.name} (0x{self.address:06x})",
            "read": f"read {self.name} (0x{self.address:06x})",
            "poll": f"read {self.name} (0x{self.address:06x}) until it & 0x{self.value:08x} is 0",
        }.get(self.action, f"{self.action} {self.name}")
        return f"{what}: {self.text}" if self.text else what


def sequence(job: AnyJob, config: EngineConfig, registers: Map | None = None) -> list[DriverStep]:
    """Steps that run `job`; between "read STATUS" and the rest, an error in it calls for `recovery`.

    The next job's settings and tables may be written once STATUS.busy reads 0: until then they are ignored.
    """
    registers = registers or Map.of(config)
    if isinstance(job, Float8Job) != bool(config.float8):
        kind = "Float8Job" if config.float8 else "Job"
        raise TypeError(f"job must be a {kind} on this engine, not a {type(job).__name__}")
    return [
        registers.write("INTERRUPT", on_done=1, on_error=1),
        registers.write("M", m=job.m),
        registers.write("K", k=job.k),
        registers.write("N", n=job.n),
        *([] if isinstance(job, Float8Job) else _formats(job, registers)),
        *column_table(job, config, registers.column_table),
        *([] if isinstance(job, Float8Job) else _row_table(job, config, registers.row_table)),
        DriverStep(action="receive", name="y", text="set the transfer from m_axis_y to memory going: one frame"),
        DriverStep(
            action="send", name="a", text="set the transfer from memory to s_axis_a going, tlast on its last word"
        ),
        DriverStep(
            action="send", name="b", text="set the transfer from memory to s_axis_b going, tlast on its last word"
        ),
        registers.write("CONTROL", start=1),
        DriverStep(action="wait", name="irq", text="or read STATUS until done or error is not 0"),
        registers.read("STATUS", "with an error: clear, wait until busy is 0, stop the three transfers, and report it"),
        registers.read("BUSY_CYCLES"),
        registers.read("INPUT_STALLS"),
        registers.read("OUTPUT_STALLS"),
        registers.write("CONTROL", acknowledge=1),
    ]


def _formats(job: Job, registers: Map) -> list[DriverStep]:
    """Steps that say what a job of integers has for all rows and columns."""
    a_offset = 128 if job.a.dtype == np.uint8 else 0
    y_offset = 0 if job.y_format.signed else 128
    return [
        registers.write(
            "FORMAT",
            a_unsigned=int(job.a.dtype == np.uint8),
            b_unsigned=int(job.b.dtype == np.uint8),
            y_unsigned=int(not job.y_format.signed),
            y_int32=int(job.scale is None),
            row_zero_points=int(len(job.a_zero_point) > 1),
        ),
        registers.write("ZERO_POINTS", a=int(job.a_zero_point[0]) - a_offset, y=job.y_zero_point - y_offset),
    ]


def recovery(registers: Map | None = None) -> list[DriverStep]:
    """Steps after an error; then the transfers are stopped, and what they did not move is dropped.

    The transfer of Y goes on meanwhile: what was offered must be taken, and a frame that had begun is ended.
    """
    registers = registers or Map()
    return [
        registers.write("CONTROL", clear=1),
        registers.poll("STATUS", "busy", "the receiver of Y still runs: it takes the beat that ends a frame"),
    ]


def describe(steps: Sequence[DriverStep]) -> str:
    """The steps as a numbered list."""
    return "".join(f"{number}. {step}\n" for number, step in enumerate(steps, 1))


def column_constants(scale: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Multipliers of 24 bits, the top one set (or 0), and shifts: scale = multiplier / 2^shift.

    Scales that leave every accumulator at zero give 0, those that saturate all give 2^8: the shift is 14 to 55.
    """
    distinct, where = np.unique(scale, return_inverse=True)
    constants = Requantization.from_scales(distinct, 0, INT8)
    multipliers, shifts = np.array(constants.multiplier, np.int64), np.array(constants.shift, np.int64)
    for index, multiplier in enumerate(constants.multiplier):
        missing = MULTIPLIER_BITS - multiplier.bit_length()
        multipliers[index] <<= missing if multiplier else 0
        shifts[index] = shifts[index] + missing if multiplier else ZERO_SHIFT
    return multipliers[where.reshape(-1)], shifts[where.reshape(-1)]


def _row_table(job: Job, config: EngineConfig, table: Table | None) -> list[DriverStep]:
    """Steps that fill the row table, where zero points are per row."""
    if table is None or len(job.a_zero_point) == 1:
        return []
    a_offset = 128 if job.a.dtype == np.uint8 else 0
    values = (job.a_zero_point[: config.max_rows].astype(np.int64) - a_offset) & 0xFF
    entries = np.zeros((len(values), table.stride // 4), "<u4")
    entries[:, table.words[0].offset // 4] = values
    return [
        DriverStep(
            action="fill",
            name=table.name,
            address=table.base,
            data=entries.tobytes(),
            text="zero point of each row of A",
        )
    ]


def _column_values(job: AnyJob, config: EngineConfig) -> dict[str, npt.NDArray[Any]]:
    """Word of the column table -> its values [n]."""
    if isinstance(job, Float8Job):
        _, _, output = config.float8_formats
        constants = Float8Requantization.from_scales(job.scale, output)
        exponents = exponents_of(constants, config.array)
        return {"MULTIPLIER": np.array(constants.multiplier), "EXPONENT": np.array(exponents)}
    multipliers, shifts = column_constants(np.zeros(job.n, np.float32) if job.scale is None else job.scale)
    return {
        "BIAS": job.bias.astype(np.int64),
        "MULTIPLIER": multipliers,
        "SHIFT": shifts,
        "ZERO_POINT": job.b_zero_point.astype(np.int64) - (128 if job.b.dtype == np.uint8 else 0),
    }


def column_table(job: AnyJob, config: EngineConfig, table: Table) -> list[DriverStep]:
    """Steps that fill the column table, with a gap where it has one; what has no place in it the engine will refuse."""
    n = np.arange(min(job.n, config.table_words * config.lanes))
    entry = n // config.lanes * lane_slots(config) + n % config.lanes
    words = np.zeros((int(entry[-1]) + 1, table.stride // 4), "<u4")
    values = _column_values(job, config)
    for register in table.words:
        field = register.fields[0]
        words[entry, register.offset // 4] = (values[register.name][: len(n)] << field.lsb) & field.mask
    *names, last = (register.name.lower().replace("_", " ") for register in table.words)
    what = f"{', '.join(names)} and {last}"
    slots = lane_slots(config)
    stretch, filled = (len(words), len(words)) if slots == config.lanes else (slots, config.lanes)
    return [
        DriverStep(
            action="fill",
            name=table.name,
            address=table.base + first * table.stride,
            data=words[first : first + filled].tobytes(),
            text=f"{what} of each column of B; once for all jobs that share them",
        )
        for first in range(0, len(words), stretch)
    ]
