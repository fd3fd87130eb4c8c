"""Deployed models: the network as one operator of onnxruntime-extensions, equal to the int8 model bit for bit."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest

from systoliq.deploy.model_hw import DOMAIN, FAILED

from ..onnx.network.networks import autoencoder, branches, ds_cnn, images, mobilenet, quantized
from ..onnx.network.oracle import session, write

SMALL = (12, 4, 6)


@pytest.fixture
def register():
    """The two lines that a program changes."""
    pytest.importorskip("onnxruntime_extensions", reason="needs: pip install 'systoliq[deploy]'")
    from systoliq.deploy import register_hardware

    yield register_hardware
    register_hardware()


def opened(path: Path, options):
    import onnxruntime

    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def deployed(call, path: Path, *arguments: object) -> Path:
    out = path.parent / "deployed"
    result = call("deploy", path, "--out", out, *arguments)
    assert result.exit_code == 0, result.output
    onnx.checker.check_model(out / "model_hw.onnx")
    return out / "model_hw.onnx"


@pytest.mark.sampled(99)
@pytest.mark.parametrize("net", [autoencoder, ds_cnn, mobilenet])
@pytest.mark.parametrize("types", ["s8s8", "u8u8"])
def test_outputs_are_those_of_the_int8_model(net, types, register, call, tmp_path):
    """Of whole networks, on golden."""
    built = net()
    path = quantized(tmp_path, built, types=types)
    model = deployed(call, path, "--on", "golden")
    assert [node.op_type for node in onnx.load(model).graph.node if node.domain == DOMAIN] == [
        f"SystoliqNetwork_{'u' * (types == 'u8u8')}int8_{'u' * (types == 'u8u8')}int8"
    ]
    found, right = opened(model, register()), session(onnx.load(path))
    assert [each.shape for each in found.get_inputs()] == [each.shape for each in right.get_inputs()]
    assert [each.name for each in found.get_outputs()] == [each.name for each in right.get_outputs()]
    x = images(built.shape, 2, 9)
    for feed in [x] if isinstance(built.shape[0], str) else [x[:1], x[1:]]:
        for one, other in zip(found.run(None, {"x": feed}), right.run(None, {"x": feed}), strict=True):
            np.testing.assert_array_equal(one.view(np.uint32), other.view(np.uint32))


def test_the_rest_of_a_model_stays_in_onnxruntime(register, call, tmp_path):
    """Behind the network, and beside it: constants that only the network takes leave the model."""
    path = quantized(tmp_path, branches())
    np.savez(tmp_path / "x.npz", x=images([1, 3, 8, 8], 3, 9))
    result = call("deploy", path, "--out", tmp_path / "o", "--on", "golden", "--input", tmp_path / "x.npz")
    assert result.exit_code == 0, result.output
    assert "PASS: 15 elements" in result.output
    made = onnx.load(tmp_path / "o/model_hw.onnx")
    assert "AveragePool" in {node.op_type for node in made.graph.node}
    assert len(made.graph.initializer) < len(onnx.load(path).graph.initializer)


@pytest.mark.simulator
def test_in_the_verilog(register, call, tmp_path):
    """Under Icarus; the deployed file says where, and the program may say otherwise."""
    path = quantized(tmp_path, autoencoder(SMALL))
    model = deployed(call, path, "--on", "icarus")
    x = images([1, SMALL[0]], 2, 9)
    right = session(onnx.load(path)).run(None, {"x": x})[0]
    for options in (register(), register(on="golden")):
        found = opened(model, options).run(None, {"x": x})[0]
        np.testing.assert_array_equal(found.view(np.uint32), right.view(np.uint32))


def test_failures_are_errors_of_the_run(register, call, tmp_path, capfd):
    """A board that is not there: onnxruntime would end the process if the operator raised its error."""
    path = quantized(tmp_path, autoencoder(SMALL))
    model = deployed(call, path, "--on", "/dev/none")
    x = images([1, SMALL[0]], 2, 9)
    failing = opened(model, register())
    with pytest.raises(Exception, match=FAILED):
        failing.run(None, {"x": x})
    assert "error: systoliq hardware: port must be a serial port; /dev/none does not exist" in capfd.readouterr().err
    assert opened(model, register(on="golden")).run(None, {"x": x})


@pytest.mark.slow
def test_a_program_in_its_own_process(register, call, tmp_path):
    """As the documentation shows it."""
    path = quantized(tmp_path, autoencoder(SMALL))
    deployed(call, path, "--on", "golden")
    program = f"""
import numpy, onnxruntime
from systoliq.deploy import register_hardware
session = onnxruntime.InferenceSession("deployed/model_hw.onnx", register_hardware())
print(session.run(None, {{"x": numpy.zeros((3, {SMALL[0]}), "float32")}})[0].shape)
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=path.parent, capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == (f"(3, {SMALL[-1]})\n", 0), done.stderr


REFUSED = {
    "no file": (["none.onnx", "--out", "o"], "none.onnx: there is no such file"),
    "a float model": (["float.onnx", "--out", "o"], "float.onnx: .*must be quantized, not float"),
    "another place": (["q.onnx", "--out", "o", "--on", "goldn"], "not 'goldn': did you mean golden"),
    "another rate": (["q.onnx", "--out", "o", "--on", "/dev/x", "--baud", 7], "baud must be one of .*, not 7"),
    "no package": (["q.onnx", "--out", "o", "--package", "."], "has no NAME.json"),
    "other files": (["q.onnx", "--out", "."], "it holds other files"),
}


@pytest.mark.parametrize(("arguments", "text"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(arguments, text, call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    quantized(tmp_path, autoencoder((4, 3))).rename("q.onnx")
    write(tmp_path / "float.onnx", "g (float[1, 3] x, float[3, 2] w) => (float[1, 2] y) { y = MatMul(x, w) }", {})
    result = call("deploy", *arguments)
    assert result.exit_code == 2, result.output
    assert re.search(text, " ".join(result.output.split()))
    assert not (tmp_path / "o").exists()
