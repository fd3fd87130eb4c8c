"""Both sides of a proof of equivalence, in Yosys' JSON: cut at registers and boxes, and then checked.

Side, Side -> cut -> models and gates by Yosys -> FlatModule
"""

from __future__ import annotations

import functools
import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import count, zip_longest
from pathlib import Path
from typing import Any

from ..errors import SynthesisError
from .families.family import Cells

__all__ = ["FlatModule", "Side", "cut"]

_STATE = re.compile(r"\$\w*(ff|latch|sr_)", re.IGNORECASE)
_ON_RISING_EDGE = re.compile(r"\$_(DFF_P_|DFFE_P[NP]_|SDFF_P[NP][01]_|SDFFC?E_P[NP][01][NP]_)")
_RESET_AT_ONCE = re.compile(r"\$_DFFE?_P([NP])[01][NP]?_")
_NO_HARDWARE = "$scopeinfo"
_HIDDEN = "$hidden$"
"""Before names that only one side has, for Yosys not to match them."""

Json = dict[str, Any]


class Side:
    """One of the two modules, in Yosys' JSON, with its `boxes` by name and the `names` of each bit."""

    def __init__(self, file: Path, name: str, cells: Cells) -> None:
        self.module: Json = json.loads(file.read_text())["modules"][name]
        self._cells = cells
        for cell in self.module["cells"].values():  # z, which the solver would take for 0, is no value either
            for pin, bits in cell["connections"].items():
                cell["connections"][pin] = ["x" if bit == "z" else bit for bit in bits]
        self._is_register = re.compile("|".join([r"\$_?\w*ff", *cells.registers]), re.IGNORECASE).match
        boxes = {*cells.multipliers, *cells.memories, *cells.boxes}
        self.boxes: dict[str, Json] = {key: cell for key, cell in self.module["cells"].items() if cell["type"] in boxes}
        self.names: dict[int | str, set[str]] = defaultdict(set)
        for key, net in self.module["netnames"].items():
            for index, bit in enumerate(net["bits"], net.get("offset", 0)):
                self.names[bit].add(f"{key}[{index}]" if len(net["bits"]) > 1 else key)

    def registers(self) -> Iterator[int]:
        """The bits that registers hold."""
        for cell in self.module["cells"].values():
            if self._is_register(cell["type"]):
                yield from (bit for bit in cell["connections"]["Q"] if isinstance(bit, int))

    def rename_boxes(self, other: Side) -> None:
        """Give boxes that Yosys has named the names of the other side's boxes, by the names at their pins."""
        left = {key: other._pins(key) for key in other.boxes if key not in self.boxes}
        for key in [key for key in self.boxes if key not in other.boxes]:
            pins = self._pins(key)
            name = max(left, key=lambda each: len(pins & left[each]), default=key)
            if pins & left.get(name, set()):
                del left[name]
                for cells in (self.boxes, self.module["cells"]):
                    cells[name] = cells.pop(key)

    def _pins(self, key: str) -> set[tuple[str, str, int, str]]:
        """Each name at each pin of a box, with the kind of box."""
        cell = self.boxes[key]
        return {
            (cell["type"], pin, index, name)
            for pin, bits in cell["connections"].items()
            for index, bit in enumerate(bits)
            if isinstance(bit, int)
            for name in self.names[bit]
        }

    def other_boxes(self, other: Side) -> Iterator[str]:
        """Names of boxes of the other side that are not in this one, or of another kind, or with other parameters or
        more pins in use.
        """
        for key, cell in other.boxes.items():
            mine = self.boxes.get(key)
            if mine is None or any(mine[field] != cell[field] for field in ("type", "parameters")):
                yield key
                continue
            pins = (pin for pin, bits in cell["connections"].items() if {*bits} != {"x"})
            yield from (f"{key}.{pin}" for pin in pins if pin not in mine["connections"])

    def unknown_cells(self) -> Iterator[str]:
        """Names of cells that the models do not describe: those that drive nothing, such as a global reset, and those
        with parameters that the models take for others.
        """
        for key, cell in self.module["cells"].items():
            ways = cell.get("port_directions", {})
            drives = any(ways.get(pin) == "output" for pin in cell["connections"])
            known = all(
                cell["parameters"].get(name, values[0]).strip() in values
                for name, values in self._cells.modelled.items()
                if self._is_register(cell["type"])
            )
            if cell["type"] != _NO_HARDWARE and not (drives and known):
                yield key

    def hide_names(self) -> None:
        """Leave only the ports their names, and take the boxes out."""
        module, ports = self.module, self.module["ports"]
        module["netnames"] = {
            key if key in ports else f"{_HIDDEN}{key}": net | {"hide_name": int(key not in ports)}
            for key, net in module["netnames"].items()
        }
        module["cells"] = {
            f"{_HIDDEN}{key}": _without_open_outputs(cell) | {"hide_name": 1}
            for key, cell in module["cells"].items()
            if key not in self.boxes
        }

    def name_bit(self, name: str, bit: int | str) -> None:
        """Give a bit a name that both sides have.

        Raises SynthesisError for a port of that name.
        """
        if name in self.module["ports"] and bit not in self.module["ports"][name]["bits"]:
            raise SynthesisError(f"a design with a port called {name} cannot be compared with its netlist")
        self.module["netnames"][name] = {"hide_name": 0, "bits": [bit], "attributes": {}}

    def add_port(self, name: str, direction: str, bit: int | str) -> None:
        """Make a bit a port."""
        self.module["ports"][name] = {"direction": direction, "bits": [bit]}
        self.name_bit(name, bit)


def _without_open_outputs(cell: Json) -> Json:
    """The cell without the outputs that `Family.mend` has cut off."""
    ways = cell.get("port_directions", {})
    left = {pin: bits for pin, bits in cell["connections"].items() if bits != ["x"] or ways.get(pin) != "output"}
    return cell | {"connections": left}


def cut(rtl: Side, netlist: Side) -> dict[str, str]:
    """Give matching registers of both sides one name, and each pin of matching boxes a port. Return the Verilog's names
    by these.
    """
    by_name = {each: bit for bit in rtl.registers() for each in rtl.names[bit]}
    pairs = {(by_name[each], bit) for bit in netlist.registers() for each in netlist.names[bit] & by_name.keys()}
    names = {}
    for side in (rtl, netlist):
        side.hide_names()
    for number, (one, other) in enumerate(sorted(pairs)):
        names[f"r{number}"] = min(rtl.names[one])
        rtl.name_bit(f"r{number}", one)
        netlist.name_bit(f"r{number}", other)
    free = count(1 << 30)  # bits that nothing else has
    for number, (key, box) in enumerate(sorted(rtl.boxes.items())):
        other = netlist.boxes.get(key, {"connections": {}})["connections"]
        for pin, bits in box["connections"].items():
            is_output = box["port_directions"][pin] == "output"
            if not is_output and key not in netlist.boxes:
                continue  # Yosys has left the box out: what it drives must not count, whatever it is
            for index, (bit, other_bit) in enumerate(zip_longest(bits, other.get(pin, []), fillvalue="x")):
                if not is_output and bit == "x":
                    continue  # the Verilog gives it no value
                port = f"box{number}_{pin}_{index}"
                names[port] = f"{key}.{pin}[{index}]"
                for side, each in ((rtl, bit), (netlist, other_bit)):
                    open_pin = each == "x" or (is_output and isinstance(each, str))
                    side.add_port(port, "input" if is_output else "output", next(free) if open_pin else each)
    return names


class FlatModule:
    """A side of models and gates, with what Yosys' solver takes for granted.

    All registers of the solver are on one clock, a register without a counterpart may hold any value for ever, and
    readers of an output see what the solver takes it for.
    """

    def __init__(self, file: Path, name: str) -> None:
        self._design: Json = json.loads(file.read_text())
        self._module: Json = self._design["modules"][name]
        nets = self._module["netnames"].items()
        self._names = {bit: key for key, net in nets if not net["hide_name"] for bit in net["bits"]}

    def on_other_clocks(self, names: Mapping[str, str]) -> Iterator[str]:
        """Names of registers that change without a rising edge of `clk`."""
        clock = self._module["ports"].get("clk", {}).get("bits")
        for key, cell in self._registers():
            pins, at_once = cell["connections"], _RESET_AT_ONCE.fullmatch(cell["type"])
            never_reset = at_once and pins["R"] == ["0" if at_once[1] == "P" else "1"]
            if not (_ON_RISING_EDGE.fullmatch(cell["type"]) or never_reset) or pins["C"] != clock:
                yield names.get(self._names.get(pins["Q"][0], ""), key.removeprefix(_HIDDEN))

    def _registers(self) -> Iterator[tuple[str, Json]]:
        return ((key, cell) for key, cell in self._module["cells"].items() if _STATE.match(cell["type"]))

    def registers_of_its_own(self) -> Iterator[str]:
        """Names of registers that only this side has, and that may keep a value: the solver takes any for granted."""
        outputs = {cell["connections"]["Q"][0]: key for key, cell in self._registers()}
        unmatched = {bit: key for bit, key in outputs.items() if bit not in self._names}
        sources = {bit: self._sources(bit) for bit in unmatched}
        while unmatched:
            ends = [bit for bit in unmatched if not sources[bit] & unmatched.keys()]
            if not ends:  # each of them depends on another one, or on itself
                yield from sorted(name.removeprefix(_HIDDEN) for name in unmatched.values())
                return
            for bit in ends:
                del unmatched[bit]

    def _sources(self, register: int) -> set[int]:
        """Outputs of registers on which the next value of a register depends; its own, if it has an enable."""
        drivers = self._drivers
        cell = drivers[register]
        found = {register} if "E" in cell["connections"] else set()
        open_bits, seen = self._inputs(cell), set[int]()
        while open_bits:
            bit = open_bits.pop()
            if bit in seen or (driver := drivers.get(bit)) is None:
                continue
            seen.add(bit)
            if _STATE.match(driver["type"]):
                found.add(bit)
            else:
                open_bits += self._inputs(driver)
        return found

    @functools.cached_property
    def _drivers(self) -> dict[int, Json]:
        """The cell that drives each bit."""
        return {
            bit: cell
            for cell in self._module["cells"].values()
            for pin, bits in cell["connections"].items()
            if cell["port_directions"][pin] == "output"
            for bit in bits
            if isinstance(bit, int)
        }

    @staticmethod
    def _inputs(cell: Json) -> list[int]:
        pins = cell["connections"].items()
        found = (bit for pin, bits in pins if cell["port_directions"][pin] == "input" for bit in bits)
        return [bit for bit in found if isinstance(bit, int)]

    def write_with_buffers(self, file: Path) -> None:
        """Write the design, with a net of its own for each bit of an output, which nothing else reads."""
        module = self._module
        bits = (bit for net in module["netnames"].values() for bit in net["bits"])
        free = count(1 + max(bit for bit in bits if isinstance(bit, int)))
        for name, port in module["ports"].items():
            if port["direction"] == "output":
                for index, bit in enumerate(port["bits"]):
                    port["bits"][index] = own = next(free)
                    module["cells"][f"$buffer${name}${index}"] = _buffer(bit, own)
                module["netnames"][name]["bits"] = port["bits"]
        file.write_text(json.dumps(self._design))


def _buffer(given: int | str, made: int) -> Json:
    return {
        "hide_name": 1,
        "type": "$_BUF_",
        "parameters": {},
        "attributes": {},
        "port_directions": {"A": "input", "Y": "output"},
        "connections": {"A": [given], "Y": [made]},
    }
