"""Studies: accuracy that is onnxruntime's, costs that are the planner's, mixed widths; the command and its refusals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
from click.testing import CliRunner

from systoliq.cli.main import cli
from systoliq.design import NetworkOptions, open_source
from systoliq.design.digits_cnn import INT8_MODEL
from systoliq.design.network import NetworkDesign
from systoliq.errors import InputError
from systoliq.explore import Run
from systoliq.explore.grid.subjects.opened import open_subject
from systoliq.explore.network_data import NetworkData, digits_data, read_network_data
from systoliq.explore.precision.narrowing import products_of
from systoliq.explore.precision.run import precision
from systoliq.explore.precision.study import parse_bits
from systoliq.golden.network import load_network
from systoliq.synth import open_target

from ...onnx.network import networks
from .onnx_of import onnxruntime_tensors


def run(*arguments):
    return CliRunner().invoke(cli, ["explore", *arguments])


@pytest.fixture
def data(images, tmp_path):
    x, labels = images
    path = tmp_path / "data.npz"
    np.savez(path, inputs=x, labels=labels)
    return path


@pytest.mark.parametrize(
    ("text", "widths"),
    [("4", (8, 6, 4, 3)), ("5", (8, 6, 5, 4, 3)), ("8,6,4,3", (8, 6, 4, 3)), ("2,3", (8, 3, 2)), ("8", (8, 6, 4, 3))],
)
def test_widths(text, widths):
    assert parse_bits(text) == widths


def test_accuracy_is_that_of_onnxruntime(net):
    """As it came by the model itself; narrow by bytes that are clipped."""
    study = precision("digits-cnn", bits="8,4")
    (x,) = study.data.inputs.values()
    session = onnxruntime.InferenceSession(INT8_MODEL, providers=["CPUExecutionProvider"])
    (scores,) = session.run(None, {"image": x})
    assert study.row("all", 8)["accuracy"] == np.mean(scores.argmax(axis=1) == study.data.classes)
    assert study.row("all", 8)["agreement"] == 1
    for scope, weights, activations in (("all", True, True), ("weights", True, False), ("activations", False, True)):
        widths = study.all_at(4, weights=weights, activations=activations)
        made = onnxruntime_tensors(study.network_at(widths), x)[net.outputs[0].name]
        right = made.argmax(axis=1) == study.data.classes
        assert study.row(scope, 4)["accuracy"] == np.mean(right), scope


def test_costs_are_the_planners(net, images):
    x, labels = images
    part = open_target("ecp5-25k")
    design = NetworkDesign(net, NetworkOptions(cells=part.cells, part=part, multipliers=part.capacity["dsp"]))
    found = NetworkData(inputs={"image": x}, classes=labels, origin="tests")
    study = precision(net, bits="8,3", data=found, target="ecp5-25k")
    row = study.row("all", 8)
    assert row["lut_sites"] == sum(each.lut_sites for each in design.estimates.values())
    assert row["ram"] == sum(each.ram for each in design.estimates.values())
    assert row["dsp"] == design.plan.dsp
    assert row["weight_bits"] == 8 * sum(node.layer.b.size for node in products_of(net))
    assert row["accuracy"] == 1
    narrow = study.row("all", 3)
    assert narrow["weight_bits"] == 3 * row["weight_bits"] // 8
    assert narrow["lut_sites"] < row["lut_sites"]
    assert study.costs.image_cycles == design.plan.image_cycles


def test_every_layer_and_tensor_has_its_row(net, data):
    study = precision(net, bits="4", data=data)
    assert {row["name"] for row in study.rows if row["scope"] == "layer"} == {"conv1", "conv2", "fc"}
    assert len(study.rows) == sum(study.counts.values())
    assert study.table.height == len(study.rows)
    only = study.row("layer", 3, "conv2")
    assert only["weights"] == {"conv1": 8, "conv2": 3, "fc": 8}


def test_mixed_widths(net, data, tmp_path):
    asked = {"require": "accuracy=0.9", "objective": "weights"}
    study = precision(net, bits="8,4,3", data=data, **asked, run=Run(budget=16, cache=tmp_path / "one"))
    assert study.searched.tried <= 16
    fitting = [row for row in study.rows if row["scope"] in ("all", "mixed") and row["accuracy"] >= 0.9]
    assert study.chosen["weight_bits"] == min(row["weight_bits"] for row in fitting)
    front = [row for row in study.rows if row["front"]]
    for row in front:
        for other in study.rows:
            beats = other["accuracy"] > row["accuracy"] and other["weight_bits"] < row["weight_bits"]
            assert not (beats and other["scope"] in ("all", "mixed"))
    again = precision(net, bits="8,4,3", data=data, **asked, run=Run(budget=16, cache=tmp_path / "other"))
    assert again.rows == study.rows


@pytest.mark.slow
def test_no_time_gives_the_best_so_far(data):
    result = run("digits-cnn", "--bits", "4", "--data", str(data), "--mixed", "9", "--seconds", "1e-9")
    assert result.exit_code == 0, result.output
    assert "best so far: the time was over after 0 of 9 candidates" in result.stdout


def test_integers_are_the_real_numbers_that_they_stand_for(net, images, tmp_path):
    x, labels = images
    (source,) = net.sources
    np.savez(tmp_path / "real.npz", image=x, labels=labels)
    np.savez(tmp_path / "integers.npz", **{source.tensor.name: source.quantize(x)}, labels=labels)
    tables = [precision(net, bits="8,3", data=tmp_path / f"{name}.npz").rows for name in ("real", "integers")]
    assert tables[0] == tables[1]


def test_reference_outputs_stand_for_labels(net, images, tmp_path):
    x, labels = images
    np.savez(tmp_path / "y.npz", inputs=x.reshape(-1, 64), outputs=np.eye(10)[labels])
    assert (read_network_data(tmp_path / "y.npz", net).classes == labels).all()


def test_the_command(data, tmp_path):
    out = tmp_path / "out"
    arguments = ["digits-cnn", "--data", str(data), "--bits", "4", "--require", "accuracy=0.9", "--mixed", "12"]
    result = run(*arguments, "--out", str(out))
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].startswith("smallest mix found: ")
    assert (
        "accuracy 100.00% of the unchanged network, on 30 images of data.npz; on ecp5-85k, 576 cycles an image" in lines
    )
    assert any(line.startswith("4 bits cost ") for line in lines)
    content = json.loads((out / "precision.json").read_text())
    (chosen,) = [row for row in content["rows"] if row["chosen"]]
    narrow = load_network(out / chosen["file"])
    assert {node.name: node.layer.b_format.bits for node in products_of(narrow)} == chosen["weights"]
    report = (out / "report.html").read_text()
    assert report.index("smallest mix found") < report.index("<svg") < report.index("<summary>conv1, weights")
    design = open_source(str(out / chosen["file"]), NetworkOptions(cells="ecp5"))
    assert [stage["node"] for stage in design.stages] == ["conv1", "conv2", "fc"]
    assert run(*arguments, "--out", str(out)).exit_code == 0


def archive(path, **arrays):
    np.savez(path, **arrays)
    return str(path)


X = np.zeros((6, 1, 8, 8), np.float32)
BAD_DATA = {
    "no inputs": ({"labels": np.zeros(6, int)}, "must have the key 'image' (or 'inputs'), the network's input; it has"),
    "length": ({"inputs": X, "labels": np.zeros(5, int)}, "labels must be integers of shape [6], one for each"),
    "class": ({"inputs": X, "labels": np.full(6, 10)}, "labels must be within 0 to 9, the classes of the"),
    "negative": ({"inputs": X, "labels": np.full(6, -1)}, "labels must be within 0 to 9"),
    "real labels": ({"inputs": X, "labels": np.zeros(6)}, "labels must be integers of shape [6]"),
    "neither": ({"inputs": X}, "must have 'labels' or reference 'outputs' (or 'y'), one of them"),
    "both": ({"inputs": X, "labels": np.zeros(6, int), "y": np.zeros((6, 10))}, "one of them"),
    "outputs": ({"inputs": X, "y": np.zeros((6, 9))}, "outputs must be numbers of shape [6, 10], not float64 of"),
    "shape": ({"inputs": X[:, :, 1:], "labels": np.zeros(6, int)}, "inputs must have the shape [M, 1, 8, 8]"),
    "finite": ({"inputs": np.full_like(X, np.nan), "labels": np.zeros(6, int)}, "inputs must be finite"),
    "empty": ({"inputs": X[:0], "labels": np.zeros(0, int)}, "all inputs must have as many images, at least one"),
    "type": ({"inputs": X.astype(np.uint8), "labels": np.zeros(6, int)}, "must be of int8, not of uint8"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD_DATA)
def test_bad_data_is_one_line(case, tmp_path):
    arrays, message = BAD_DATA[case]
    result = run("digits-cnn", "--bits", "4", "--data", archive(tmp_path / "bad.npz", **arrays))
    assert result.exit_code == 2, result.output
    errors = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1
    assert f"bad.npz: {message}" in errors[0] or message in errors[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--bits", "1"], "bits must be within 2 to 8, not 1"),
        (["--bits", "four"], "bits must be widths like 4 or 8,6,4,3, not 'four'"),
        (["--bits", "4", "--rows", "2"], "rows cannot be used with --bits"),
        (["--bits", "4", "--require", "area=3"], "require must be among accuracy, throughput with --bits, not 'area'"),
        (["--bits", "4", "--target", "virtex"], "target must be one of"),
        (["--bits", "4", "--require", "accuracy=2"], "accuracy must be within 0 to 1, not 2"),
        (["--bits", "4", "--mixed", "-1"], "mixed must be at least 0, not -1"),
        (["--bits", "4", "--seconds", "0"], "seconds must be positive, not 0"),
        (["--bits", "4", "--mixed", "2", "--objective", "speed"], "objective must be among area, ram, dsp, weights"),
        (["--bits", "4", "--require", "throughput=1e9"], "throughput must be lower than 1e+09 images a second"),
    ],
)
def test_refused(arguments, message):
    result = run("digits-cnn", *arguments)
    assert result.exit_code == 2, result.output
    assert f"error: {message}" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--seconds", "4"], "seconds must be given with --bits, with --smallest or for a network only"),
        (["--mixed", "4"], "mixed must be given with --bits or an accuracy only"),
        ([], "out must be given: a directory for the report"),
    ],
)
def test_refused_for_a_layer(arguments, message):
    result = run("resnet8-fc", *arguments)
    assert result.exit_code == 2, result.output
    assert f"error: {message}" in result.stderr


def test_what_cannot_be_reached_is_refused_with_the_best(data):
    study_data = ["--data", str(data), "--bits", "2,3", "--mixed", "3"]
    result = run("digits-cnn", *study_data, "--require", "accuracy=1")
    assert result.exit_code == 0  # as it came it has all of its own classes
    x = np.load(data)["inputs"]
    np.savez(data, inputs=x, labels=(np.load(data)["labels"] + 1) % 10)
    result = run("digits-cnn", *study_data, "--require", "accuracy=1")
    assert result.exit_code == 2
    assert "error: accuracy must be at most 0." in result.stderr
    assert "candidates, not 1" in result.stderr


@pytest.mark.slow
def test_a_refused_run_leaves_nothing(tmp_path):
    """It has written its log until then: the best candidate is known late."""
    arguments = ["digits-cnn", "--bits", "4", "--require", "accuracy=1", "--mixed", "0"]
    for folder, more in ((tmp_path / "new" / "out", []), (tmp_path / "kept", ["explore.log"])):
        for name in more:
            folder.mkdir()
            (folder / name).write_text("systoliq explore, earlier\n")
        result = CliRunner().invoke(cli, ["explore", *arguments, "--out", str(folder)])
        assert (result.exit_code, "accuracy must be at most" in result.stderr) == (2, True), result.output
        assert [each.name for each in folder.rglob("*")] == more
    assert not (tmp_path / "new").exists()


def test_a_network_without_data_is_refused(model):
    result = run(model, "--bits", "4")
    assert result.exit_code == 2
    assert "error: data must be given: an archive with the network's inputs and labels" in result.stderr


def test_labels_on_a_layer_that_is_not_the_last_are_refused(tmp_path):
    path = networks.quantized(tmp_path, networks.autoencoder((16, 8, 6, 4)))
    data = archive(tmp_path / "d.npz", inputs=np.zeros((6, 16), np.float32), labels=np.zeros(6, int))
    first, last = (f"{path}#{node}" for node in ("/gemm0", "/gemm5"))
    result = run(first, "--data", data, "--out", str(tmp_path / "out"))
    assert result.exit_code == 2
    assert "labels must be given for the last layer or a whole network" in result.stderr
    assert "whose outputs go into '/matmul2'" in result.stderr
    assert not (tmp_path / "out").exists()
    wrong = archive(tmp_path / "e.npz", inputs=np.zeros((6, 6), np.float32), labels=np.full(6, 9))
    with pytest.raises(InputError, match=r"labels must be integers 0 to 3 of shape \[6\]"):
        open_subject(last, data=Path(wrong))


def test_digits_data_are_the_test_images(net):
    data = digits_data(net)
    assert len(data.classes) == 450
    with pytest.raises(InputError, match="SOURCE must be a network for --bits"):
        precision("resnet8-fc", bits="4")
