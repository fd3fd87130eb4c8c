"""The network of the preset digits-cnn: every tensor is onnxruntime's, its accuracy, and that it fits small parts."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

from systoliq.build.demo.demo import ACCURACY
from systoliq.build.design import Hardware, open_source
from systoliq.build.design.digits import split_digits
from systoliq.build.design.digits_cnn import FLOAT_MODEL, INT8_MODEL, digits_cnn
from systoliq.build.synth.targets import open_target


@pytest.fixture(scope="module")
def images():
    """The test images, 0 to 16, and their labels."""
    _, test_x, _, labels = split_digits()
    return test_x.reshape(-1, 1, 8, 8).astype(np.float32), labels


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
    network, _ = digits_cnn()
    layers = [node.layer for node in network.nodes if hasattr(node, "layer")]
    assert len(layers) == 3
    assert all((np.frexp(layer.scale)[0] == 0.5).all() for layer in layers)
    part = open_target("ice40-up5k")
    design = open_source("digits-cnn", Hardware(cells=part.cells, part_dsp=part.capacity["dsp"]))
    assert design.plan.dsp == design.plan.multipliers == part.capacity["dsp"] == 8


@pytest.mark.slow
@pytest.mark.simulator
def test_all_test_images_in_rtl(images):
    part = open_target("ice40-up5k")
    design = open_source("digits-cnn", Hardware(cells=part.cells, part_dsp=part.capacity["dsp"]))
    run = design.simulate({"image": images[0]}).check()
    assert run.report["images"] == 450
    assert run.report["image_cycles"] == 1152


@pytest.mark.slow
def test_it_fits_an_ice40_up5k(call):
    result = call("synth", "digits-cnn", "--target", "ice40-up5k", "--seeds", 1, "--mhz", 24)
    assert result.exit_code == 0, (result.output, result.exception)
