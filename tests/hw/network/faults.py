"""Faults of a network's Verilog, text by text: those of `small_networks.residual` with one parallelism."""

from __future__ import annotations

import dataclasses
import re

from systoliq.hw.network.parallelism import Parallelism
from systoliq.hw.network.pipeline import Pipeline

_FIELDS = {"convolution0": (2, 2), "convolution1": (1, 2), "maxpool3": (2, 1), "dense5": (3, 1)}
PARALLELISM = {name: Parallelism(cols=cols, depth=depth) for name, (cols, depth) in _FIELDS.items()}
"""A parallelism that gives each fault its text."""

# name: (tensor that is wrong first, module of the network, pattern, replacement)
FAULTS = {
    "row of padding": ("t1", "s1_convolution1_window", r"y >= 3'h5", "1'h0"),
    "value of padding": ("t1", "s1_convolution1_window", r"flags_2\[1\] \?", "1'h0 ?"),
    "window's columns": ("t0", "s0_convolution0_window", r"round_1 == 1'h1", "round_1 == 1'h0"),
    "channels within a pixel": ("t1", "s1_convolution1_window", r"(address_move = .*) : 5'h01;", r"\1 : 5'h03;"),
    "stride": ("t3", "s3_maxpool3_window", r": 6'h39;", ": 6'h37;"),
    "channels of a beat": (
        "t1",
        "pipeline",
        r"(s1_convolution1 \(\s*\.clk\(clk\),\s*\.i__payload\()(\w+)\)",
        r"\1{ \2[16], \2[7:0], \2[15:8] })",
    ),
    "accumulation": ("t1", "s1_convolution1_pe_top", r"\.clear\(clear\)", ".clear(clear_next)"),
    "greatest": ("t3", "s3_maxpool3_maximum_4_of_2xs8", r"first \| ", "1'h0 | "),
    "table of a sum": ("t2", "s2_addition2_lane_b_table", r"word <= read__data", "word <= read__data + 17'd4096"),
    "weights": ("t5", "s5_dense5_weights_1_rom", r"= 8'h", "= ~8'h"),
    "a beat to one way twice": ("t2", "fork_2_of_9", r"assign o_1__valid = .*?;", "assign o_1__valid = i__valid;"),
    "a beat to one way never": ("t1", "fork_2_of_9", r"assign took\[0\] = .*?;", "assign took[0] = 1'h1;"),
}


def mutate(text, module, pattern, replacement):
    """`text` with the pattern replaced everywhere in one module; it must be there."""
    found = re.search(rf"^module network_{module}\(.*?^endmodule$", text, re.MULTILINE | re.DOTALL)
    assert found is not None, f"no module {module}"
    mutated, count = re.subn(pattern, replacement, found[0])
    assert count, f"{pattern} is not in module {module}"
    assert mutated != found[0]
    return text[: found.start()] + mutated + text[found.end() :]


def shallow(pipeline):
    """The pipeline with FIFOs that are too shallow before its joins."""
    joints = [dataclasses.replace(joint, waiting=tuple(2 for _ in joint.waiting)) for joint in pipeline.joints]
    return Pipeline(joints, inputs=pipeline.inputs, outputs=pipeline.outputs, cells=pipeline.cells)
