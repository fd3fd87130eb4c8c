"""Energy of inferences in standard cells before layout: toggles of the netlist times the library's energies."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import InputError, SynthesisError
from .cell_netlist import CellNetlist, Instance
from .liberty import LibraryFigures, Pin, Power, read_figures
from .port_trace import read_trace
from .standard_cells import CELLS, Library
from .target import Target
from .toggles import Toggles, count_toggles
from .tools import find_yosys
from .yosys import top_of

__all__ = ["Energy", "check_energy", "energies_of", "energy_of", "estimate"]

_EDGES = ("rise", "fall")


@dataclass(frozen=True, kw_only=True)
class Energy:
    """Energy in pJ of `inferences` in `cycles` that follow each other without a pause, all from the library's tables.

    `clock` is the energy of the clock's pins, `registers` of the registers' other pins and of what their outputs load,
    and `logic` of gates and input ports. `least` and `most` bound the sum: in them, the input with the least or the
    most energy causes each edge of an output, while the figures weigh inputs by how often they toggle. Wires and the
    buffers of the clock are not in the netlist before layout. `leakage` is in uW, and in no figure of energy.
    """

    inferences: int
    macs: int
    cycles: int
    clock: float
    registers: float
    logic: float
    least: float
    most: float
    leakage: float
    volts: float
    toggles: int
    library: str

    @property
    def total(self) -> float:
        """Energy of all inferences."""
        return self.clock + self.registers + self.logic

    def as_json(self) -> dict[str, Any]:
        """The figures for one inference, with their units in their names."""
        each = {
            f"{name}_pj": round(getattr(self, name) / self.inferences, 1)
            for name in ("total", "clock", "registers", "logic", "least", "most")
        }
        return each | {
            "pj_per_mac": round(self.total / self.inferences / self.macs, 3),
            "leakage_uw": round(self.leakage, 3),
            "inferences": self.inferences,
            "macs": self.macs,
            "cycles": self.cycles,
            "toggles": self.toggles,
            "volts": self.volts,
            "library": self.library,
        }


def check_energy(target: Target, liberty: Path | None) -> None:
    """InputError where no energy can be estimated for this target."""
    if target.library is None and liberty is None:
        why = (
            "a target of gates has none: give --target generic --liberty FILE, or --target osu018"
            if target.family == "generic"
            else f"no open tool has energies of the cells and wires of {target.name}: give --target osu018"
        )
        raise InputError(f"energy must be asked for standard cells, whose library states energies; {why}")


def energies_of(library: Library) -> LibraryFigures:
    """Return the figures of a library; InputError if it has no energies."""
    return read_figures(library.content.decode(errors="replace"))


def estimate(
    design: Any,
    folder: Path,
    library: LibraryFigures,
    operands: Mapping[str, Any],
    say: Callable[[str], None] = lambda stage: None,
) -> Energy:
    """Return the energy of `operands` in the netlist in `folder`; `design` is a `systoliq.design.Design`.

    Raises
    ------
    InputError
        if this kind of design has no inferences.
    SynthesisError
        if the design or its netlist gives wrong results.
    """
    inferences, macs = design.inferences(operands)
    say("simulation")
    with tempfile.TemporaryDirectory(prefix="systoliq-trace-") as place:
        waves = Path(place) / "trace.vcd"
        if not design.simulate(**operands, waves=waves).passed:
            raise SynthesisError("the simulated design gave wrong results, so its energy was not estimated")
        trace = read_trace(waves, {port["name"]: port["width"] for port in design.ports if port["name"] != "clk"})
    say("toggles of the netlist")
    netlist = CellNetlist.of(top_of(folder), library)
    toggles = count_toggles(netlist, trace, find_yosys(), (folder / CELLS).read_bytes())
    return energy_of(netlist, toggles, inferences=inferences, macs=macs)


def energy_of(netlist: CellNetlist, toggles: Toggles, *, inferences: int, macs: int) -> Energy:
    """Return the energy of a netlist with these toggles."""
    half = 0.5 * netlist.library.volts**2
    drivers = {net: instance for instance in netlist.instances for _, _, net in instance.outputs()}
    clock = netlist.clock
    edges = {edge: {**toggles.edges[edge], clock: toggles.cycles} for edge in _EDGES}
    whole = Toggles(cycles=toggles.cycles, edges=edges)
    parts = dict.fromkeys(("clock", "registers", "logic"), 0.0)
    for net, load in netlist.loads.items():
        driver = drivers.get(net)
        part = "clock" if net == clock else "registers" if driver is not None and driver.cell.register else "logic"
        parts[part] += half * load * whole.of(net)
    least = most = sum(parts.values())
    for instance in netlist.instances:
        for _, pin, net in (*instance.inputs(), *instance.outputs()):
            if not pin.powers:
                continue
            part = "clock" if net == clock else "registers" if instance.cell.register else "logic"
            low, mean, high = _inside(netlist, instance, pin, net, whole)
            parts[part] += mean
            least, most = least + low, most + high
    return Energy(
        inferences=inferences,
        macs=macs,
        cycles=toggles.cycles,
        clock=parts["clock"],
        registers=parts["registers"],
        logic=parts["logic"],
        least=least,
        most=most,
        leakage=sum(instance.cell.leakage for instance in netlist.instances) * 1e-3,
        volts=netlist.library.volts,
        toggles=sum(sum(counts.values()) for counts in toggles.edges.values()),
        library=netlist.library.name,
    )


def _inside(
    netlist: CellNetlist, instance: Instance, pin: Pin, net: int, toggles: Toggles
) -> tuple[float, float, float]:
    """Energy within a cell by a pin's toggles: least, by the toggles of the inputs that may be the cause, and most."""
    slopes, load = netlist.timing.slopes, netlist.loads.get(net, 0.0) if pin.output else 0.0
    still = dict.fromkeys(_EDGES, netlist.library.slope)
    sums = [0.0, 0.0, 0.0]
    for edge in _EDGES:
        count = toggles.edges[edge].get(net, 0)
        if not count:
            continue
        found: list[tuple[float, float]] = []
        for power in pin.powers:
            source = _cause(instance, power)
            if edge not in power.energy or (power.related is not None and source is None):
                continue
            slope = slopes.get(net if source is None else source, still)
            causes = _causes(pin, power, edge)
            value = sum(power.energy[edge].at(slope[cause], load) for cause in causes) / len(causes)
            found.append((value, toggles.of(source) if source is not None else 1))
        if not found:
            continue
        weights = sum(weight for _, weight in found)
        mean = sum(value * (weight / weights if weights else 1 / len(found)) for value, weight in found)
        values = [value for value, weight in found if weight] or [mean]
        for at, value in enumerate((min(values), mean, max(values))):
            sums[at] += count * value
    return sums[0], sums[1], sums[2]


def _cause(instance: Instance, power: Power) -> int | None:
    """The net of the input whose edge takes this energy; None if there is none, or a constant drives it."""
    net = instance.nets.get(power.related) if power.related is not None else None
    return net if isinstance(net, int) else None


def _causes(pin: Pin, power: Power, edge: str) -> tuple[str, ...]:
    """The edges of the related pin that may cause this edge."""
    arc = next((arc for arc in pin.arcs if arc.related == power.related), None)
    return (edge,) if arc is None else arc.causes(edge)
