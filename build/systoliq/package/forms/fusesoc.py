"""The form for FuseSoC: a core description, CAPI2 with the flow API."""

from __future__ import annotations

from collections.abc import Iterator

from systoliq.hw.cells import PLAIN_CELLS

from ...synth.families import FAMILIES
from .block import LIBRARY, VENDOR, VERSION, Block

__all__ = ["fusesoc_core"]


def fusesoc_core(block: Block) -> str:
    """The text of the core `systoliq:blocks:NAME`.

    The target `default` is for a design that depends on the block: it has the Verilog, Verilator's waivers, and models
    of vendor cells, which are tagged for simulation alone.
    """
    return "\n".join([*_head(block), *_filesets(block), *_parameters(), *_targets(block), ""])


def _head(block: Block) -> Iterator[str]:
    core = f"{VENDOR}:{LIBRARY}:{block.name}"
    yield "CAPI=2:"
    yield f"# fusesoc --cores-root . run --target sim {core}    (sim_verilator, lint, synth_...)"
    yield "# The testbench must print PASS; if it prints FAIL, the run fails, too. Written by systoliq."
    yield f"name: {core}:{VERSION}"
    yield f'description: "{block.kind}: {_quotable(block.computes)}"'


def _quotable(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _filesets(block: Block) -> Iterator[str]:
    yield "filesets:"
    yield "  rtl:"
    yield f"    files: [{block.rtl}: {{file_type: verilogSource-2005}}]"
    if block.models:
        models = ", ".join(f"{file}: {{file_type: verilogSource-2005, tags: [simulation]}}" for file in block.models)
        yield "  models:"
        yield f"    files: [{models}]"
    if block.memories:
        yield "  memories:  # read from the tool's working directory"
        yield "    files:"
        yield from (f"      - {file}: {{file_type: user, copyto: {file}}}" for file in block.memories)
    yield "  waivers:"
    yield f"    files: [{block.waivers}: {{file_type: vlt}}]"
    yield "  testbench:"
    yield f"    files: [{block.testbench}.v: {{file_type: verilogSource-2005}}]"


def _parameters() -> Iterator[str]:
    yield "parameters:"
    yield "  stop:"
    yield "    datatype: bool"
    yield "    default: true"
    yield "    paramtype: plusarg"
    yield "    description: end a simulation that fails with an error"


def _targets(block: Block) -> Iterator[str]:
    rtl = ["rtl", *(["memories"] if block.memories else [])]
    models = ["models"] if block.models else []
    simulated = [*models, *rtl, "testbench"]
    yield "targets:"
    yield "  default:"
    yield f'    filesets: [{", ".join([*models, *rtl])}, "tool_verilator? (waivers)"]'
    yield "  sim:"
    yield "    description: the testbench under Icarus Verilog"
    yield "    flow: sim"
    yield "    flow_options: {tool: icarus, iverilog_options: [-g2005], vvp_options: [-N]}"
    yield from _target(simulated, block.testbench, "stop")
    yield "  sim_verilator:"
    yield "    description: the testbench under Verilator"
    yield "    flow: sim"
    yield "    flow_options: {tool: verilator, mode: binary, verilator_options: [--timing]}"
    yield from _target(["waivers", *simulated], block.testbench, "stop")
    yield "  lint:"
    yield "    description: Verilator finds nothing beyond the waivers"
    yield "    flow: lint"
    yield "    flow_options: {tool: verilator, verilator_options: [-Wall]}"
    yield from _target(["waivers", *models, *rtl], block.name)
    for family in _families(block.cells):
        yield f"  synth_{family}:"
        yield f"    description: a netlist by Yosys, for {family}"
        yield "    flow: generic"
        yield f"    flow_options: {{tool: yosys, arch: {family}, output_format: json}}"
        yield from _target(rtl, block.name)


def _target(filesets: list[str], top: str, *parameters: str) -> Iterator[str]:
    yield f"    filesets: [{', '.join(filesets)}]"
    if parameters:
        yield f"    parameters: [{', '.join(parameters)}]"
    yield f'    toplevel: "{top}"'  # `on` and `null` are words of YAML


def _families(cells: str) -> tuple[str, ...]:
    """Return the architectures that Edalize's Yosys maps a set of cells to; of plain logic, all."""
    suitable = [family for family in FAMILIES.values() if cells == PLAIN_CELLS or cells in family.sets_of_cells]
    return tuple(family.architecture for family in suitable if family.architecture)
