"""Waivers for Verilator's lint of the emitted Verilog: habits of Yosys and Amaranth, each with its reason."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["WAIVERS", "verilator_waivers"]

WAIVERS = {
    "DECLFILENAME": "all kinds of block stand in one file, which is named after the top",
    "PROCASSINIT": "registers have an initial value, which an FPGA loads, and are assigned in a process",
    "UNUSEDSIGNAL": "Yosys names the whole result of an operator of which only some bits go on",
    "WIDTHEXPAND": "operands are extended to the width of their context, by the rules that Yosys writes for",
    "WIDTHTRUNC": "`!vector` stands for `vector == 0`, and a shift that selects a part is wider than the part",
    "CASEOVERLAP": "Yosys writes a priority as `casez` in which earlier items win",
    "VARHIDDEN": "Yosys names the inputs of a function that chooses a, b and s, whatever the ports of its module are",
}

_OF_VENDOR_CELLS = {"PINMISSING": "vendor cells have outputs, and inputs with a default, that nobody needs here"}


def verilator_waivers(name: str, models: Sequence[str]) -> str:
    """The text of a Verilator control file for the Verilog of module `name`; `models` are files with vendor cells."""
    command = " ".join([f"{name}.vlt", *models, f"{name}.v"])
    lines = [
        "`verilator_config",
        "",
        f"// For {name}.v. This finds nothing: verilator --lint-only -Wall --top-module {name} {command}",
    ]
    for rule, reason in (WAIVERS | (_OF_VENDOR_CELLS if models else {})).items():
        lines += [f"// {reason}", f'lint_off -rule {rule} -file "*{name}.v"']
    for file in models:
        lines += ["// Models of vendor cells, for simulation", f'lint_off -file "*{file}"']
    return "\n".join(lines) + "\n"
