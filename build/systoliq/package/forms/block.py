"""A block as flows of others see it: ports, interfaces, files and registers, all read from the sidecar."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

__all__ = ["LIBRARY", "VENDOR", "VERSION", "Block", "Interface", "Port"]

VENDOR, LIBRARY = "systoliq", "blocks"
VERSION = "1.0"
"""Version of a block in the catalogs of other tools, which require one."""

_OF_AN_INTERFACE = re.compile(r"(?P<name>(?P<role>[sm])_(?P<bus>axis|axi)_[a-z]+\d*)_(?P<signal>[a-z]+)")
_PROTOCOLS = {"s_axis": "axi4-stream", "m_axis": "axi4-stream", "s_axi": "axi4-lite", "m_axi": "axi4"}
_ROLES = {"s": "slave", "m": "master"}


@dataclass(frozen=True, kw_only=True)
class Port:
    """A port of the top module; `direction` is "input" or "output", `width` in bits."""

    name: str
    direction: str
    width: int
    meaning: str


@dataclass(frozen=True, kw_only=True)
class Interface:
    """Ports that are one bus: `signals` gives each of the protocol's own names, such as TDATA, its port.

    `protocol` is "axi4-stream", "axi4-lite" or "axi4", `role` "slave" or "master".
    """

    name: str
    protocol: str
    role: str
    signals: Mapping[str, Port]


class Block:
    """The block that `sidecar` describes. Facts from its author, and versions of tools, are not used."""

    def __init__(self, sidecar: Mapping[str, Any]) -> None:
        self.sidecar = sidecar
        self.name: str = sidecar["top"]
        self.kind: str = sidecar["kind"]
        self.cells: str = sidecar["cells"]
        self.clock: str = sidecar["clocking"]["clock"]
        self.reset: str = sidecar["clocking"]["reset"]
        self.reset_is_high: bool = sidecar["clocking"]["reset_kind"].endswith("active high")
        self.computes = _plain(str(sidecar["computes"]))
        self.ports = tuple(Port(**port) for port in sidecar["ports"])

    @cached_property
    def interfaces(self) -> tuple[Interface, ...]:
        """Its buses, in the order of its ports."""
        found: dict[str, Interface] = {}
        for port in self.ports:
            if of := _OF_AN_INTERFACE.fullmatch(port.name):
                protocol, role = _PROTOCOLS[f"{of['role']}_{of['bus']}"], _ROLES[of["role"]]
                before = found[of["name"]].signals if of["name"] in found else {}
                signals = {**before, of["signal"].upper(): port}
                found[of["name"]] = Interface(name=of["name"], protocol=protocol, role=role, signals=signals)
        return tuple(found.values())

    @property
    def control(self) -> Interface | None:
        """The interface to its registers, which the sidecar lists then; None where it has none."""
        return next((each for each in self.interfaces if each.protocol == "axi4-lite"), None)

    @property
    def interrupt(self) -> Port | None:
        """Its interrupt, active high; None where it has none."""
        return next((port for port in self.ports if port.name == "irq"), None)

    @property
    def files(self) -> tuple[str, ...]:
        """Names of all files that the sidecar lists."""
        return tuple(self.sidecar["files"])

    @property
    def rtl(self) -> str:
        """The Verilog to be synthesized."""
        return f"{self.name}.v"

    @property
    def testbench(self) -> str:
        """The module that checks the block by itself; its file is `<testbench>.v`."""
        return f"{self.name}_tb"

    @property
    def waivers(self) -> str:
        """Verilator's control file."""
        return f"{self.name}.vlt"

    @property
    def models(self) -> tuple[str, ...]:
        """Models of vendor cells, for simulation alone; none without such cells."""
        return tuple(file for file in self.files if file == f"{self.name}_models.v")

    @property
    def memories(self) -> tuple[str, ...]:
        """Contents of memories that the Verilog reads, where the tool runs."""
        return tuple(file for file in self.files if file.endswith(".mem"))


def _plain(text: str) -> str:
    """`text` as one line of printable ASCII: a network's name may be anything."""
    return "".join(each if each.isascii() and each.isprintable() else "?" for each in " ".join(text.split()))
