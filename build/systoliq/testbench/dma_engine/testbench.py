"""The plain Verilog testbench of a DMA engine: a driver's program, and memory behind four AXI4 ports."""

from __future__ import annotations

from systoliq.hw.dma.list_player import ADDRESS_BITS

from ...design.dma_engine.design import DmaEngineDesign
from ..driver import driver_parts, port_nets
from ..engine.stimulus import engine_stimulus
from ..frame import shell
from ..memory import MemoryReader, MemoryWriter
from ..text import calls, fill, literal
from .program import DmaProgram
from .testbench_text import BODY, PHASES, STEPS

__all__ = ["dma_engine_testbench"]

_PER_CYCLE = 16  # cycles that stalls make of one of a job, at the most
_PER_WORD = 30  # cycles of a word of a list


def dma_engine_testbench(design: DmaEngineDesign) -> str:
    """Return Verilog of module `<name>_tb`, which holds its jobs and needs nothing else."""
    jobs = engine_stimulus(design)
    program = DmaProgram(design, jobs)
    steps = list(program.steps())
    readers = [MemoryReader(f"m_axi_{name}", random_bit=bit) for name, bit in (("a", 3), ("b", 11), ("list", 21))]
    ports: list[MemoryReader | MemoryWriter] = [*readers, MemoryWriter("m_axi_y", random_bit=7)]
    nets = [port for port in design.ports if port["name"] not in ("clk", "rst", "m_axi_y_wready")]
    control = [port["name"] for port in design.ports if port["direction"] == "output"]
    control = [name for name in control if name == "irq" or name.endswith(("valid", "ready"))]
    bits = 8 * design.top.bus_bytes
    results = ((at, word) for at, word in enumerate(program.wanted) if word != program.first[at])
    body = fill(
        BODY,
        name=design.name,
        time_out=_PER_CYCLE * sum(job.cycles for job in jobs if not job.ahead) + _PER_WORD * program.whole.length // 4,
        bus_bytes=design.top.bus_bytes,
        words=len(program.first),
        **driver_parts(STEPS, len(steps), ADDRESS_BITS),
        wires="\n".join(port_nets(nets)),
        declarations="\n".join(port.declarations for port in ports),
        connections=",\n".join(f"    .{port['name']}({port['name']})" for port in design.ports),
        control=", ".join(control),
        in_reset="\n".join(port.in_reset for port in ports),
        step="\n".join(port.step for port in ports),
        contents="\n".join(
            [
                calls(f"m({literal(word, bits)});" for word in program.first),
                calls(f"y_word({at}, {literal(word, bits)});" for at, word in results),
                "    i = 0;",
                calls(steps),
            ]
        ),
    )
    kinds = "; ".join(f"{job.title}, {job.types}" for job in program.whole.jobs)
    story = (
        f"Operands, results and lists of jobs in memory: a list of all jobs ({kinds}), at odd places; then memory that "
        "answers with an error where A, B, Y or the list lies, and after each the driver's recovery and a list that is "
        "right. In the first two phases also registers read back, lists that are wrong, and resets and halts in the "
        "middle. After each list all of memory is compared: results with the golden model's, the rest with what it "
        "was before. Bursts must be aligned, whole beats, at most 16, and within 4 KiB."
    )
    return shell(name=design.name, story=story, phases=PHASES, body=body)
