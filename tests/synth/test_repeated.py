"""Modules that stand many times: found by their number below the top, and mapped once without a change of registers."""

from __future__ import annotations

import pytest

from systoliq.api import ArrayOptions, Design, open_source
from systoliq.synth import flow, yosys
from systoliq.synth.repeated import repeated_modules

MODULE = "module {name}(\n  clk\n);\n{body}endmodule\n"


def text(**modules: dict[str, int]) -> str:
    """Verilog of modules, by what each holds."""
    made = []
    for name, inside in modules.items():
        lines = [
            f"  {kind} {kind}_{i} (\n    .clk(clk)\n  );\n" for kind, count in inside.items() for i in range(count)
        ]
        made.append(MODULE.format(name=name, body="".join(lines)))
    return "".join(made)


def test_many_below_the_top_count_without_what_is_inside_them() -> None:
    verilog = text(top={"column": 4, "edge": 1}, column={"element": 4, "head": 1}, element={"mac": 1}, head={"mac": 1},
                   mac={"MULT18X18D": 1}, edge={})  # fmt: skip
    assert repeated_modules(verilog, "top") == ["element"]
    assert repeated_modules(verilog, "column") == []
    assert repeated_modules(text(top={"lane": 15}, lane={"cell": 2}, cell={}), "top") == ["cell"]
    assert repeated_modules(text(top={"lane": 15}, lane={}), "top") == []


def gates(source: Design) -> tuple[int, int]:
    report = source.synthesize("generic")
    assert report.gates is not None
    return report.ff, report.gates


@pytest.mark.slow
def test_an_array_has_the_same_registers_and_about_the_same_gates(monkeypatch) -> None:
    array = open_source("array", ArrayOptions(rows=4, cols=4, a_bits=3, b_bits=3))
    assert yosys.mapped_apart(array.verilog, array.name, flow.open_target("generic"))
    apart = gates(array)
    monkeypatch.setattr(yosys, "repeated_modules", lambda verilog, top: [])
    registers, flat = gates(array)
    assert apart[0] == registers
    assert abs(apart[1] - flat) < 0.05 * flat
