"""The driver: what software does with the engine's registers and streams to run a job, step by step.

`sequence` is the one description: the bench inside the simulator carries it out, and `describe` prints it for those who
write the same for a processor. Addresses and bit positions come from the register description given, nothing else.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Literal

import numpy as np

from ..config import EngineConfig
from ..float8_registers import map_of
from ..registers import Register, RegisterMap
from .job import AnyJob, Float8Job, Job
from .tables import Entries, TableWords, column_words, row_words

__all__ = ["DriverStep", "Map", "describe", "filled", "recovery", "sequence", "settings", "transfers"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Map(RegisterMap):
    """The register description that a driver works with."""

    @classmethod
    def of(cls, config: EngineConfig) -> Map:
        """The driver's parameters for an engine of `config`."""
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

    "write" writes `value` to `address`, "fill" writes `data` from there on, "read" reads it, and "poll" reads until the
    bits of `value` are 0. "send" and "receive" start the transfer of a stream, for job number `value`. "wait" waits for
    the interrupt, and "jobs" until `value` jobs have ended, or for an error.
    """

    action: Literal["write", "fill", "read", "poll", "send", "receive", "wait", "jobs"]
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
            "jobs": f"read {self.name} (0x{self.address:06x}) until jobs is {self.value & 0xFFFF} or error is not 0",
        }.get(self.action, f"{self.action} {self.name}")
        return f"{what}: {self.text}" if self.text else what


def sequence(
    job: AnyJob, config: EngineConfig, registers: Map | None = None, *, entries: Entries | None = None
) -> list[DriverStep]:
    """Steps that run `job`, alone; between "read STATUS" and the rest, an error in it calls for `recovery`.

    `entries` is where its tables begin; default: at their first entries. Jobs one behind the other: `queue_sequence`.
    """
    registers = registers or Map.of(config)
    entries = entries or Entries()
    return [
        registers.write("INTERRUPT", on_done=1, on_error=1),
        *settings(job, config, registers, entries),
        *filled(column_words(job, config, registers.column_table), entries.column),
        *filled(row_words(job, config, registers.row_table), entries.row),
        *transfers(),
        registers.write("CONTROL", start=1),
        DriverStep(action="wait", name="irq", text="or read STATUS until done or error is not 0"),
        registers.read("STATUS", "with an error: clear, wait until busy is 0, stop the three transfers, and report it"),
        registers.read("BUSY_CYCLES"),
        registers.read("INPUT_STALLS"),
        registers.read("OUTPUT_STALLS"),
        registers.write("CONTROL", acknowledge=1),
    ]


def settings(job: AnyJob, config: EngineConfig, registers: Map, entries: Entries) -> list[DriverStep]:
    """Steps that write the registers of a job; registers keep their values while STATUS.queued is 1."""
    if isinstance(job, Float8Job) != bool(config.float8):
        kind = "Float8Job" if config.float8 else "Job"
        raise TypeError(f"job must be a {kind} on this engine, not a {type(job).__name__}")
    rows: dict[str, int] = {} if isinstance(job, Float8Job) else {"first_entry": entries.row}
    return [
        registers.write("M", "", m=job.m, **rows),
        registers.write("K", k=job.k),
        registers.write("N", n=job.n, first_entry=entries.column),
        *([] if isinstance(job, Float8Job) else _formats(job, registers)),
    ]


def transfers(index: int = 0) -> list[DriverStep]:
    """Steps that set the transfers of job number `index` going."""
    texts = {
        "y": "set the transfer from m_axis_y to memory going: one frame",
        "a": "set the transfer from memory to s_axis_a going, tlast on its last word",
        "b": "set the transfer from memory to s_axis_b going, tlast on its last word",
    }
    return [
        DriverStep(action="receive" if name == "y" else "send", name=name, value=index, text=text)
        for name, text in texts.items()
    ]


def _formats(job: Job, registers: Map) -> list[DriverStep]:
    """Steps that set the formats and zero points that an integer job has for all rows and columns."""
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
    """Steps after an error. Afterwards, transfers are stopped, and their remaining data dropped.

    The transfer of Y continues meanwhile: an offered beat must be taken, and a frame that has begun is completed.
    """
    registers = registers or Map()
    return [
        registers.write("CONTROL", clear=1),
        registers.poll("STATUS", "busy", "the receiver of Y still runs: it takes the beat that ends a frame"),
    ]


def describe(steps: Sequence[DriverStep]) -> str:
    """The steps as a numbered list."""
    return "".join(f"{number}. {step}\n" for number, step in enumerate(steps, 1))


def filled(words: TableWords | None, first: int) -> list[DriverStep]:
    """Steps that write the entries of a table from entry `first` on; behind its last one comes the first."""
    if words is None:
        return []
    return [
        DriverStep(action="fill", name=words.table.name, address=address, data=data, text=words.text)
        for address, data in words.stretches(first)
    ]
