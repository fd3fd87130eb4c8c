"""What drives each port of an emitted top, gate by gate: the blocks that are proven, and nothing else."""

from __future__ import annotations

import json
import re

import pytest

pytest.importorskip("pyosys", reason="pip install 'systoliq[formal]'")

from systoliq.design import EngineDesign, LayerOptions
from systoliq.design.sources import open_source
from systoliq.golden import E4M3FN
from systoliq.hw.axi import AxiPipeline
from systoliq.hw.engine import EngineConfig
from systoliq.hw.hierarchy import Emission
from systoliq.prove.catalog.small_tops import bare_array, float8_layer, network_of, sums_layer

from ..hw.network.small_networks import Builder, assembled

REGISTERS = ("$dff", "$dffe", "$sdff", "$sdffe", "$sdffce")
ENGINE = EngineConfig(rows=4, cols=6, depth=2, lanes=3)


class Netlist:
    """The modules of a top, written as for a package, each for itself."""

    def __init__(self, top, folder):
        from pyosys import libyosys

        (folder / "top.il").write_text(Emission("top").rtlil(top, "top"))
        design = libyosys.Design()
        for command in (f"read_rtlil {folder / 'top.il'}", "proc", "opt_clean", f"write_json {folder / 'top.json'}"):
            design.run_pass(f"tee -q {command}")
        self.modules = json.loads((folder / "top.json").read_text())["modules"]
        self.drivers = {
            name: {
                bit: (cell, port, at)
                for cell in module["cells"].values()
                for port, bits in cell["connections"].items()
                if cell["port_directions"][port] == "output"
                for at, bit in enumerate(bits)
            }
            for name, module in self.modules.items()
        }

    def sources(self, port, stops):
        """Where the bits of an output of the top come from, through gates and modules: outputs of the blocks `stops`,
        which are named by the ends of their modules' names but for their sizes; registers elsewhere, and inputs.
        """
        inputs, others = self._sources("top", self.modules["top"]["ports"][port]["bits"], stops)
        return {f"input {name}" for name, _ in inputs} | others

    def _sources(self, module, bits, stops):
        """The same of `bits` in a module: its inputs, as (name, place of the bit), and all else."""
        ports = self.modules[module]["ports"].items()
        places = {
            bit: (name, at)
            for name, each in ports
            if each["direction"] == "input"
            for at, bit in enumerate(each["bits"])
        }
        inputs, others = set(), set()
        waiting, seen = list(bits), set()
        while waiting:
            bit = waiting.pop()
            if isinstance(bit, str) or bit in seen:  # a constant is a str
                continue
            seen.add(bit)
            if bit in places:
                inputs.add(places[bit])
                continue
            cell, output, at = self.drivers[module][bit]
            kind, connections, directions = cell["type"], cell["connections"], cell["port_directions"]
            stop = next((stop for stop in stops if re.search(rf"_{stop}(_\d\w*)?$", kind)), None)
            if stop is not None:
                others.add(f"{stop}.{output}")
            elif kind in REGISTERS or (kind == "$memrd_v2" and int(cell["parameters"]["CLK_ENABLE"], 2)):
                others.add(f"register of {module}")
            elif kind in self.modules:
                below, elsewhere = self._sources(kind, [self.modules[kind]["ports"][output]["bits"][at]], stops)
                waiting += [connections[name][place] for name, place in below]
                others |= elsewhere
            else:
                waiting += [each for name, bits in connections.items() if directions[name] == "input" for each in bits]
        return inputs, others


def y_of(block, *payload):
    """The stream of Y from one block alone."""
    return {"m_axis_y_tvalid": {f"{block}.o__valid"}} | {
        f"m_axis_y_{name}": {f"{block}.o__payload"} for name in ("tdata", "tlast", *payload)
    }


def engine(**changes):
    return EngineDesign(ENGINE.replace(**changes)).top


def network_of_rows(last):
    """A network that ends in an operator on rows, or in a product of two tensors."""
    net = Builder((2, 2))
    if last == "product":
        net.matmul(net.x, net.input((2, 2)))
    else:
        getattr(net, last)()
    made = assembled(net.network())
    return AxiPipeline(made.pipeline, image_beats=made.image_beats)


BUS = ("awready", "wready", "bvalid", "bresp", "arready", "rvalid", "rdata", "rresp")
OF_ENGINE = (
    y_of("y_skid_buffer", "tkeep")
    | {f"s_axi_ctrl_{name}": {f"axi_lite.s_{name}"} for name in BUS}
    | {f"s_axis_{name}_tready": {f"{name}_loader.i__ready"} for name in "ab"}
)
OF_ARRAY = {f"input s_axis_{name}" for name in ("a_tvalid", "a_tlast", "b_tvalid")} | {"register of top_bare_array"}
REPEATED = {"s_axis_a_tready": {"replay_buffer.i__ready"}}
AT_ONCE = {"s_axis_a_tready": {"sequencer.i__ready"}}
SKID = {"s_axis_a_tready": {"skid_buffer.i__ready"}}

# What makes the top; where each of its ports comes from.
TOPS = {
    "layer": (lambda: open_source("resnet8-fc", LayerOptions(rows=2, cols=5)).top, y_of("result_buffer") | REPEATED),
    "layer, all columns at once": (
        lambda: open_source("resnet8-fc", LayerOptions(rows=1, cols=10)).top,
        y_of("result_buffer") | AT_ONCE,
    ),
    "layer, zero points with A": (sums_layer, y_of("result_buffer") | AT_ONCE),
    "layer, float8": (float8_layer, y_of("result_buffer") | AT_ONCE),
    "array": (bare_array, {"s_axis_a_tready": OF_ARRAY, "s_axis_b_tready": OF_ARRAY}),
    "network": (lambda: open_source("digits-cnn").top, y_of("result_buffer")),
    "network, table": (lambda: network_of("table"), y_of("fifo") | SKID),
    "network, maximum": (lambda: network_of("maximum"), y_of("maximum") | SKID),
    "network, replay": (lambda: network_of("replay"), y_of("replay") | SKID),
    "network, softmax": (lambda: network_of_rows("softmax"), y_of("fifo") | SKID),
    "network, layer normalization": (lambda: network_of_rows("normalize"), y_of("fifo") | SKID),
    "network, product of two tensors": (
        lambda: network_of_rows("product"),
        y_of("fifo") | {f"s_axis_{name}_tready": {"fifo.i__ready"} for name in ("a0", "a1")},
    ),
    "engine, output-stationary": (engine, OF_ENGINE),
    "engine, weight-stationary": (lambda: engine(dataflow="weight-stationary"), OF_ENGINE),
    "engine, float8": (lambda: engine(a=E4M3FN, b=E4M3FN, y=E4M3FN), OF_ENGINE),
}


@pytest.mark.sampled(9)
@pytest.mark.parametrize("name", TOPS)
def test_a_port_is_driven_by_the_blocks_that_are_proven(name, tmp_path):
    make, expected = TOPS[name]
    netlist = Netlist(make(), tmp_path)
    blocks = {source.split(".")[0] for sources in expected.values() for source in sources if "." in source}
    assert {port: netlist.sources(port, blocks) for port in expected} == expected
    if name != "array":  # which takes A and B together
        through = {port: netlist.sources(port, ()) for port in expected}
        assert not {port for port, sources in through.items() if any(each.startswith("input ") for each in sources)}
