"""Would we notice? Faults put into the emitted Verilog by hand, each of which cosimulation must find.

The layer rescales by 1/4: a quarter of the outputs are exact ties, and a rounding that is wrong only there shows.
"""

from __future__ import annotations

import functools
import re

import numpy as np
import pytest

from systoliq.golden import MatMulLayer
from systoliq.golden.requantization import Requantization
from systoliq.hw import ArrayConfig, Dense
from systoliq.sim.cosimulation import Run, cosimulate_runs, dense_verilog
from systoliq.sim.tools import find, missing_text

K, N, ROWS, DEPTH = 12, 6, 2, 2
BITS = 8 * DEPTH  # of a row's operands in a beat

# name: (module below `dense`, pattern, replacement)
FAULTS = {
    # stuck-at
    "stuck bit on the way of A": ("pe_top", r"a_next <= a;", "a_next <= a | 8'h02;"),
    "stuck bit in the drain": ("pe", r"\bdrain_next <= ([^;]*);", r"drain_next <= (\1) | 32'd8;"),
    "stuck bit in the output": ("requantizer", r"\by <= ([^;]*);", r"y <= (\1) & 8'hfe;"),
    "stuck last": ("", r"assign m_axis_y_tlast = [^;]*;", "assign m_axis_y_tlast = 1'b0;"),
    # rounding
    "rounded down": ("round_near_tie", r"\bup <= [^;]*;", "up <= 1'b0;"),
    "ties rounded up": ("round_near_tie", r"\? whole_1\[1\] :", "? whole_1[0] :"),
    "ties rounded to odd": ("round_near_tie", r"\? whole_1\[1\] :", "? ~whole_1[1] :"),
    # swapped operands
    "weight columns swapped": (
        "dense",
        r"dense_weights_([01]) weights_",
        lambda m: f"dense_weights_{1 - int(m[1])} weights_",
    ),
    "rows of A swapped": (
        "",
        r"s_axis_a_tdata }",
        f"s_axis_a_tdata[{BITS - 1}:0], s_axis_a_tdata[{2 * BITS - 1}:{BITS}] }}",
    ),
    "neighbours in depth swapped": ("pe_top", r"\.a\(a\)", ".a({a[7:0], a[15:8]})"),
    # timing
    "capture one cycle late": ("pe_top", r"\bcapture \? ", "capture_next ? "),
    "clear one cycle late": ("pe_top", r"\.clear\(clear\)", ".clear(clear_next)"),
    # the bus
    "payload changes while it waits": (
        "",
        r"assign m_axis_y_tdata = ([^;]*);",
        r"assign m_axis_y_tdata = m_axis_y_tready ? \1 : 0;",
    ),
}


@functools.cache
def design() -> tuple[Dense, str]:
    rng = np.random.default_rng(0)
    layer = MatMulLayer(
        name="mutant",
        b=rng.integers(-7, 8, (K, N)).astype(np.int8),
        a_scale=1.0,
        a_zero_point=np.int8(0),
        b_scale=1.0,
        b_zero_point=np.int8(0),
        y_scale=4.0,
        y_zero_point=np.int8(3),
        bias=rng.integers(-100, 100, N).astype(np.int32),
    )
    requantization = Requantization.from_scales(layer.scale, layer.y_zero_point, layer.y_format)
    dense = Dense(layer, requantization, ArrayConfig(rows=ROWS, cols=4, depth=DEPTH))
    return dense, dense_verilog(dense)


def mutate(text: str, module: str, pattern: str, replacement) -> str:
    """`text` with the pattern replaced everywhere in one module, and in no other; it must be there."""
    name = f"dense_{module}" if module else "dense"
    found = re.search(rf"^module {name}\(.*?^endmodule$", text, re.MULTILINE | re.DOTALL)
    assert found is not None, f"no module {name}"
    mutated, count = re.subn(pattern, replacement, found[0])
    assert count, f"{pattern} is not in module {name}"
    assert mutated != found[0]
    return text[: found.start()] + mutated + text[found.end() :]


def simulate(verilog: str) -> list:
    if not (tool := find("icarus")).found:
        pytest.skip(missing_text(tool))
    a = np.random.default_rng(1).integers(-20, 21, (12, K)).astype(np.int8)
    runs = [Run(a=a, bulk=False), Run(a=a, stalls=(0.2, 0.5), bulk=False), Run(a=a, stalls=(0.2, 0.5), bulk=True)]
    return cosimulate_runs(design()[0], runs, simulator="icarus", verilog=verilog)


@pytest.mark.simulator
def test_sound_design_passes():
    for result in simulate(design()[1]):
        result.check()


@pytest.mark.sampled(99)
@pytest.mark.simulator
@pytest.mark.parametrize("fault", FAULTS)
def test_fault_is_found(fault):
    unstalled, stalled, bulk = simulate(mutate(design()[1], *FAULTS[fault]))
    assert not stalled.passed
    assert not bulk.passed
    if fault == "payload changes while it waits":
        assert "the payload changed" in stalled.violations[0]
    elif fault == "stuck last":
        assert "last must be 1" in unstalled.violations[0]
    else:
        assert unstalled.mismatches
        assert unstalled.tensors["y"].differences
