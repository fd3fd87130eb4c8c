"""Labels in an input archive, as `explore` takes them: `simulate` and `run` show the accuracy, or say what is wrong."""

from __future__ import annotations

import json

import numpy as np
import pytest

from systoliq.golden import MatMulLayer

from ..onnx.onnx_models import K, write
from ..onnx.onnx_models import run as onnxruntime_run
from .refused import assert_refused

LAYER = "[fc] yq = QLinearMatMul(xq, a_s, a_z, W, w_s, w_z, y_s, y_z)"
WRONG = {
    "too few": (np.array([0, 1]), "labels must be one for each of 6 inputs, not 2"),
    "no class": (np.array([0, 1, 2, 3, 4, 5]), "labels must be 0 to 4, the output's classes, not 5"),
    "no integers": (np.ones(6), "labels must be integers of at least 0 of shape [M], not float64 of the shape [6]"),
}


@pytest.fixture
def rows():
    return np.random.default_rng(5).integers(0, 256, (6, K)).astype(np.uint8)


@pytest.fixture
def path(tmp_path):
    return write(tmp_path / "m.onnx", LAYER, rows="6")


@pytest.mark.sampled(99)
@pytest.mark.simulator
@pytest.mark.parametrize(("command", "key"), [("simulate", "a"), ("run", "xq")])
def test_accuracy(command, key, call, path, rows, save, tmp_path):
    """Four of six labels are where onnxruntime's result is greatest."""
    (y,), _ = onnxruntime_run(path, {"xq": rows})
    labels = np.argmax(y, axis=1)
    labels[:2] = (labels[:2] + 1) % 5
    archive = save("x.npz", **{key: rows}, labels=labels)
    words = ["--input", archive, "--report", tmp_path / "r.json", "--simulator", "icarus"]
    result = call(command, path, *words)
    assert result.exit_code == 0, (result.output, result.exception)
    assert "accuracy 66.67% of 6 labels" in result.stdout
    assert json.loads((tmp_path / "r.json").read_text())["accuracy"] == pytest.approx(4 / 6)


@pytest.mark.sampled(3)
@pytest.mark.simulator
@pytest.mark.parametrize(("command", "key"), [("simulate", "a"), ("run", "xq")])
@pytest.mark.parametrize(("labels", "text"), WRONG.values(), ids=WRONG)
def test_labels_that_do_not_fit(labels, text, command, key, call, path, rows, save):
    archive = save("x.npz", **{key: rows}, labels=labels)
    assert_refused(call(command, path, "--input", archive, "--simulator", "icarus"), f"{archive}: {text}")


def test_labels_of_an_array(call, save):
    a, b = np.ones((3, 4), np.int8), np.ones((4, 2), np.int8)
    archive = save("x.npz", a=a, b=b, labels=np.array([0, 1, 0]))
    assert_refused(call("simulate", "array", "--input", archive), "labels cannot be used with the source array")


def test_labels_of_a_layer_that_is_not_the_last(call, save, tmp_path):
    nodes = LAYER.replace("yq =", "h =") + " [second] yq = QLinearMatMul(h, y_s, y_z, V, w_s, w_z, y_s, y_z)"
    path = write(tmp_path / "m.onnx", nodes, V=np.ones((5, 5), np.int8))
    archive = save("x.npz", a=np.zeros((2, K), np.uint8), labels=np.array([0, 1]))
    result = call("simulate", f"{path}#fc", "--input", archive)
    assert_refused(result, f"not for '{path}#fc', whose outputs go into 'second'")


def test_labels_of_a_layer_file(call, arrays, save):
    """They are checked before anything is simulated."""
    layer = save("layer.npz", **arrays)
    a = np.zeros((7, MatMulLayer.load(layer).k), np.uint8)
    result = call("simulate", layer, "--input", save("x.npz", a=a, labels=np.array([1])))
    assert_refused(result, "labels must be one for each of 7 inputs, not 1")
