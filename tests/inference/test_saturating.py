"""onnxruntime's saturating kernels: the RTL passes where onnxruntime's own result is wrong, and fails where the RTL is
wrong as well.
"""

from __future__ import annotations

import json
import logging
import shutil
import subprocess
import sys

import numpy as np
import onnx
import pytest
from onnxruntime.quantization import quantize_dynamic

from systoliq.api import EngineConfig, EngineSession, SimulationError
from systoliq.inference.operations import Operation
from systoliq.onnx.runtime import Session
from systoliq.sim.engine import Engine

from ..onnx.network.networks import Builder, images, quantized
from ..saturating import saturate_sessions
from ..support.kernels import saturates

CONFIG = EngineConfig(rows=4, cols=4, depth=2, lanes=2)
ENGINE = ("--rows", 4, "--cols", 4, "--depth", 2, "--lanes", 2)


def net():
    """Two dense layers whose weights have many values near the greatest, on inputs near the greatest."""
    made = Builder([1, 16])
    made.gemm(16, 8)
    made.relu()
    made.gemm(8, 4)
    made.held = [
        onnx.numpy_helper.from_array(np.sign(array) * (1 + np.abs(array) / 9), tensor.name)
        if array.ndim == 2
        else tensor
        for tensor, array in ((tensor, onnx.numpy_helper.to_array(tensor)) for tensor in made.held)
    ]
    return made


@pytest.fixture(params=["dynamic", "QDQ", "QOperator"])
def model(request, tmp_path):
    """The model in the form that a quantizer of onnxruntime writes by default, and the file of its input."""
    np.savez(tmp_path / "x.npz", x=np.abs(images([1, 16], 1, 3)) + 2)
    if request.param != "dynamic":
        return quantized(tmp_path, net(), form=request.param, types="u8s8", reduce_range=False)
    logging.disable(logging.WARNING)  # the quantizer advises to preprocess
    onnx.save(net().model(17), tmp_path / "float.onnx")
    quantize_dynamic(tmp_path / "float.onnx", tmp_path / "model.onnx")
    logging.disable(logging.NOTSET)
    return tmp_path / "model.onnx"


def feed(model):
    with np.load(model.parent / "x.npz") as arrays:
        return dict(arrays)


def systoliq_run(call, model, *options):
    return call("run", model, "--input", model.parent / "x.npz", "--report", model.parent / "r.json", *options)


@pytest.mark.sampled(99)
@pytest.mark.simulator
@pytest.mark.parametrize(
    ("model", "bus"),
    [
        ("dynamic", ()),
        ("QDQ", ()),
        *(pytest.param(*each, marks=pytest.mark.slow) for each in (("QOperator", ()), ("dynamic", ("--bus", 64)))),
    ],
    indirect=["model"],
)
def test_the_hardware_is_right_and_onnxruntime_is_not(model, bus, call, monkeypatch):
    right = systoliq_run(call, model, *ENGINE, *bus)
    assert right.exit_code == (3 if saturates() else 0), right.output
    saturate_sessions(monkeypatch)
    result = systoliq_run(call, model, *ENGINE, *bus)
    assert result.exit_code == 3, result.output
    assert "PASS: 12 outputs of products and 4 of the model compared" in result.output
    assert "FAIL" not in result.output
    assert "mismatch" not in result.output
    report = json.loads((model.parent / "r.json").read_text())
    first, second = report["steps"]
    assert report["passed"]
    assert f"{first['onnxruntime_saturated']} of 8 outputs of {first['operator']} '{first['name']}'" in result.output
    assert first["onnxruntime_saturated"] > 0
    for step in (first, second):
        assert (step["golden_mismatches"], step["onnxruntime_mismatches"]) == (0, 0)
    (end,) = report["outputs"].values()
    assert end["mismatches"] == 0
    assert end["saturated"] > 0


@pytest.mark.simulator
@pytest.mark.parametrize("model", ["QOperator"], indirect=True)
def test_a_wrong_bit_fails_all_the_same(model, call, monkeypatch):
    """In the second product: onnxruntime has another result there anyway, by its first one."""
    saturate_sessions(monkeypatch)
    wrong_engine(monkeypatch)
    result = systoliq_run(call, model, *ENGINE)
    assert result.exit_code == 1, result.output
    assert "1 of 4 outputs differ from golden" in result.output
    assert "1 of 4 outputs differ from onnxruntime's exact result" in result.output
    assert "FAIL: " in result.output
    assert "note: " not in result.output


@pytest.mark.simulator
@pytest.mark.parametrize("model", ["dynamic"], indirect=True)
def test_golden_is_no_proof(model, monkeypatch):
    """A fault that the RTL and golden share is found, as onnxruntime's exact result is onnxruntime's own."""
    saturate_sessions(monkeypatch)
    wrong_engine(monkeypatch)
    real = Operation.golden

    def wrong(self):
        y = real(self)
        if y.shape[-1] == 4:
            y[0, 0] ^= 1
        return y

    monkeypatch.setattr(Operation, "golden", wrong)
    session = EngineSession(model, CONFIG)
    session.run(None, feed(model))
    _, second = session.report.steps
    assert (second.golden_mismatches, second.onnxruntime_mismatches) == (0, 1)
    assert session.report.saturated
    with pytest.raises(SimulationError, match="1 of 4 outputs differ from onnxruntime's exact result"):
        session.report.check()


def wrong_engine(monkeypatch):
    """The last bit of a result of the second product flips."""
    real = Engine.run

    def wrong(self, plans, **options):
        results = real(self, plans, **options)
        if results[0].y.shape[-1] == 4:
            results[0].y[0, 0] ^= 1
        return results

    monkeypatch.setattr(Engine, "run", wrong)


SCRIPT = """
import sys, numpy as np
from systoliq.onnx.runtime import Session
session = Session(sys.argv[1], "the model")
names = [each.name for each in session.outputs]
with np.load(sys.argv[2]) as feed:
    np.savez(sys.argv[3], **session.run(names, dict(feed)))
"""


def test_the_fault_is_the_one_of_a_processor_without_vnni(model, tmp_path, monkeypatch):
    """What these tests inject is, bit for bit, what onnxruntime gives on a processor with AVX2 alone."""
    qemu = shutil.which("qemu-x86_64")
    if qemu is None:
        pytest.skip("qemu-x86_64 (Debian: qemu-user) is not installed: it emulates a processor without VNNI")
    command = [qemu, "-cpu", "Haswell", sys.executable, "-c", SCRIPT, model, tmp_path / "x.npz", tmp_path / "y.npz"]
    subprocess.run([str(each) for each in command], check=True, capture_output=True, timeout=300)
    exact = Session(str(model), "the model")
    names = [each.name for each in exact.outputs]
    right = exact.run(names, feed(model))
    saturate_sessions(monkeypatch)
    found = Session(str(model), "the model").run(names, feed(model))
    with np.load(tmp_path / "y.npz") as there:
        for name in names:
            np.testing.assert_array_equal(found[name], there[name])
            assert np.any(there[name] != right[name])
