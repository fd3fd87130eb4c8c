"""The network of the preset digits-cnn: every tensor is onnxruntime's, its accuracy, and that it fits small parts."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

from systoliq.demo.demo import ACCURACY
from systoliq.design import NetworkOptions, open_source
from systoliq.design.digits import split_digits
from systoliq.design.digits_cnn import FLOAT_MODEL, INT8_MODEL, digits_cnn
from systoliq.package import write_package
from systoliq.synth import netlist_sources, open_target


@pytest.fixture(scope="module")
def images():
    """The test images, 0 to 16, and their labels."""
    _, test_x, _, labels = split_digits()
    return test_x.reshape(-1, 1, 8, 8).astype(np.float32), labels


def on_up5k():
    """The design for an iCE40 UP5K, as `systoliq synth` makes it."""
    part = open_target("ice40-up5k")
    return open_source("digits-cnn", NetworkOptions(cells=part.cells, part=part, multipliers=8))


def integers(images, folder):
    """What onnxruntime gives for each QuantizeLinear of the int8 model, by name, and the operators that it ran."""
    model = onnx.load(INT8_MODEL)
    names = [node.output[0] for node in model.graph.node if node.op_type == "QuantizeLinear"]
    model.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.INT8, None) for name in names)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.optimized_model_filepath = str(folder / "ran.onnx")
    options.add_session_config_entry("session.qdqisint8allowed", "1")
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    found = dict(zip(names, session.run(names, {"image": images}), strict=True))
    return found, {node.op_type for node in onnx.load(folder / "ran.onnx").graph.node}


def test_every_tensor_of_every_test_image_is_onnxruntimes(images, tmp_path):
    network, _ = digits_cnn()
    expected, operators = integers(images[0], tmp_path)
    assert {"QLinearConv", "QGemm"} < operators
    assert not {"Conv", "Gemm", "Relu"} & operators
    golden = network.golden({"image": images[0]})
    assert {tensor.name for tensor in (*network.inputs, *(node.output for node in network.nodes))} <= expected.keys()
    for name, array in expected.items():
        assert len(array) == 450
        np.testing.assert_array_equal(golden[name], array, err_msg=name)


def test_accuracy(images):
    for path in (FLOAT_MODEL, INT8_MODEL):
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        (scores,) = session.run(None, {"image": images[0]})
        assert np.mean(scores.argmax(axis=1) == images[1]) > ACCURACY, path.name


def test_scales_that_are_powers_of_two_leave_all_multiplier_cells_to_products():
    design = on_up5k()
    layers = [node.layer for node in design.network.nodes if hasattr(node, "layer")]
    assert len(layers) == 3
    assert all((np.frexp(layer.scale)[0] == 0.5).all() for layer in layers)
    assert design.plan.dsp == 8
    assert design.plan.multipliers == 12  # two to a cell where a stage has depth


@pytest.mark.slow
@pytest.mark.simulator
def test_all_test_images_in_rtl(images):
    run = on_up5k().simulate({"image": images[0]}).check()
    assert run.report["images"] == 450
    assert run.report["image_cycles"] == 864


@pytest.mark.slow
def test_it_fits_an_ice40_up5k(call):
    result = call("synth", "digits-cnn", "--target", "ice40-up5k", "--seeds", 1, "--mhz", 24)
    assert result.exit_code == 0, (result.output, result.exception)


@pytest.mark.slow
@pytest.mark.simulator
@pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus is not installed")
def test_its_netlist_passes_its_testbench(tmp_path):
    design = on_up5k()
    package = tmp_path / "package"
    write_package(design, package)
    files = [package / "digits_cnn_tb.v"]
    for index, text in enumerate(netlist_sources(design.top, design.name, "ice40")):
        files.append(tmp_path / f"netlist_{index}.v")
        files[-1].write_text(text)
    subprocess.run(["iverilog", "-g2005", "-DNETLIST", "-o", tmp_path / "t", *files], check=True)
    log = subprocess.run(["vvp", tmp_path / "t"], cwd=package, capture_output=True, text=True, check=True).stdout
    assert "PASS" in log, log
