"""Models with constants in a file beside them, in a folder that is not the current one."""

from __future__ import annotations

import json

import numpy as np
import onnx
import pytest
from click.testing import CliRunner

from systoliq.cli.main import cli
from systoliq.inference.lowering import lowered

from ..onnx.network.networks import Builder, images, quantized

ENGINE = ("--rows", "4", "--cols", "4", "--depth", "2", "--lanes", "2")


def move_data(path, location: str, threshold: int) -> None:
    """Put constants of at least `threshold` bytes of the model in the file `path` into a file beside it."""
    (path.parent / location).parent.mkdir(exist_ok=True)
    onnx.save(onnx.load(path), path, save_as_external_data=True, location=location, size_threshold=threshold)
    assert any(tensor.external_data for tensor in onnx.load(path, load_external_data=False).graph.initializer)


@pytest.fixture
def model(tmp_path):
    """Weights of 54 and of 4,096 bytes: onnxruntime treats small and large ones in two ways."""
    net = Builder([1, 3, 6, 6])
    net.conv(3, 2, (3, 3))
    net.relu()
    net.add("Flatten")
    net.gemm(32, 128)
    (tmp_path / "model").mkdir()
    path = quantized(tmp_path / "model", net)
    np.savez(tmp_path / "x.npz", x=images(net.shape, 1, 3))
    return path


def constants(path) -> dict[str, np.ndarray]:
    return {each.name: onnx.numpy_helper.to_array(each) for each in lowered(path).model.graph.initializer}


@pytest.mark.parametrize("threshold", [0, 1000])
@pytest.mark.parametrize("location", ["w.bin", "data/w.bin"])
def test_the_lowered_graph_is_the_same(location, threshold, model, monkeypatch):
    inside = constants(model)
    assert sorted(array.nbytes for array in inside.values())[-2:] == [512, 4096]
    move_data(model, location, threshold)
    monkeypatch.chdir("/")
    outside = constants(model)
    assert inside.keys() == outside.keys()
    for name, array in inside.items():
        np.testing.assert_array_equal(array, outside[name])


def test_compile(model, tmp_path):
    """The same program, bit for bit."""
    programs = []
    for name in ("inside", "outside"):
        if name == "outside":
            move_data(model, "w.bin", 0)
        out = tmp_path / name
        result = CliRunner().invoke(cli, ["compile", str(model), "--out", str(out), *ENGINE])
        assert result.exit_code == 0, result.output
        programs.append({path.name: path.read_bytes() for path in out.iterdir() if path.suffix == ".bin"})
        assert json.loads((out / "program.json").read_text())
    assert programs[0] == programs[1]


@pytest.mark.slow  # the graph and its program are the same: above
@pytest.mark.simulator
def test_run(model, tmp_path):
    move_data(model, "w.bin", 0)
    result = CliRunner().invoke(cli, ["run", str(model), "--input", str(tmp_path / "x.npz"), *ENGINE])
    assert result.exit_code == 0, result.output
    assert "PASS" in result.output


def test_data_that_is_missing(model, tmp_path):
    move_data(model, "w.bin", 0)
    (model.parent / "w.bin").unlink()
    result = CliRunner().invoke(cli, ["run", str(model), "--input", str(tmp_path / "x.npz"), *ENGINE])
    assert result.exit_code == 2
    assert "w.bin" in result.stderr
    assert "Traceback" not in result.output
