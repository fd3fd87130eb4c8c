"""The plain Verilog testbench of the engine: a driver's program, the streams, and golden's answers byte for byte."""

from __future__ import annotations

from systoliq.hw.engine import ADDRESS_BITS
from systoliq.hw.engine.float8_registers import map_of

from ...design.engine.design import EngineDesign
from ..beats import Beat
from ..driver import driver_parts, port_nets
from ..frame import shell
from ..streams import PAUSES, Receiver, Sender
from ..text import calls, fill, literal
from .program import EngineProgram
from .stimulus import engine_stimulus
from .testbench_text import BODY, PHASES, STEPS

__all__ = ["engine_testbench"]


def engine_testbench(design: EngineDesign) -> str:
    """Return Verilog of module `<name>_tb`, which holds its jobs and needs nothing else."""
    config, jobs = design.config, engine_stimulus(design)
    program = EngineProgram(config, jobs, design.engine.constants())
    width = {port["name"]: port["width"] for port in design.ports}
    senders = [_sender(program.a_beats, "a", 3, width), _sender(program.b_beats, "b", 19, width)]
    keep = width["m_axis_y_tkeep"]
    control = next(register for register in map_of(config).registers if register.name == "CONTROL")
    receiver = Receiver({"tdata": 8 * keep, "tkeep": keep, "tlast": 1})
    steps = list(program.steps())
    y_bytes = program.y_bytes
    longest = max((0 if job.ahead else job.cycles) + len(job.a_beats) + len(job.b_beats) for job in jobs)
    body = fill(
        BODY,
        name=design.name,
        # a word in 12 cycles with the senders' stalls, a beat of Y in 16 with the receiver's; pauses in a row
        time_out=24 * longest + 32 * max(len(job.y_bytes) for job in jobs) + 2 * PAUSES,
        keep=keep,
        **driver_parts(STEPS, len(steps), ADDRESS_BITS),
        bytes=-(-len(y_bytes) // 32) * 32,
        declarations="\n".join([*(sender.declarations for sender in senders), receiver.declarations]),
        tasks="\n".join(sender.task for sender in senders),
        wires="\n".join(port_nets(port for port in design.ports if _is_driven(port["name"]))),
        connections=",\n".join(f"    .{name}({name})" for name in width),
        control=", ".join(_control(design)),
        control_register=literal(control.offset, ADDRESS_BITS),
        reset="\n".join([*(sender.in_reset for sender in senders), receiver.reset]),
        stop="\n".join(sender.reset for sender in senders),
        step="\n".join([*(sender.step for sender in senders), receiver.step]),
        contents="\n".join(
            [
                *(sender.contents for sender in senders),
                "    i = 0;",
                calls(
                    f"b32({literal(int.from_bytes(y_bytes[at : at + 32], 'little'), 256)});"
                    for at in range(0, len(y_bytes), 32)
                ),
                "    i = 0;",
                calls(steps),
            ]
        ),
    )
    kinds = "; ".join(
        f"{index}: {job.title}, M = {job.job.m}, K = {job.job.k}, N = {job.job.n}, {job.types}"
        for index, job in enumerate(jobs)
    )
    story = (
        f"The driver's steps for jobs one after the other ({kinds}); then a job and at once the same again, streams "
        "that end early or late, a start while busy, clears and resets of 1 to 3 cycles in the middle, each followed "
        "by a whole job. In the first two phases also registers read back, each error that settings make, and a "
        "receiver that stops until A's tready falls, where A is longer than the engine holds, or with each number of "
        "beats left, jobs behind one that was cleared, and refused ones behind another, the last entries of the "
        "tables, and the beginning of a job whose M has 16 bits; in the first alone all but one of the jobs of sums "
        "near ties, a K of 16 bits, whose words come again and again, and a clear and a reset in every cycle of a "
        "short job. Every byte of Y is compared with the golden model's, and BUSY_CYCLES and OUTPUT_STALLS with what "
        "is counted here."
    )
    return shell(name=design.name, story=story, phases=PHASES, body=body)


def _is_driven(name: str) -> bool:
    """True if the program drives or reads a port: not for streams, clock and reset."""
    return name not in ("clk", "rst") and "axis" not in name


def _sender(beats: list[Beat], letter: str, random_bit: int, width: dict[str, int]) -> Sender:
    """Sender of `beats` to one of the engine's streams, which stalls and pauses."""
    tdata = width[f"s_axis_{letter}_tdata"]
    return Sender(letter, beats, tdata, has_last=True, random_bit=random_bit, end=f"{letter}_end", pauses=True)


def _control(design: EngineDesign) -> list[str]:
    """Outputs that must be 0 or 1 in every cycle."""
    outputs = [port["name"] for port in design.ports if port["direction"] == "output"]
    return [name for name in outputs if name == "irq" or name.endswith(("valid", "ready"))]
