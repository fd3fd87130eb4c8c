"""Large memory blocks: which memories of a design get one, and what a plan counts."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.design.network.estimate import Estimate, blocks_of, estimate
from systoliq.golden import INT8
from systoliq.golden.network import MatrixProduct, Tensor
from systoliq.hw.network.parallelism import Parallelism
from systoliq.hw.network.product import StreamedProduct
from systoliq.hw.verilog import Verilog, emit_verilog, files_of
from systoliq.synth import open_target
from systoliq.synth.families import FAMILIES
from systoliq.synth.families.large_memories import in_large_blocks

MARK = '(* ram_style = "huge" *)'
NEXUS = FAMILIES["nexus"]


def module(name: str, bits: int, words: int, *, users: int = 1) -> str:
    """A module `name` with a memory, and a module of each of its `users` that has an instance."""
    memory = f"module {name}(\n  input wire clk\n);\n  reg [{bits - 1}:0] memory [{words - 1}:0];\nendmodule\n"
    used = "".join(f"module {name}_user{i}(\n);\n  {name} ram (\n  );\nendmodule\n" for i in range(users))
    return memory + used


def marked(verilog: str) -> list[str]:
    """The names of the modules with a memory that is marked."""
    return [text.split("(")[0] for text in verilog.split("module ")[1:] if MARK in text]


def test_the_two_that_save_most_are_marked() -> None:
    text = module("small", 8, 2048) + module("a", 8, 8192) + module("b", 16, 9216) + module("c", 16, 10240)
    assert marked(in_large_blocks(text, NEXUS)) == ["b", "c"]
    assert in_large_blocks(text, NEXUS).replace(f"  {MARK}\n", "") == text


@pytest.mark.parametrize(
    ("bits", "words", "fits"), [(32, 16384, True), (33, 16384, False), (32, 16385, False), (9, 4096, False)]
)
def test_what_a_large_block_holds(bits: int, words: int, fits: bool) -> None:
    assert bool(marked(in_large_blocks(module("m", bits, words), NEXUS))) == fits


def test_a_memory_with_several_instances_is_left() -> None:
    assert marked(in_large_blocks(module("m", 16, 9216, users=2), NEXUS)) == []


def test_files_of_memories_stay_with_the_text() -> None:
    text = Verilog(module("m", 16, 9216), {"m.mem": b"0"})
    found = in_large_blocks(text, NEXUS)
    assert (marked(found), files_of(found)) == (["m"], {"m.mem": b"0"})


@pytest.mark.parametrize("family", [name for name in FAMILIES if name != "nexus"])
def test_families_without_large_blocks_change_nothing(family: str) -> None:
    text = module("m", 16, 9216)
    assert in_large_blocks(text, FAMILIES[family]) is text


def test_a_plan_counts_the_blocks_that_are_left() -> None:
    estimates = [Estimate(10, 30, (9, 9)), Estimate(10, 12, (8,)), Estimate(10, 5)]
    assert blocks_of(estimates, open_target("nexus-40k")) == 47 - 18
    assert blocks_of(estimates, open_target("ecp5-25k")) == 47


@pytest.mark.parametrize(("depth", "blocks"), [(1, (8,)), (2, ())])
def test_a_plan_counts_memories_as_synthesis_marks_them(depth: int, blocks: tuple[int, ...]) -> None:
    """With two products a cycle, the matrix lies in two instances of one module."""
    shapes = {"a": (1, 1, 32), "b": (1, 32, 256), "y": (1, 1, 256)}
    a, b, y = (
        Tensor(name=name, shape=shape, format=INT8, scale=np.float32(0.02), zero_point=0)
        for name, shape in shapes.items()
    )
    node = MatrixProduct(name="p", inputs=(a, b), output=y)
    found = estimate(node, Parallelism(depth=depth), "nexus")
    assert found is not None
    assert found.large == blocks
    stage = StreamedProduct(node, cells="nexus", lane_cells="nexus", kind="product", depth=depth)
    assert len(marked(in_large_blocks(emit_verilog(stage, "product"), NEXUS))) == len(blocks)
