"""Waivers for Verilator's lint of the emitted Verilog: habits of Yosys and Amaranth, each with its reason."""

from __future__ import annotations

__all__ = ["WAIVERS", "verilator_waivers"]

WAIVERS = {
    "DECLFILENAME": "all kinds of block stand in one file, which is named after the top",
    "PROCASSINIT": "registers have an initial value, which an FPGA loads, and are assigned in a process",
    "UNUSEDSIGNAL": "Yosys names the whole result of an operator of which only some bits go on",
    "WIDTHEXPAND": "operands are extended to the width of their context, by the rules that Yosys writes for",
    "WIDTHTRUNC": "`!vector` stands for `vector == 0`, and a shift that selects a part is wider than the part",
    "CASEOVERLAP": "Yosys writes a priority as `casez` in which earlier items win",
}


def verilator_waivers(verilog_name: str) -> str:
    """The text of a Verilator control file for the Verilog file `verilog_name` alone."""
    lines = [
        "`verilator_config",
        "",
        f"// For {verilog_name}: lint with `verilator --lint-only -Wall THIS_FILE FILE.v`.",
    ]
    for rule, reason in WAIVERS.items():
        lines += [f"// {reason}", f'lint_off -rule {rule} -file "*{verilog_name}"']
    return "\n".join(lines) + "\n"
