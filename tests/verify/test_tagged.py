"""Tags in the place of data: a module that moves bits gives the tags of the bits that it gives."""

from __future__ import annotations

import random

import pytest

from systoliq.verify.bits import Bits
from systoliq.verify.dataflow import DataFlow
from systoliq.verify.machine import Machine
from systoliq.verify.statements import on_cycles, ordered
from systoliq.verify.syntax import read_verilog
from systoliq.verify.tagged import TaggedMachine

from .dataflow_cases import CASES, MODULE

TAG_BITS = 6
MOVED = {what: body for what, (body, data, computed) in CASES.items() if data and not computed}
MOVED |= {
    "by an index": "wire [7:0] e; assign e = d >> n; assign o__payload = { s, e };",
    "with its sign": "assign o__payload = $signed(d[3:0]);",
    "beside a constant": "assign o__payload = s ? { 1'h0, d } : 9'h1a5;",
    "in part": "assign o__payload[3:0] = d[7:4]; assign o__payload[8:4] = { s, n, s };",
    "after a register with a value": "reg [8:0] q = 9'h133; always @(posedge clk) if (s) q <= { n[0], d }; "
    "assign o__payload = q;",
}


@pytest.mark.parametrize("what", MOVED)
def test_tags_go_where_data_goes(what):
    modules = read_verilog(MODULE.replace("{body}", f"{MOVED[what]} assign o__valid = s;"))
    flow = DataFlow(modules, "net").of("t", {"i__payload": Bits(0xFF)})
    plain, tagged = Machine(modules, "t"), TaggedMachine(modules, "t", flow, tag_bits=TAG_BITS, fresh={})
    rng = random.Random(what)
    bits = {0: 0, tagged.ones: 1}  # by their tag
    tag = 1
    for _ in range(7):
        given = {"i__payload": rng.randrange(256), "n": rng.randrange(8), "s": rng.randrange(2)}
        tags = range(tag, tag + 8)
        bits |= {each: given["i__payload"] >> at & 1 for at, each in enumerate(tags)}
        tag += 8
        moved = given | {"i__payload": sum(each << at * TAG_BITS for at, each in enumerate(tags))}
        wanted = plain.step(*(given[port] for port in plain.inputs))[0]
        shown = tagged.step(*(moved[port] for port in tagged.inputs))[0]
        found = [bits[shown >> at * TAG_BITS & tagged.ones] for at in range(9)]
        assert sum(bit << at for at, bit in enumerate(found)) == wanted


def test_what_is_computed_is_no_tag():
    modules = read_verilog(MODULE.replace("{body}", "assign o__payload = { s, d + 8'h01 }; assign o__valid = s;"))
    flow = DataFlow(modules, "net").of("t", {"i__payload": Bits(0xFF)})
    machine = TaggedMachine(modules, "t", flow, tag_bits=TAG_BITS, fresh={})
    given = {"i__payload": 1, "n": 0, "s": 1}
    assert machine.step(*(given[port] for port in machine.inputs))[0] == machine.ones << 8 * TAG_BITS


def test_statements_are_joined():
    statements = {"v4": "(v3 + v2)", "v1": "(v9 & 1)", "v2": "(v9 & 1)", "v3": "v1", "v5": "w[v4]", "v6": "v5"}
    left, final = ordered(statements, ["v6 + v5", "v3"])
    space = {"v9": 5, "w": [10, 11, 12]}
    for variable, text in left.items():
        space[variable] = eval(text, {}, space)
    assert left == {"v2": "(v9 & 1)", "v5": "w[(v2 + v2)]"} or left == {"v1": "(v9 & 1)", "v5": "w[(v1 + v1)]"}
    assert eval(final("v6 + v5"), {}, space) == 24
    assert eval(final("v3"), {}, space) == 1


def test_what_depends_on_its_own_past_is_on_a_cycle():
    needs = {"v1": {"v1"}, "v2": {"v1"}, "v3": {"v4"}, "v4": {"v3"}, "v5": {"v6"}, "v6": set()}
    assert on_cycles(needs) == {"v1", "v3", "v4"}
