"""The sidecar's description of an engine: configuration, packing, cycles."""

from __future__ import annotations

from typing import Any

from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.host import EnginePacking

from ...design.engine.design import EngineDesign
from ...design.engine.facts import config_facts, stream_notes
from ...design.facts import RESET
from ...testbench.engine.stimulus import engine_stimulus
from .register_facts import register_facts

__all__ = ["describe_engine"]


def describe_engine(design: EngineDesign) -> dict[str, Any]:
    """Return the description for `describe`."""
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
                for each in engine_stimulus(design)
            ]
        },
    }


def _operators(config: EngineConfig) -> str:
    if not config.float8:
        return "MatMulInteger and QLinearMatMul as ONNX defines them"
    return "QLinearMatMul of float8, exact sums times a scale, rounded once"
