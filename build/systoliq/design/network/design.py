"""A whole network as a design."""

from __future__ import annotations

import dataclasses
import functools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy.typing as npt

from systoliq.golden.layer import MatMulLayer
from systoliq.golden.network import Network
from systoliq.golden.requantization import Requantization
from systoliq.hw.axi import AxiPipeline
from systoliq.hw.cells import PLAIN_CELLS, models_verilog
from systoliq.hw.network.assembly import Assembly, assemble
from systoliq.sim.choice import SimulatorChoice
from systoliq.sim.cosimulation.network import NETWORK_TOP, Netlist, cosimulate_network, network_verilog
from systoliq.sim.simulated import Simulated

from ...errors import InputError, expect
from ..check_run import check_run
from ..choose import AUTO, choose_requantization
from ..design import Arrays, Design
from ..image_cost import ImageCost, Speed
from ..names import module_name
from ..operands import read_operand_file
from ..options import auto_cells
from .clock import ExpectedClock, expected_clock
from .ends import check_one_stream
from .enough import enough_images
from .estimate import REGISTER_ERROR, Estimate, blocks_of, estimate
from .fit import check_fit
from .image_cost import image_cost
from .latency import Room, latency_lines, plan_for_latency
from .options import NetworkOptions
from .plan import UNLIMITED, Plan, lane_cells, plan_for_budget, plan_for_cycles, within_cells
from .plan_file import read_plan
from .ports import network_meanings
from .scales import network_scale_notes

__all__ = ["NetworkDesign"]

_FILL = 0.7  # of a part's LUT sites: at 0.75, one of two seeds of nextpnr was not routed within an hour
_DSP = 156  # default budget of a plan: an LFE5U-85F's multipliers

_STAGE = re.compile(r"pipeline\.(?:[a-z]+_(?:\d_)?)??s(\d+)_")  # as `assemble` and `Pipeline` name what they place


class NetworkDesign(Design):
    """A network as one pipeline of stages, with the plan for `hardware`.

    `origin` describes the source in messages, and `notes` are warnings for the user.
    """

    kind: ClassVar[str] = "network"

    def __init__(
        self,
        network: Network,
        hardware: NetworkOptions | None = None,
        *,
        name: str | None = None,
        origin: str = "a network given in Python",
        notes: Sequence[str] = (),
    ) -> None:
        expect("network", network, Network)
        expect("hardware", hardware, NetworkOptions, type(None))
        expect("origin", origin, str)
        expect("notes", notes, Sequence)
        hardware = hardware or NetworkOptions()
        hardware.check_plan()
        self._hardware = hardware
        self._pairs = self._hardware.cells == AUTO
        if self._pairs:
            self._hardware = self._hardware.replace(cells=auto_cells(self._hardware.part))
        self.name = module_name(name, network.name)
        self.origin = origin
        self._notes = tuple(notes)
        self.network = network
        self.plan = self._planned()
        self.assembly = self._assembled(self.plan)
        if self._hardware.part is not None:
            check_fit(self.plan, self.estimates, self._hardware.part, self._hardware)

    def _assembled(self, plan: Plan) -> Assembly:
        lanes = lane_cells(self.cells)
        try:
            return assemble(
                self.network, plan.parallelism, requantize=self._requantize, cells=self.cells, lane_cells=lanes
            )
        except ValueError as error:
            raise InputError(f"{self.origin}: {error}") from error

    def _planned(self) -> Plan:
        asked = self._hardware
        if asked.plan is not None:
            return read_plan(self.network, asked.plan, cells=asked.cells)
        if asked.throughput is not None and asked.throughput != math.inf:
            try:
                plan = plan_for_cycles(self.network, self._cycles(asked.throughput), cells=asked.cells)
            except InputError as error:
                least = f"{asked.throughput:g} images a second at {asked.clock_mhz:g} MHz"
                raise InputError(f"throughput must be lower than {least}: {error}") from error
            if not self._part_dsp:
                return plan
            return within_cells(plan, self._part_dsp, cells=asked.cells, pairs=self._pairs)
        dsp = asked.multipliers or self._part_dsp or _DSP
        budget = functools.partial(plan_for_budget, self.network, dsp, cells=asked.cells, pairs=self._pairs)
        within_part, in_budget = functools.partial(self._mhz, sites=_FILL), functools.partial(self._mhz, sites=math.inf)
        sites = round(_FILL * asked.part.capacity.get("lut_sites", 0)) if asked.part is not None else UNLIMITED
        if asked.throughput == math.inf:
            return budget(sites, wide=True, mhz=within_part)
        if asked.latency is not None:
            cells = UNLIMITED if asked.part is None else dsp
            room = Room(dsp=cells, luts=sites, pairs=self._pairs, mhz=within_part, cycles=self._latency_of)
            return plan_for_latency(self.network, asked, room)
        if asked.part is None or asked.multipliers is not None or asked.luts is not None:
            return budget(asked.luts or 0, mhz=in_budget)
        return budget(0, cycles=self._cycles(enough_images(self.network, asked.line_baud)), mhz=within_part)

    def _latency_of(self, plan: Plan) -> int:
        """Return the cycles to the last result of all outputs."""
        return max(each.last for each in self._assembled(plan).latency.values())

    def _cycles(self, rate: float) -> int:
        """Return the cycles of an image at `rate` images a second."""
        return max(int(self._hardware.clock_mhz * 1e6 / rate), 1)

    def _mhz(self, plan: Plan, sites: float) -> float:
        """Return the expected clock of `plan`; the clock that was asked for if there is no model of it; 0 if the part
        lacks memory blocks or registers for `plan`, or if more than the share `sites` of its LUT sites are taken, as
        far as there are estimates.
        """
        part, found = self._hardware.part, self._estimated(plan, {})
        if part is not None and found:
            room = {kind: part.capacity.get(kind, math.inf) for kind in ("ram", "lut_sites", "ff")}
            registers = (1 + REGISTER_ERROR) * sum(each.registers for each in found.values())
            if (
                blocks_of(found.values(), part) > room["ram"]
                or sum(each.lut_sites for each in found.values()) > sites * room["lut_sites"]
                or registers > room["ff"]
            ):
                return 0.0
        expected = self._expected_clock(plan, found)
        return self._hardware.clock_mhz if expected is None else expected.mhz

    def _expected_clock(self, plan: Plan, estimates: Mapping[str, Estimate]) -> ExpectedClock | None:
        part = self._hardware.part
        return None if part is None else expected_clock(plan, estimates.values(), part.name)

    @property
    def expected_clock(self) -> ExpectedClock | None:
        """An estimate of the clock on the part; None if there is no model of it."""
        return self._expected_clock(self.plan, self.estimates)

    @property
    def _has_multipliers(self) -> bool:
        """True unless the part is an FPGA without multiplier cells."""
        part = self._hardware.part
        return part is None or not part.place or bool(part.capacity.get("dsp"))

    @property
    def _part_dsp(self) -> int:
        part = self._hardware.part
        if part is None:
            return 0
        if part.family == "ice40" and self._hardware.cells == PLAIN_CELLS:
            return UNLIMITED  # products are logic there
        return part.capacity.get("dsp", 0)

    def _requantize(self, layer: MatMulLayer) -> Requantization:
        return choose_requantization(layer, self._hardware.requantizer).requantization

    @property
    def hardware(self) -> NetworkOptions:
        """See `Design.hardware`: the plan is a file of the package."""
        return self._hardware.replace(
            throughput=None, latency=None, multipliers=None, luts=None, plan=None, line_baud=None
        )

    @property
    def meanings(self) -> Mapping[str, str]:  # type: ignore[override]
        """See `Design.meanings`; each input and output has its own ports."""
        return network_meanings(self.assembly)

    @cached_property
    def top(self) -> AxiPipeline:
        """The module with AXI4-Stream ports."""
        return AxiPipeline(self.assembly.pipeline, image_beats=self.assembly.image_beats)

    def __repr__(self) -> str:
        return f"NetworkDesign({self.network!r}, {self.plan.multipliers} multipliers {self.cells})"

    @property
    def cells(self) -> str:
        """Cells of all stages, except those for which the plan names others of the same family."""
        return self._hardware.cells

    @property
    def models(self) -> str:
        """See `Design.models`: the models of all stages' cells."""
        return models_verilog(*self.assembly.cells)

    @property
    def explored(self) -> Network:
        return self.network

    @property
    def macs_per_cycle(self) -> int:
        """Multiply-accumulates of all stages per cycle."""
        return self.plan.multipliers

    @cached_property
    def estimates(self) -> Mapping[str, Estimate]:
        """Estimates of each stage, by its node's name; empty for families without estimates."""
        return self._estimated(self.plan, self.assembly.waiting)

    def _estimated(self, plan: Plan, waiting: Mapping[str, Sequence[int]]) -> dict[str, Estimate]:
        """Return the estimates of the stages of `plan` with FIFOs for the beats `waiting` before each stage, by the
        name of its output.
        """
        part = self._hardware.part
        family = "" if part is None else part.family
        found = {}
        for stage in plan.stages:
            waits = waiting.get(stage.node.output.name, ())
            found[stage.node.name] = estimate(stage.node, stage.parallelism, self.cells, waits, family=family)
        return {name: each for name, each in found.items() if each is not None}

    @property
    def stages(self) -> list[dict[str, Any]]:
        """The plan with its estimates, as `read_plan` takes it."""
        return [
            {**stage, **(self.estimates[stage["node"]].as_json() if self.estimates else {})}
            for stage in self.plan.as_json()
        ]

    @property
    def image_cost(self) -> ImageCost:
        return image_cost(self.network, self.plan, self.assembly.waiting, self.cells)

    @property
    def speed(self) -> Speed:
        clock = self.expected_clock
        return Speed(
            image_cycles=self.plan.image_cycles, latency_cycles=self.cycles(1), assumed=clock is None,
            mhz=self._hardware.clock_mhz if clock is None else clock.mhz,
        )  # fmt: skip

    @property
    def notes(self) -> Sequence[str]:
        return (*self._notes, *self.odd_scales)

    @property
    def choices(self) -> list[str]:
        """The plan, its latency and its expected clock."""
        plan, mhz = self.plan, self._hardware.clock_mhz
        taken = f"{plan.dsp} multiplier cells in all" if self._has_multipliers else "all in logic"
        cells = f"{plan.multipliers} multipliers, {plan.utilization:.1%} busy; {taken}"
        rate = f"{mhz * 1e6 / plan.image_cycles:.0f} images a second at {mhz:g} MHz"
        expected = self.expected_clock if self._hardware.latency is not None else None
        latency = latency_lines(self.assembly.latency, mhz, expected)
        return [f"plan: {plan.image_cycles} cycles an image, {cells}; {rate}", *latency, *self._clock]

    @property
    def _clock(self) -> Iterator[str]:
        """The expected clock on the part in words, or that there is no model of it."""
        part = self._hardware.part
        if self.expected_clock is not None:
            yield self.expected_clock.line(self.plan.image_cycles)
        elif part is not None and part.place:
            yield f"expected clock: no clock model for {part.name}; systoliq synth --target {part.name} measures it"

    def model(self, inputs: Mapping[str, npt.ArrayLike]) -> Arrays:  # type: ignore[override]
        """Every integer tensor of the network by its name: see `Network.golden`."""
        return self.network.golden(inputs)

    def cycles(self, images: int) -> int:
        """Cycles from the first beat of the first image to the last result of the last image, both included, without
        stalls; at least these if images take more cycles than planned (see `Assembly.exact`).
        """
        last = max(each.last for each in self.assembly.latency.values())
        return last + 1 + (images - 1) * self.assembly.image_cycles

    def read_operands(self, path: Path, *, quantize: bool = False) -> Arrays:
        """`inputs`: the arrays of an .npz archive by name, or the array of a .npy file as the only input."""
        if quantize:
            raise InputError("quantize cannot be used with a network: real numbers of its float inputs are quantized")
        arrays = read_operand_file(path)
        names = [source.name for source in self.network.sources]
        if path.suffix == ".npy":
            arrays = {names[0]: arrays["a"]}
        return {"inputs": self.check_inputs(arrays, str(path))}  # type: ignore[dict-item]

    def check_inputs(self, arrays: Arrays, where: str) -> Arrays:
        """The arrays of the network's inputs, with at least one image; InputError names the fault."""
        known = {name for source in self.network.sources for name in (source.name, source.tensor.name)}
        taken = {name: array for name, array in arrays.items() if name in known}
        try:
            for source in self.network.sources:
                if source.tensor.name in taken:
                    source.tensor.check(taken[source.tensor.name])
                elif source.name in taken:
                    source.quantize(taken[source.name])
                else:
                    held = ", ".join(arrays) or "nothing"
                    raise InputError(f"input must hold {source.name!r}, the network's input, and holds {held}")
        except (TypeError, ValueError) as error:
            raise InputError(f"{where}: {error}") from error
        if not all(len(array) for array in taken.values()):
            raise InputError(f"{where}: input must hold at least one image, and holds none")
        if len({len(array) for array in taken.values()}) > 1:
            held = ", ".join(f"{len(array)} of {name}" for name, array in taken.items())
            raise InputError(f"{where}: input must hold as many images of each of the network's inputs, not {held}")
        return taken

    def simulate(
        self,
        inputs: Mapping[str, npt.NDArray[Any]],
        *,
        simulator: SimulatorChoice = "auto",
        stalls: float = 0.0,
        seed: int = 0,
        waves: Path | None = None,
        netlist: str | None = None,
        progress: Callable[[str], None] | None = None,
    ) -> Simulated:
        """Simulate images and compare every tensor of the hardware with golden; see `Design.simulate`.

        `inputs` are as in `Network.golden`. Of a netlist, which has no stages, only the outputs are compared.
        """
        check_run(simulator, stalls, waves)
        result = cosimulate_network(
            self.assembly, inputs, simulator=simulator, stalls=(stalls, stalls), seed=seed, waves=waves,
            verilog=Netlist(self.netlist(netlist, NETWORK_TOP, progress)) if netlist else self._simulated,
            progress=progress,
        )  # fmt: skip
        streams = zip(self.network.outputs, self.assembly.outputs.values(), strict=True)
        outputs = {
            output.name: output.unraster(self.assembly.tensors[name].raster(result.tensors[name].array))
            for output, name in streams
        }
        counts = {
            name: {"elements": int(each.expected.size), "mismatches": len(each.wrong)}
            for name, each in result.tensors.items()
        }
        return dataclasses.replace(result, name=self.name, outputs=outputs).with_facts(
            image_cycles=self.assembly.image_cycles, latency_cycles=self.cycles(1), stalls=stalls, netlist=netlist,
            tensors=counts, plan=self.stages,
        )  # fmt: skip

    @cached_property
    def _simulated(self) -> str:
        """The Verilog that every simulation runs."""
        return network_verilog(self.assembly)

    @property
    def odd_scales(self) -> list[str]:
        return network_scale_notes(self.network)

    @property
    def outputs(self) -> int:
        return len(self.network.outputs)

    def inferences(self, operands: Mapping[str, Any]) -> tuple[int, int]:
        """Images, and the multiply-accumulates of one."""
        return len(next(iter(operands["inputs"].values()))), self.image_cost.multiply_accumulates

    @property
    def unit_beats(self) -> int:
        """Beats of an image."""
        check_one_stream(self.network)
        (beats,) = self.assembly.image_beats
        return beats

    @property
    def part_of(self) -> Callable[[str], str]:
        """The stage, by its node's name, that a cell belongs to: with what leads its inputs to it and forks its output.

        Cells of no stage belong to the "edge".
        """
        nodes = self.network.nodes

        def stage_of_cell(cell: str) -> str:
            found = _STAGE.match(cell)
            return nodes[int(found[1])].name if found else "edge"

        return stage_of_cell

    @property
    def certified(self) -> bool:
        """See `Design.certified`: each of its stages is."""
        return True
