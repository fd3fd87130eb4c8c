"""The sidecar's description of an engine: meanings of its ports, configuration, packing, cycles."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.host import EnginePacking

from ...design.facts import RESET, format_facts
from .register_facts import register_facts

if TYPE_CHECKING:
    from ...design.engine.design import EngineDesign

__all__ = ["MEANINGS", "config_facts", "describe", "stream_notes"]

_WRITE_ADDRESS, _WRITE, _ANSWER = "AXI4-Lite, address of a write", "AXI4-Lite, data of a write", "AXI4-Lite, its answer"
_READ_ADDRESS, _READ = "AXI4-Lite, address of a read", "AXI4-Lite, what was read"

MEANINGS = {
    "rst": "synchronous reset, active high; the contents of the tables may be lost",
    **{
        f"s_axi_ctrl_{channel}{signal}": f"{title}: {text}"
        for channel, title, signals in (
            ("aw", _WRITE_ADDRESS, {"addr": "in bytes, a multiple of 4, see registers.md", "prot": "not looked at"}),
            ("w", _WRITE, {"data": "see registers.md", "strb": "must be all ones"}),
            ("b", _ANSWER, {"resp": "OKAY, or SLVERR where there is no such register"}),
            ("ar", _READ_ADDRESS, {"addr": "in bytes, a multiple of 4, see registers.md", "prot": "not looked at"}),
            ("r", _READ, {"data": "see registers.md", "resp": "OKAY, or SLVERR where there is no such register"}),
        )
        for signal, text in (signals | {"valid": "it is offered", "ready": "it is taken"}).items()
    },
    "s_axis_a_tlast": "the last word of A of a job",
    "s_axis_b_tlast": "the last word of B of a job",
    "s_axis_b_tready": "the beat of B is taken",
    "m_axis_y_tkeep": "bytes of tdata that count, always the lowest",
    "m_axis_y_tlast": "the last beat of a job",
    "irq": "interrupt, active high, for what the register INTERRUPT names",
}


def describe(design: EngineDesign) -> dict[str, Any]:
    """Ready for JSON; see `Design.describe`."""
    config = design.config
    rows, cols, depth = config.rows, config.cols, config.depth
    shapes = [(1, 1, 1), (rows, 16 * depth, cols), (2 * rows + 1, 16 * depth, 2 * cols + 1)]
    return {
        "computes": f"{_operators(config)}, one product A [M, K] x B [K, N] a job: registers.md and systoliq_engine.h "
        "are its registers",
        "engine": config_facts(config),
        "packing": EnginePacking(config).facts(),
        "latency": {
            "cycles": design.cycles(1, 1, 1) - 1,
            "from": "the cycle in which the first word of A or B is taken, of a job of one element",
            "to": "the cycle in which m_axis_y_tvalid rises; for other jobs see cycle_model",
        },
        "tready": {
            stream: f"1 while a job that was started still wants words of {stream[-1].upper()}, and its buffer of "
            f"{words} has room; it looks at no other port in the same cycle"
            for stream, words in (("s_axis_a", config.a_words), ("s_axis_b", config.b_words))
        },
        "reset": RESET,
        "cycle_model": {
            "meaning": "cycles of a job from the first word of A or B taken to the last beat of Y taken, both "
            "included, without stalls; the register BUSY_CYCLES counts the same",
            "examples": [{"m": m, "k": k, "n": n, "cycles": design.cycles(m, k, n)} for m, k, n in shapes],
        },
        "notes": stream_notes(config),
        "registers": register_facts(design),
        "vectors": {
            "jobs": [
                {"title": each.title, "m": each.job.m, "k": each.job.k, "n": each.job.n, "cycles": each.cycles}
                for each in design.stimulus
            ]
        },
    }


def _operators(config: EngineConfig) -> str:
    if not config.float8:
        return "MatMulInteger and QLinearMatMul as ONNX defines them"
    return "QLinearMatMul of float8, exact sums times a scale, rounded once"


def config_facts(config: EngineConfig) -> dict[str, Any]:
    """Sizes, dataflow and cells, ready for JSON; of float8 also the formats, the bits of sums, and of their flags."""
    facts = {name: value for name, value in dataclasses.asdict(config).items() if name not in ("a", "b", "y")}
    if not config.float8:
        return facts
    del facts["max_rows"]
    formats = {name: format_facts(form) for name, form in zip("aby", config.float8, strict=True)}
    sums = {"accumulator_bits": config.array.accumulator_bits, "flag_bits": config.array.flag_bits}
    return facts | {"formats": formats} | sums


def stream_notes(config: EngineConfig) -> list[str]:
    """Of each stream whose width ordinary AXI DMAs do not take: powers of two from 8 to 1024."""
    widths = {
        "s_axis_a": config.rows * config.depth * 8,
        "s_axis_b": config.cols * config.depth * 8,
        "m_axis_y": config.lanes * 32,
    }
    return [
        f"{name} has {bits} bits; AXI DMAs take powers of two from 8 to 1024"
        for name, bits in widths.items()
        if bits & (bits - 1) or bits > 1024
    ]
