"""Netlists are proven equal to their Verilog, and no longer where one bit of the netlist is another."""

from __future__ import annotations

import copy
import json
import shutil
from dataclasses import replace

import numpy as np
import pytest

from systoliq.api import LayerDesign, LayerOptions, MatMulLayer, NetworkOptions
from systoliq.design.network.design import NetworkDesign
from systoliq.errors import InputError, SynthesisError
from systoliq.synth.equivalence import Equivalence, check_comparable, compared, netlist_equivalence
from systoliq.synth.families import FAMILIES
from systoliq.synth.flow import synthesized
from systoliq.synth.targets import open_target

from ..hw.network.small_networks import Builder

pytest.importorskip("pyosys", reason="pip install 'systoliq[synth]'")

NAMES = ("ecp5-25k", "gowin-gw2a18", "nexus-40k", "gatemate-a1", "machxo3-6900", "ice40-up5k")
TARGETS = {target.family: target for target in map(open_target, NAMES)}
OTHERS = [pytest.param(family, marks=pytest.mark.slow) for family in TARGETS if family != "ecp5"]
LAYER = MatMulLayer(
    name="tiny",
    b=np.array([[3, -4], [1, 2], [-5, 6]], np.int8),
    b_scale=np.float32([0.01, 0.02]),
    b_zero_point=np.int8(0),
    a_scale=np.float32(0.5),
    a_zero_point=np.uint8(3),
    y_scale=np.float32(0.25),
    y_zero_point=np.int8(-1),
)


def layer(family):
    return LayerDesign(LAYER, LayerOptions(cells=TARGETS[family].cells, cols=1), name="tiny")


def network(family):
    net = Builder((1, 3, 3), seed=5)
    net.convolution(2, (2, 2))
    net.maximum((2, 2))
    return NetworkDesign(net.network(), NetworkOptions(cells=TARGETS[family].cells), name="net")


def equivalence_of(design, target):
    return netlist_equivalence(design.verilog, design.name, target)


@pytest.mark.parametrize("family", ["ecp5", *OTHERS])
def test_a_layer(family):
    found = equivalence_of(layer(family), TARGETS[family])
    assert found.holds, found.undecided
    assert found.proven > 500


@pytest.mark.slow
@pytest.mark.parametrize("family", [family for family in TARGETS if family != "machxo3"])
def test_a_network(family):
    """But on MachXO3, whose products are in lookup tables: five minutes do not suffice."""
    found = equivalence_of(network(family), TARGETS[family])
    assert found.holds, found.undecided
    assert found.proven > 500


def of_kind(cells, kind, found=lambda cell: True):
    return next(cell for cell in cells.values() if cell["type"] == kind and found(cell))


def change_table(cells):
    """One entry of a lookup table that a register takes."""
    taken = {tuple(cell["connections"].get("DI", ())) for cell in cells.values()}
    table = of_kind(cells, "LUT4", lambda cell: tuple(cell["connections"]["Z"]) in taken)["parameters"]
    table["INIT"] = table["INIT"][:-1] + ("0" if table["INIT"][-1] == "1" else "1")


def change_reset(cells):
    """A register that is reset to 0 is reset to 1."""
    register = of_kind(cells, "TRELLIS_FF", lambda cell: cell["connections"]["LSR"] != ["0"])
    assert register["parameters"]["REGSET"] == "RESET"
    register["parameters"]["REGSET"] = "SET"


def invert_clock(cells):
    """A register is on the falling edge."""
    of_kind(cells, "TRELLIS_FF")["parameters"]["CLKMUX"] = "INV"


def change_clock(cells):
    """The clock of a register is another one's output."""
    of_kind(cells, "TRELLIS_FF")["connections"]["CLK"] = list(cells.values())[-1]["connections"].get("Q") or ["0"]


def make_reset_asynchronous(cells):
    """A register with a reset is reset at once."""
    of_kind(cells, "TRELLIS_FF", lambda cell: cell["connections"]["LSR"] != ["0"])["parameters"]["SRMODE"] = "ASYNC"


def leave_input_open(cells):
    """A register takes a value that nothing drives."""
    register = of_kind(cells, "TRELLIS_FF", lambda cell: "DI" in cell["connections"])
    register["connections"]["DI"] = ["x"]


def leave_pin_open(cells):
    """A pin of a multiplier, which the Verilog ties to 0, has no value."""
    pins = of_kind(cells, "MULT18X18D")["connections"]
    pins[next(pin for pin in pins if pins[pin] == ["0"] and pin[0] in "AB")] = ["x"]


def change_multiplier(cells):
    """A multiplier has a register that the Verilog does not have."""
    parameters = of_kind(cells, "MULT18X18D")["parameters"]
    parameters["REG_OUTPUT_CLK"] = "CLK0" if parameters["REG_OUTPUT_CLK"] == "NONE" else "NONE"


def change_pin(cells):
    """Two pins of a multiplier are exchanged."""
    pins = of_kind(cells, "MULT18X18D")["connections"]
    other = next(pin for pin in (f"A{i}" for i in range(18)) if pins[pin] != pins["A0"])
    pins["A0"], pins[other] = pins[other], pins["A0"]


def use_pin(cells):
    """A pin of a multiplier is in use that the Verilog leaves out."""
    multiplier = of_kind(cells, "MULT18X18D")
    assert "RST3" not in multiplier["connections"]
    multiplier["connections"]["RST3"] = multiplier["connections"]["RST0"]


def drop_multiplier(cells):
    """A multiplier is left out."""
    del cells[next(key for key, cell in cells.items() if cell["type"] == "MULT18X18D")]


def drop_register(cells):
    """A register is left out."""
    del cells[next(key for key, cell in cells.items() if cell["type"] == "TRELLIS_FF")]


def drop_table(cells):
    """A lookup table that drives a pin of a multiplier or an input of a register is left out."""
    taken = {tuple(bits) for cell in cells.values() if cell["type"] != "LUT4" for bits in cell["connections"].values()}
    tables = (key for key, cell in cells.items() if cell["type"] == "LUT4")
    del cells[next(key for key in tables if tuple(cells[key]["connections"]["Z"]) in taken)]


def tables_of_registers(cells):
    """Lookup tables, each with the register that takes its value and a pin that has a constant."""
    by_output = {tuple(cell["connections"]["Z"]): cell for cell in cells.values() if cell["type"] == "LUT4"}
    for cell in cells.values():
        table = by_output.get(tuple(cell["connections"].get("DI", ()))) if cell["type"] == "TRELLIS_FF" else None
        if table is not None:
            yield from ((table, pin, cell) for pin in "ABCD" if table["connections"][pin] in (["0"], ["1"]))


def loop_without_a_value(cells):
    """A lookup table reads its own output, and inverts it where one of its inputs is 1."""
    table, free, _ = next(tables_of_registers(cells))
    pins, init = table["connections"], table["parameters"]["INIT"][::-1]
    other = next("ABCD".index(pin) for pin in "ABCD" if isinstance(pins[pin][0], int))
    place, constant = "ABCD".index(free), int(pins[free][0])
    pins[free] = list(pins["Z"])
    table["parameters"]["INIT"] = "".join(
        str(1 - (at >> place & 1)) if at >> other & 1 else init[at & ~(1 << place) | constant << place]
        for at in reversed(range(16))
    )


def loop_at_a_box(cells):
    """A lookup table that drives a pin of a memory reads that pin instead."""
    taken = {tuple(bits) for cell in cells.values() if cell["type"] == "TRELLIS_DPR16X4"
             for pin, bits in cell["connections"].items() if pin == "WRE"}  # fmt: skip
    table = of_kind(cells, "LUT4", lambda cell: tuple(cell["connections"]["Z"]) in taken)
    table["connections"]["A"] = list(table["connections"]["Z"])
    table["parameters"]["INIT"] = "10" * 8


def float_a_pin(cells):
    """A pin that was 0 is z, and the lookup table differs where it is 1."""
    table, pin, _ = next(found for found in tables_of_registers(cells) if found[0]["connections"][found[1]] == ["0"])
    init, place = table["parameters"]["INIT"][::-1], "ABCD".index(pin)
    table["connections"][pin] = ["z"]
    table["parameters"]["INIT"] = "".join(
        str(int(init[at & ~(1 << place)]) ^ (at >> place & 1)) for at in reversed(range(16))
    )


def add_frozen_register(cells):
    """A register of the netlist alone keeps a 1, which inverts what another register takes."""
    plain = [cell for cell in cells.values() if cell["type"] == "TRELLIS_FF" and cell["connections"]["LSR"] == ["0"]]
    victim = next(
        cell for cell in plain if cell["connections"].get("CE", ["1"]) == ["1"] and "DI" in cell["connections"]
    )
    frozen = copy.deepcopy(victim)
    frozen["parameters"]["REGSET"] = "SET"
    frozen["connections"] |= {"DI": [1 << 20], "Q": [1 << 20]}
    table = copy.deepcopy(of_kind(cells, "LUT4"))
    table["parameters"]["INIT"] = "0110" * 4
    table["connections"] = {
        "A": victim["connections"]["DI"],
        "B": [1 << 20],
        "C": ["0"],
        "D": ["0"],
        "Z": [1 + (1 << 20)],
    }
    victim["connections"]["DI"] = [1 + (1 << 20)]
    cells |= {"frozen": frozen, "inverter": table}


def add_global_reset(cells):
    """A cell without an output resets the whole part."""
    data = of_kind(cells, "TRELLIS_FF")["connections"]["Q"]
    ports = {"port_directions": {"GSR": "input"}, "connections": {"GSR": data}}
    cells["reset"] = {"hide_name": 0, "type": "GSR", "parameters": {}, "attributes": {}} | ports


def change_priority(cells):
    """An enable comes before a reset, for which the model has no name."""
    of_kind(cells, "TRELLIS_FF")["parameters"]["SRMODE"] = "CE_OVER_LSR"


FAULTS = {
    each.__name__: each
    for each in (
        drop_register,
        drop_multiplier,
        drop_table,
        change_table,
        change_reset,
        invert_clock,
        change_clock,
        make_reset_asynchronous,
        leave_input_open,
        leave_pin_open,
        change_multiplier,
        change_pin,
        use_pin,
        loop_without_a_value,
        loop_at_a_box,
        float_a_pin,
        add_frozen_register,
        add_global_reset,
        change_priority,
    )
}


def changed(folder, target, verilog, name, change):
    """The netlist of `verilog`, whose top is `name`, compared after a `change` of its top in Yosys' JSON."""
    folder = shutil.copytree(synthesized(verilog, name, target), folder / "netlist")
    netlist = json.loads((folder / "netlist.json").read_text())
    change(netlist["modules"][name])
    (folder / "netlist.json").write_text(json.dumps(netlist))
    return compared(folder, name, target)


def test_outputs_on_one_net(tmp_path):
    """An output that should be the inverse of another one is the same net."""
    verilog = """\
module t(input clk, input [2:0] a, output reg q, output y, output z);
  assign z = a[0] ^ a[1] ^ a[2];
  assign y = ~z;
  always @(posedge clk) q <= a[0] & a[1];
endmodule
"""

    def merge(module):
        for kind in ("ports", "netnames"):
            module[kind]["y"]["bits"] = module["ports"]["z"]["bits"]

    (tmp_path / "same").mkdir()
    assert changed(tmp_path / "same", TARGETS["ecp5"], verilog, "t", lambda module: None).holds
    assert not changed(tmp_path, TARGETS["ecp5"], verilog, "t", merge).holds


def test_a_port_with_a_name_of_the_proof(tmp_path):
    verilog = "module t(input clk, input r0, input a, output reg q);\n  always @(posedge clk) q <= a ^ r0;\nendmodule\n"
    with pytest.raises(SynthesisError, match=r"^a design with a port called r0 cannot be compared with its netlist$"):
        changed(tmp_path, TARGETS["ecp5"], verilog, "t", lambda module: None)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_found(fault, tmp_path):
    found = with_fault("ecp5", FAULTS[fault], tmp_path)
    assert not found.holds
    assert found.undecided


def with_fault(family, fault, folder):
    """The layer's netlist, whose cells are changed by `fault`, compared."""
    design = layer(family)
    return changed(folder, TARGETS[family], design.verilog, design.name, lambda module: fault(module["cells"]))


def exchange_inputs(one, other):
    pin = next(pin for pin in ("D", "DI", "M") if pin in one and pin in other and one[pin] != other[pin])
    one[pin], other[pin] = other[pin], one[pin]


def exchange_clock(one, other):
    one[next(pin for pin in ("CLK", "CK", "C") if pin in one)] = other["Q"]


@pytest.mark.slow
@pytest.mark.parametrize("fault", [exchange_inputs, exchange_clock])
@pytest.mark.parametrize("family", [family for family in TARGETS if family != "ecp5"])
def test_a_fault_is_found_in_each_family(family, fault, tmp_path):
    """Two registers of one kind exchange what they take, or the clock of one is the other's output."""

    def change(cells):
        kinds = FAMILIES[family].cells.registers
        registers = [cell for cell in cells.values() if cell["type"].startswith(kinds)]
        one, other, *_ = (cell["connections"] for cell in registers if cell["type"] == registers[0]["type"])
        fault(one, other)

    found = with_fault(family, change, tmp_path)
    assert not found.holds
    assert found.undecided


def test_nothing_proven_is_no_proof():
    assert not Equivalence(proven=0).holds
    assert not Equivalence(proven=9, undecided=("x",)).holds


def test_parts_whose_netlists_are_not_compared(call):
    with pytest.raises(InputError, match=r"^target must be a part of ECP5, .* or iCE40 to compare its netlist "):
        check_comparable(open_target("xilinx-xc7"))
    result = call("synth", "resnet8-fc", "--target", "cmos4", "--equivalence")
    assert result.exit_code == 2
    assert "not cmos4" in result.output


def test_the_command_says_what_is_proven(call, monkeypatch, tmp_path):
    arguments = ("synth", "array", "--rows", "1", "--cols", "1", "--target", "ice40-up5k", "--seeds", "1")
    for found, status, said in (
        (Equivalence(proven=7), 0, "proven to be equal to the Verilog, in 7 bits"),
        (Equivalence(proven=7, undecided=("a", "b[1]")), 1, "not proven to be equal to the Verilog: 2 bits are "),
    ):
        monkeypatch.setattr("systoliq.cli.synth.netlist_equivalence", lambda *given, found=found, **options: found)
        result = call(*arguments, "--equivalence", "--report", tmp_path / "r.json")
        assert result.exit_code == status, result.output
        assert said in result.output
        report = json.loads((tmp_path / "r.json").read_text())["equivalence"]
        assert report == {"proven": 7, "undecided": list(found.undecided)}


def test_a_comparison_has_a_limit(tmp_path):
    design, target = layer("ecp5"), TARGETS["ecp5"]
    with pytest.raises(SynthesisError, match=r"within 0\.001 minutes: allow more with --minutes, or leave out --equiv"):
        equivalence_of(design, replace(target, minutes=0.001))
