"""The report of a synthesis, as one object."""

from __future__ import annotations

import dataclasses
import statistics
from dataclasses import dataclass, field
from typing import Any

from systoliq.markup import described

from .energy import Energy

__all__ = ["CriticalPath", "SynthReport"]


@dataclass(frozen=True, kw_only=True)
class CriticalPath:
    """The slowest way from register to register: signals at its ends, our blocks on its way, its share of routing."""

    start: str
    end: str
    blocks: tuple[str, ...]
    nanoseconds: float
    routing_nanoseconds: float
    levels: int

    def __str__(self) -> str:
        return f"{self.start} -> {self.end}: {self.nanoseconds:.2f} ns, {self.routing_nanoseconds:.2f} of it routing"


@dataclass(frozen=True, kw_only=True)
class SynthReport:
    """Figures of one design on one target.

    ``lut_sites`` counts every site with a lookup table, including those that only feed a carry chain: TRELLIS_COMB on
    ECP5, logic cells on iCE40, LUTs of any size on Xilinx. The count is from place and route if the target has it;
    otherwise from the netlist, which is slightly lower (see `sites_of_cells`). ``carries`` are bits of carry chains.
    ``fmax_mhz`` is the median of ``fmax_mhz_per_seed``, of the ``seeds`` that were routed; ``not_routed`` says of each
    other seed how far it came. The frequency excludes paths to and from the kinds of cells in ``untimed``, for which
    place and route has no timing. ``open_ports`` is the number of port bits without a pin, if the part has too few
    pins. ``floorplan`` has the sites of the placed multipliers, by nextpnr's names (see `floorplan`). ``parts`` has the
    cells of the design's parts by name, as `figures_of_parts` counts them. ``gates`` are all cells of a target without
    a part, and ``area`` is their area in the unit of the library. ``blocks`` has the modules of the design, each mapped
    separately. ``energy`` belongs to the operands, if there were any.
    """

    name: str
    target: str
    cells: str
    macs_per_cycle: int
    lut_sites: int
    ff: int
    dsp: int
    ram: int
    carries: int
    seeds: tuple[int, ...] = ()
    not_routed: dict[int, str] = field(default_factory=dict)
    fmax_mhz_per_seed: tuple[float, ...] = ()
    target_mhz: float = 0.0
    open_ports: int = 0
    floorplan: dict[str, str] = field(default_factory=dict)
    untimed: tuple[str, ...] = ()
    critical_path: CriticalPath | None = None
    area: float | None = None
    gates: int | None = None
    blocks: dict[str, dict[str, float]] = field(default_factory=dict)
    parts: dict[str, dict[str, int]] = field(default_factory=dict)
    energy: Energy | None = None
    tools: tuple[str, ...] = ()
    seconds: float = 0.0

    def __repr__(self) -> str:
        counts = ", ".join(f"{name}={getattr(self, name)}" for name in ("lut_sites", "ff", "dsp", "ram", "fmax_mhz"))
        return f"SynthReport({self.name!r} on {self.target!r}, {counts})"

    def _repr_html_(self) -> str:
        rows: list[tuple[str, object]] = [
            ("LUT sites", self.lut_sites), ("registers", self.ff), ("multiplier cells", self.dsp),
            ("memory blocks", self.ram), ("carry bits", self.carries),
        ]  # fmt: skip
        rows = [("gates", self.gates), ("registers", self.ff)] if self.gates is not None else rows
        rows += [("area", self.area)] if self.area is not None else []
        rows += [("MHz", self.fmax_mhz), ("MHz asked for", self.target_mhz)] if self.fmax_mhz is not None else []
        rows += [("critical path", self.critical_path)] if self.critical_path is not None else []
        rows += [("pJ an inference", round(self.energy.total / self.energy.inferences))] if self.energy else []
        return described(repr(self), ("", ""), rows)

    @property
    def fmax_mhz(self) -> float | None:
        """Median over the seeds; None without place and route."""
        return round(statistics.median(self.fmax_mhz_per_seed), 1) if self.fmax_mhz_per_seed else None

    @property
    def met(self) -> bool | None:
        """True if all seeds were routed and the median reaches the requested frequency; None if nothing was placed."""
        return None if self.fmax_mhz is None else not self.not_routed and self.fmax_mhz >= self.target_mhz

    @property
    def gates_per_mac(self) -> float | None:
        """Gates, or standard cells, that hold no bit, for each multiply-accumulate of a cycle; None of an FPGA."""
        return None if self.gates is None else self.per_mac(self.gates - self.ff)

    @property
    def lut_sites_per_mac(self) -> float | None:
        """LUT sites for each multiply-accumulate of a cycle."""
        return self.per_mac(self.lut_sites)

    def per_mac(self, figure: float) -> float | None:
        """`figure` for each multiply-accumulate of a cycle; None of a network without products."""
        return round(figure / self.macs_per_cycle, 1) if self.macs_per_cycle else None

    def as_json(self) -> dict[str, Any]:
        """All figures, also those that follow from others, under the keys that the documentation names."""
        report = dataclasses.asdict(self) | {"energy": None if self.energy is None else self.energy.as_json()}
        fmax = self.fmax_mhz
        report |= {"fmax_mhz": fmax, "lut_sites_per_mac": self.lut_sites_per_mac}
        report |= {"gates_per_mac": self.gates_per_mac, "ff_per_mac": self.per_mac(self.ff)}
        if self.fmax_mhz_per_seed and fmax is not None:
            report |= {
                "clock_met": self.met,
                "fmax_mhz_worst": min(self.fmax_mhz_per_seed),
                "mmacs_per_second": round(fmax * self.macs_per_cycle),
                "mmacs_per_second_per_lut_site": round(fmax * self.macs_per_cycle / max(self.lut_sites, 1), 3),
            }
        return report
