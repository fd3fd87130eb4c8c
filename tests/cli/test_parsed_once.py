"""Each command parses a model's file once, and a program in Python reads it anew each time."""

from __future__ import annotations

import contextlib
from collections import Counter

import numpy as np
import onnx
import pytest

import systoliq.onnx.network
from systoliq.cli.main import cli
from systoliq.explore.grid.subjects.workload import open_workload
from systoliq.onnx import Model, model_file

from ..onnx.network.networks import Builder
from ..onnx.onnx_models import write

LAYER = "yq = QLinearMatMul(xq, a_s, a_z, W, w_s, w_z, y_s, y_z)"
TWO = """t = QLinearMatMul(xq, a_s, a_z, W, w_s, w_z, y_s, y_z)
    yq = QLinearMatMul(t, y_s, y_z, V, w_s, w_z, y_s, y_z)"""
V = np.eye(5, dtype=np.int8)


@pytest.fixture
def parsed(monkeypatch):
    """How often each file was parsed."""
    counts: Counter[str] = Counter()
    count_pieces = model_file.count_pieces

    def counted(data, *others):
        counts[hash(data)] += 1
        return count_pieces(data, *others)

    monkeypatch.setattr(model_file, "count_pieces", counted)
    return lambda path: counts[hash(path.read_bytes())]


def run(*arguments: object) -> None:
    with contextlib.suppress(ValueError):  # bad input, after the model was read
        cli.main([str(each) for each in arguments], standalone_mode=False)


COMMANDS = {
    "layers": (TWO, ["layers", "{m}"]),
    "layers of one product": (LAYER, ["layers", "{m}"]),
    "emit a network": (TWO, ["emit", "{m}", "--out", "{out}"]),
    "emit one product": (LAYER, ["emit", "{m}", "--out", "{out}"]),
    "emit a node": (TWO, ["emit", "{m}#t", "--out", "{out}"]),
    "emit what is refused": (TWO.replace("yq = ", "s = ") + " yq = LogSoftmax(s)", ["emit", "{m}", "--out", "{out}"]),
    "compile": (TWO, ["compile", "{m}", "--out", "{out}", "--rows", "4", "--cols", "4", "--shape", "xq=1,12"]),
    "run": (TWO, ["run", "{m}", "--input", "{no_input}"]),
    "simulate with labels": (TWO, ["simulate", "{m}#t", "--input", "{a}"]),
    "explore with labels": (TWO, ["explore", "{m}#t", "--data", "{a}", "--out", "{out}"]),
    "explore a network by its bits": (TWO, ["explore", "{m}", "--bits", "8", "--data", "{no_input}"]),
    "partition": (TWO, ["partition", "{m}", "--out", "{out}"]),
}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_parses_its_model_once(command, tmp_path, parsed):
    nodes, arguments = COMMANDS[command]
    path = write(tmp_path / "m.onnx", nodes, rows="1", V=V)
    np.savez(tmp_path / "a.npz", a=np.ones((3, 12), np.uint8), labels=np.array([0, 1, 2]))
    np.savez(tmp_path / "no_input.npz", other=np.ones(3))
    files = {"m": path, "out": tmp_path / "out", "a": tmp_path / "a.npz", "no_input": tmp_path / "no_input.npz"}
    run(*(each.format(**files) for each in arguments))
    assert parsed(path) == 1


def test_quantize_parses_both_models_once(tmp_path, parsed):
    net = Builder(["N", 8])
    net.gemm(8, 6)
    model = net.model()
    model.graph.output[0].type.tensor_type.shape.SetInParent()
    model = onnx.shape_inference.infer_shapes(model)
    onnx.save(model, tmp_path / "float.onnx")
    run("quantize", tmp_path / "float.onnx", "--out", tmp_path / "q.onnx")
    assert parsed(tmp_path / "float.onnx") == 1
    assert parsed(tmp_path / "q.onnx") == 1


def test_python_reads_a_file_anew(tmp_path, parsed):
    path = write(tmp_path / "m.onnx", LAYER)
    first, second = Model.open(path), Model.open(path)
    assert parsed(path) == 2
    assert first is not second


def test_a_model_gives_products_and_network_of_one_parse(tmp_path, parsed):
    model = Model.open(write(tmp_path / "m.onnx", TWO, rows="M", V=V))
    assert [product.name for product in model.products] == ["t", "yq"]
    assert len(model.network().nodes) == 2
    assert model.layer("t")[0].k == 12
    assert model.following("t") == ["yq"]
    assert model.scale_notes() == []
    assert model.proto.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "M", "the batch of 1 is a copy's"
    assert parsed(tmp_path / "m.onnx") == 1


def test_the_shapes_of_a_workload(tmp_path, parsed):
    open_workload(str(write(tmp_path / "m.onnx", TWO, rows="1", V=V)))
    assert parsed(tmp_path / "m.onnx") == 1


def test_the_package_has_four_names():
    assert systoliq.onnx.__all__ == ["Model", "read_network", "read_onnx", "read_products"]
    assert systoliq.onnx.network.__all__ == ["Fate", "Reading", "Verdict"]  # parts of `Model.reading`
