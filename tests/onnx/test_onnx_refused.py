"""What of an ONNX model is not taken: one line that names the file, the node and the reason, and no traceback."""

from __future__ import annotations

import sys

import onnx
import pytest

from ..cli.refused import assert_refused
from .onnx_models import write
from .onnx_nodes import QLINEAR
from .refused_nodes import NODES


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("graph", "changes", "text"), NODES.values(), ids=NODES)
def test_a_node_that_is_not_taken_says_why(graph, changes, text, call, tmp_path):
    path = write(tmp_path / "model.onnx", graph, **changes)
    result = call("emit", path, "--out", tmp_path / "out")
    assert_refused(result, text)
    assert f"error: {path}: " in result.stderr
    assert [item.name for item in tmp_path.iterdir()] == ["model.onnx"]


FILES = {
    "empty": (b"", "must be a valid ONNX model, and is empty"),
    "text": (b"not a model, but a text\n", "must be a valid ONNX model ("),
    "archive": (b"PK\x03\x04" + bytes(100), "must be a valid ONNX model ("),
}


@pytest.mark.parametrize("command", [["layers"], ["emit", "--out", "{}/out"]], ids=["layers", "emit"])
@pytest.mark.parametrize(("content", "text"), FILES.values(), ids=FILES)
def test_a_file_that_is_no_model(content, text, command, call, tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    assert_refused(call(*(part.format(tmp_path) for part in command), path), text)


OTHERS = {
    "m.tflite": (b"\x1c\0\0\0TFL3", "a TensorFlow Lite model; convert it: python -m tf2onnx.convert --tflite "),
    "m.h5": (b"\x89HDF\r\n\x1a\n", "a Keras model; export it: model.export('model.onnx', format='onnx')"),
    "m.keras": (b"PK\x03\x04" + bytes(20), "a Keras model; export it: "),
    "m.pt": (b"PK\x03\x04" + bytes(20), "a PyTorch model; export it: torch.onnx.export(model, (x,), 'model.onnx')"),
}


@pytest.mark.parametrize("command", [["layers"], ["emit", "--out", "{}/out"]], ids=["layers", "emit"])
@pytest.mark.parametrize("name", OTHERS)
def test_a_model_of_another_framework(name, command, call, tmp_path):
    content, text = OTHERS[name]
    (tmp_path / name).write_bytes(content)
    result = call(*(part.format(tmp_path) for part in command), tmp_path / name)
    assert_refused(result, f"{name}: must be an ONNX model, not {text}")


def test_a_file_that_is_cut_off(call, tmp_path):
    path = write(tmp_path / "model.onnx", QLINEAR)
    path.write_bytes(path.read_bytes()[:-40])
    assert_refused(call("layers", path), "model.onnx: must be a valid ONNX model (Error parsing message")


@pytest.mark.parametrize("source", ["model.onnx", "model.onnx#fc"])
def test_a_file_that_is_missing(source, call, tmp_path):
    assert_refused(call("emit", tmp_path / source, "--out", tmp_path / "out"), "model.onnx: there is no such file")


def test_data_that_are_missing(call, tmp_path):
    path = write(tmp_path / "model.onnx", QLINEAR)
    model = onnx.load(path)
    onnx.save(model, path, save_as_external_data=True, location="weights.bin", size_threshold=0)
    (tmp_path / "weights.bin").unlink()
    assert_refused(call("emit", path, "--out", tmp_path / "out"), "weights.bin")


def test_without_onnx_the_error_says_what_to_install(call, tmp_path, monkeypatch):
    path = write(tmp_path / "model.onnx", QLINEAR)
    monkeypatch.setitem(sys.modules, "onnx", None)
    result = call("emit", path, "--out", tmp_path / "out")
    assert result.exit_code == 1
    assert "error: onnx is not installed; it is needed for reading ONNX models" in result.stderr
    assert "pip install 'systoliq[onnx]'" in result.stderr
