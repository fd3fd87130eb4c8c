"""`systoliq verify` of networks: a verdict on each stage, in every case; forged packages are refused by stage."""

from __future__ import annotations

import dataclasses
import json
import random
import re
import shutil

import numpy as np
import onnx
import pytest

from systoliq.golden import INT8
from systoliq.golden.network import Tensor, Window, WindowedAverage
from systoliq.hw.network.operators import operator_of
from systoliq.verify import verify_package
from systoliq.verify.float32_average import uncertain_average
from systoliq.verify.float32_product import float32_products
from systoliq.verify.float32_sum import float32_sums

from ..hw.network import small_networks as small
from ..onnx.network import oracle
from .emitted_networks import emitted
from .sealing import change, seal


def with_constants():
    """Sums with constants: one for each channel, one for each element."""
    net = small.Builder((3, 2, 2))
    values = np.random.default_rng(5)
    for shape in ((1, 3, 1, 1), (1, 3, 2, 2)):
        tensor = net.last.replace(name=f"c{len(net.nodes)}", shape=shape)
        net.add(net.last, tensor.replace(value=values.integers(-128, 128, shape).astype(np.int8)))
    return net.network()


def one_word():
    """A depthwise convolution with all weights in one word, which needs no address."""
    net = small.Builder((3, 2, 2))
    net.depthwise((1, 1))
    return net.network()


NETWORKS = {"crossed": small.crossed} | small.NETWORKS | {"constants": with_constants, "one word": one_word}


WIDE = {  # cols and depth of the stages: more than one lane where there may be
    "residual": {
        "convolution0": (2, 2), "convolution1": (2, 2), "addition2": (2, 1), "maxpool3": (2, 1), "dense5": (1, 2),
    },
    "separable": {
        "convolution0": (4, 3), "convolution1": (2, 1), "table2": (2, 1), "wholeaverage3": (2, 1), "dense5": (5, 2),
    },
    "constants": {"addition0": (3, 1), "addition1": (1, 1)},
    "joined": {"multiplication2": (2, 1), "convolution3": (1, 2), "concatenation4": (2, 1)},
    "hourglass": {"concatenation4": (2, 1)},
    "gated": {"multiplication5": (2, 1)},
    "compared": {"realpair3": (2, 1)},
    "averaged": {"windowedaverage1": (2, 1)},
    "one word": {"convolution0": (3, 1)},
}  # fmt: skip


@pytest.mark.sampled(99)
@pytest.mark.parametrize("cells", ["ice40", "ecp5", "gowin", "portable"])
@pytest.mark.parametrize("name", NETWORKS)
def test_accepts_what_emit_wrote(name, cells, tmp_path):
    net = NETWORKS[name]()
    drawn = small.drawn_parallelism(net, cells)
    parallelism = {node: (each.cols, each.depth) for node, each in drawn.items()}
    report = verify_package(emitted(net, tmp_path, cells, parallelism=parallelism))
    assert report.passed, report.reasons
    stages = [node.name for node in net.nodes if operator_of(node).is_stage]
    assert [stage.node for stage in report.stages if stage.operator != "Constant"] == stages
    assert report.columns == sum(node.layer.n for node in net.nodes if hasattr(node, "layer")) + (
        {"separable": 4, "gated": 4, "averaged": 8, "crossed": 4, "headed": 2}.get(name, 0)  # of averages
    )


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """Packages of the small networks, with more lanes than one where they can; made when they are asked for."""
    made = {}

    def package(name, changed=None):
        if (name, changed) not in made:
            net = NETWORKS[name]()
            net = net if changed is None else with_another_scale(net, changed)
            parallelism = {node.name: (1, 1) for node in net.nodes if operator_of(node).is_stage} | WIDE[name]
            made[name, changed] = emitted(net, tmp_path_factory.mktemp("package"), parallelism=parallelism)
        return made[name, changed]

    return package


def test_the_command_has_a_line_for_each_stage(packages, call):
    result = call("verify", packages("residual"))
    assert result.exit_code == 0, result.output
    for line in (
        r"verified: stage convolution0 \(Convolution\): 4 columns, \d+ steps, \d+ accumulators tried",
        r"verified: stage addition2 \(Addition\): 65536 pairs tried in 2 lanes",
        r"verified: stage maxpool3 \(MaxPool\): 65536 pairs compared in \d lanes?",
        r"verified: stage dense5 \(Dense\): 3 columns, \d+ steps, \d+ accumulators tried",
        r"\n  evaluated +order of elements on every stream between stages, .* of 3 window buffers: for all data",
        r"\n  evaluated +sums of the arrays, groups, order of results",
        r"\n  evaluated +all results with a random schedule of valid and ready, and with a receiver that waits",
        r"verified: net: all 5 stages; the float32 formula in 11 columns",
    ):
        assert re.search(line, result.output), (line, result.output)


@pytest.mark.slow  # test_moves.py, and the command on the network above
def test_moves_and_concatenations_are_certified(packages, at_steps, call):
    directory = packages("hourglass")
    result = call("verify", directory)
    assert result.exit_code == 0, result.output
    for line in (
        "\nverified: stage move3 (Move): the places of 48 elements in 1 lane\n",
        "\nverified: stage concatenation4 (Concatenation): turns of 3 beats and 512 entries tried in 2 lanes\n",
        "\nverified: net: all 6 stages; ",
    ):
        assert line in result.output, result.output
    content = json.loads((directory / "certificate.json").read_text())
    verdicts = {stage["operator"]: stage["verdict"] for stage in content["stages"]}
    assert verdicts == dict.fromkeys(verdicts, "exact")
    assert content["verdict"] == "exact"
    page = (directory / "report.html").read_text()
    assert "<dt>certified</dt><dd>48 places</dd>" in page
    assert "<dt>certified</dt><dd>2 x 256 entries</dd>" in page


def upsampled():
    net = small.Builder((2, 3, 3))
    net.resize(2, 2)
    return net.network()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("net", "verdict", "line"),
    [
        (upsampled, "exact", "verified: net: its only stage"),
        (with_constants, "exact", "verified: net: all 4 stages"),
    ],
)
def test_nothing_is_said_of_columns_without_any(net, verdict, line, tmp_path, call):
    """Nor that a network is verified in which no stage is."""
    directory = emitted(net(), tmp_path)
    result = call("verify", directory)
    assert result.exit_code == 0, result.output
    assert f"\n{line}\n" in result.output
    assert "accumulator" not in result.output
    assert "requantizer" not in result.output
    assert json.loads((directory / "certificate.json").read_text())["verdict"] == verdict


# Network, pattern whose group 1 is replaced, what by (None: another last digit), the stage, why it is refused.
IN_VERILOG = {
    "table of a difference": (
        "compared", r"_s2_realpair2_lane_b_table\(.*?memory\[7\] = \d+'h(\w\w)", None,
        "realpair2 (RealPair)", "not exact: lane 0 gives"),
    "weight": (
        "residual", r"_s1_convolution1_weights_1_rom\(.*?memory\[3\] = \d+'h(\w+);", None,
        "convolution1 (Convolution)", "net.v: the weight memory has b["),
    "weight of a depthwise product": (
        "separable", r"_s1_convolution1_depthwise_weights_rom\(.*?memory\[5\] = \d+'h(\w+);", None,
        "convolution1 (Convolution)", "net.v: the weight memory has b["),
    "weight of an average": (
        "separable", r"_s3_wholeaverage3_depthwise_weights_rom\(.*?memory\[2\] = \d+'h(\w+);", None,
        "wholeaverage3 (WholeAverage)", "net.v: the weight memory has b["),
    "multiplier": (
        "residual", r"_s0_convolution0_lane_0_constants\(.*?multiplier_entry = \w+\(\d+'hx+, \d+'h(\w+),", None,
        "convolution0 (Convolution)", ".multiplier is "),
    "bias of a depthwise product": (
        "separable", r"_s1_convolution1_depthwise_lane_0_constants\(.*?bias_entry = \w+\(\d+'hx+, \d+'h(\w+),", None,
        "convolution1 (Convolution)", "has the bias"),
    "sums of a depthwise product": (
        "separable", r"_s1_convolution1_depthwise_lane_0\(.*?= sums (>>) ", "<<",
        "convolution1 (Convolution)", "lane 0 does not read the sums of element 1 at step 1"),
    "operand of a serial product": (
        "separable", r"_s1_convolution1_depthwise_serial_multiplier\w+\(.*?assign \w+ = (start) \? a : a_held;", "1'h1",
        "convolution1 (Convolution)", "shows no product of its operands within 64 cycles"),
    "rounding of a requantizer": (
        "residual", r"_s5_dense5_requantizer\(.*?\$signed\(\{ zero_point, (up) \}\)", "1'h0",
        "dense5 (Dense)", "is not the form 'near-tie' at accumulator"),
    "table of an addition": (
        "residual", r"_s2_addition2_lane_a_table\(.*?memory\[7\] = \d+'h(\w\w)", None,
        "addition2 (Addition)", "not exact: lane 0 gives"),
    "rounding of an addition": (
        "residual", r"_s2_addition2_lane\(.*?assign \w+ = sum_1\[\d\] ([&]) ", "|",
        "addition2 (Addition)", "not exact: lane 0 gives"),
    "lanes of an addition": (
        "residual", r"_s2_addition2\(.*?\.a\(i_0__payload\[(15:8)\]\)", "7:0",
        "addition2 (Addition)", "not exact: lane 1 gives"),
    "end of an image": (
        "residual", r"_s2_addition2\(.*?last_1 <= (i_0__payload\[\d+\])", "1'h1",
        "addition2 (Addition)", "ends images where its input does not"),
    "comparison of a maximum": (
        "residual", r"_maximum_4_of_\w+\(.*?\{ greatest_0\[7\], i__payload\[6:0\] \} ([>]) ", "<",
        "maxpool3 (MaxPool)", "not the maximum: lane 0 gives 65280 wrong results"),
    "sign of a maximum": (
        "residual", r"_maximum_4_of_\w+\(.*?\{ (greatest_0\[7\]), i__payload\[6:0\] \} > ", "i__payload[7]",
        "maxpool3 (MaxPool)", "not the maximum: lane 0 gives"),
    "comparison of a minimum": (
        "compared", r"_s3_realpair3_lane\(.*?b_code ([>]) a_code", "<",
        "realpair3 (RealPair)", "not exact: lane 0 gives"),
    "entry of a table": (
        "separable", r"_s2_table2_table\(.*?memory\[9\] = \d+'h(\w+);", None,
        "table2 (Table)", "not the table in net_stages.npz: lane 0 gives 1 wrong results, first"),
    "constant": (
        "constants", r"_constant_1_rom\(.*?memory\[0\] = \d+'h(\w+);", None,
        "addition0 (Constant)", "net.v: element 0 is "),
    "threshold of a multiplication": (
        "joined", r"_s2_multiplication2_lane_thresholds\(.*?memory\[127\] = \d+'h(\w+);", None,
        "multiplication2 (Multiplication)", "not exact: lane 0 gives"),
    "zero point of a multiplication": (
        "joined", r"_s2_multiplication2_lane\(.*?\$signed\(a\) ([-]) ", "+",
        "multiplication2 (Multiplication)", "not exact: lane 0 gives"),
    "lanes of a multiplication": (
        "joined", r"_s2_multiplication2\(.*?\.a\(i_0__payload\[(15:8)\]\)", "7:0",
        "multiplication2 (Multiplication)", "not exact: lane 1 gives"),
    "operands of a multiplication": (
        "gated", r"_s5_multiplication5\(.*?_join core \(.*?\.i_\d__payload\((i_\d__payload)\)", "o__payload",
        "multiplication5 (Multiplication)", "does not give its input"),
    "product of a repeated pixel": (
        "gated", r"_s5_multiplication5_join_lane_thresholds\(.*?memory\[127\] = \d+'h(\w+);", None,
        "multiplication5 (Multiplication)", "not exact: lane 0 gives"),
    "weight of a group": (
        "gated", r"_s0_convolution0_weights_1_rom\(.*?memory\[5\] = \d+'h(\w+);", None,
        "convolution0 (Convolution)", "net.v: the weight memory has b["),
    "entry of a concatenation": (
        "joined", r"_s4_concatenation4_tables\(.*?memory\[300\] = \d+'h(\w+);", None,
        "concatenation4 (Concatenation)", "input 1: not the table in net_stages.npz: lane 0 gives 1 wrong"),
    "turns of a concatenation": (
        "joined", r"_s4_concatenation4\(.*?assign \w+_CMP = at == 2'h(\d);", None,
        "concatenation4 (Concatenation)", "net_s4_concatenation4 "),
    "end of a concatenation": (
        "joined", r"_s4_concatenation4\(.*?last_1 <= (offered__payload_last)", "1'h1",
        "concatenation4 (Concatenation)", "ends images where its last input does not"),
    "a block between": (
        "residual", r"(net_skid_buffer_\d+) skid_s3_maxpool3_0", "net_s3_maxpool3",
        "", "net_s3_maxpool3 is placed twice"),
    "results inverted on their way": (
        "residual", r"\.i__payload\((behind_s1_convolution1_0__payload)\)", "~behind_s1_convolution1_0__payload",
        "", "s1_convolution1_0.i__payload is no net of its own"),
    "the input of the network": (
        "residual", r"net_pipeline pipeline \(.*?\.i__payload\((\{ s_axis_a_tlast, s_axis_a_tdata \})\)",
        "{ s_axis_a_tlast, ~s_axis_a_tdata }", "", "s_axis_a does not enter the pipeline as it is"),
}  # fmt: skip


@pytest.mark.sampled(9)
@pytest.mark.parametrize("what", IN_VERILOG)
def test_refuses_other_verilog(what, packages, at_steps, without_order, tmp_path):
    name, pattern, new, stage, reason = IN_VERILOG[what]
    directory = shutil.copytree(packages(name), tmp_path / "net")
    change(directory / "net.v", pattern, new)
    seal(directory)
    report = verify_package(directory)
    beginning = f"stage {stage}: " if stage else ""
    assert any(text.startswith(beginning) and reason in text for text in report.reasons), report.reasons
    refused = {f"{each.node} ({each.operator})" for each in report.stages if not each.passed}
    assert not stage or refused == {stage}


def test_refuses_stages_in_each_others_place(packages, without_order, tmp_path):
    directory = shutil.copytree(packages("residual"), tmp_path / "net")
    text = (directory / "net.v").read_text()
    one, other = "net_s0_convolution0 s0_convolution0 (", "net_s1_convolution1 s1_convolution1 ("
    assert text.count(one) == text.count(other) == 1
    (directory / "net.v").write_text(text.replace(one, "<here>").replace(other, one).replace("<here>", other))
    seal(directory)
    report = verify_package(directory)
    reasons = [f"stage convolution{n} (Convolution): certificate.json: takes[0] is " for n in (0, 1)]
    assert all(any(text.startswith(reason) for text in report.reasons) for reason in reasons), report.reasons


def exchanged(stages):
    stages[0]["module"], stages[1]["module"] = stages[1]["module"], stages[0]["module"]


def relabelled(stages):
    stages[0]["node"], stages[1]["node"] = stages[1]["node"], stages[0]["node"]


def taken_twice(stages):
    stages[0]["takes"] = stages[1]["takes"]


IN_CERTIFICATE = {
    "a stage left out": (lambda stages: stages.pop(2), "has no stage for module net_s2_addition2 in net.v"),
    "a stage twice": (lambda stages: stages.append(stages[0]), "module net_s0_convolution0 has two stages"),
    "modules exchanged": (exchanged, "stage convolution0 (Convolution): certificate.json: module net_s1_convolution1"),
    "names exchanged": (relabelled, "stage convolution1 (Convolution): certificate.json: module net_s0_convolution0"),
    "other inputs": (taken_twice, "stage convolution0 (Convolution): certificate.json: takes[0] is "),
    "a scale": (
        lambda stages: stages[2]["scales"].update(a=0.5.hex()),
        "stage addition2 (Addition): certificate.json: scales.a is ",
    ),
    "an unknown operator": (lambda stages: stages[2].update(operator="Add"), "operator must be one of Convolution,"),
    "steps": (lambda stages: stages[0]["columns"][1].update(steps=7), "columns[1].steps is 7, but the Verilog"),
    "a verdict": (lambda stages: stages[3].update(verdict="differs"), "maxpool3 (MaxPool): certificate.json: verdict"),
    "nothing but tests": (
        lambda stages: stages[2].update(verdict="tested"), "addition2 (Addition): certificate.json: verdict",
    ),
    "no columns": (lambda stages: stages[0].pop("columns"), "certificate.json: has no columns"),
    "not even a name": (lambda stages: stages[0].pop("node"), "does not describe these files (KeyError: 'node')"),
}  # fmt: skip


@pytest.mark.sampled(6)
@pytest.mark.parametrize("what", IN_CERTIFICATE)
def test_refuses_another_certificate(what, packages, at_steps, without_order, tmp_path):
    forge, reason = IN_CERTIFICATE[what]
    directory = shutil.copytree(packages("residual"), tmp_path / "net")
    path = directory / "certificate.json"
    content = json.loads(path.read_text())
    forge(content["stages"])
    path.write_text(json.dumps(content))
    seal(directory)
    reasons = verify_package(directory).reasons
    assert any(reason in each for each in reasons), reasons


@pytest.mark.sampled(99)
@pytest.mark.parametrize("whole", ["exact", "exact in part"])
def test_an_operator_that_verify_does_not_read_is_tested_at_most(
    whole, packages, at_steps, without_order, tmp_path, call
):
    directory = shutil.copytree(packages("residual"), tmp_path / "net")
    path = directory / "certificate.json"
    content = json.loads(path.read_text())
    content["stages"][2].update(operator="Abs", verdict="tested")
    path.write_text(json.dumps(content | {"verdict": whole}))
    seal(directory)
    result = call("verify", directory)
    assert result.exit_code == 1  # the network and its hardware give another certificate
    assert "\ntested, not certified: stage addition2 (Abs)\n" in result.output
    reasons = [line for line in result.output.splitlines() if line.startswith("refused: ")]
    derived = [line for line in reasons if "and systoliq" not in line]
    assert [whole == "exact"] == [any("certificate.json: verdict is" in line for line in derived)], result.output


def with_another_scale(net, name):
    """The same network, but for the scale of one node's output."""
    nodes = [node if node.name != name else dataclasses.replace(node, **_coarser(node)) for node in net.nodes]
    return dataclasses.replace(net, nodes=tuple(nodes))


def _coarser(node):
    output = node.output.replace(scale=np.float32(node.output.scale * np.float32(1.1)))
    return {"output": output} | ({"layer": node.layer.replace(y_scale=output.scale)} if hasattr(node, "layer") else {})


@pytest.mark.slow  # other constants are refused in test_verify.py, too
@pytest.mark.parametrize(
    ("network", "node", "reason"),
    [
        ("residual", "convolution1", "columns[0].multiplier is "),
        ("joined", "multiplication2", "net.v: not exact: lane 0 gives"),
        # Pairs and products as these two.
        pytest.param("residual", "addition2", "net.v: not exact: lane 0 gives", marks=pytest.mark.slow),
        pytest.param("joined", "convolution3", "columns[0].multiplier is ", marks=pytest.mark.slow),
        pytest.param("separable", "convolution1", "columns[0].multiplier is ", marks=pytest.mark.slow),
        pytest.param("separable", "wholeaverage3", "columns[0].multiplier is ", marks=pytest.mark.slow),
    ],
)
def test_refuses_another_scale_in_all_files_but_the_verilog(
    network, node, reason, packages, at_steps, without_order, tmp_path
):
    """The certificate and the arrays of an honest package, with the Verilog of another."""
    other = packages(network, node)
    assert verify_package(other).passed
    directory = shutil.copytree(other, tmp_path / "net")
    shutil.copy(packages(network) / "net.v", directory / "net.v")
    seal(directory)
    report = verify_package(directory)
    assert [stage.node for stage in report.stages if not stage.passed] == [node]
    assert any(f"stage {node} " in text and reason in text for text in report.reasons), report.reasons
    assert any("not exact: " in text for text in report.reasons)


@pytest.mark.parametrize("exchanged", [False, True])
@pytest.mark.parametrize("low", [0, -128])
def test_sums_of_the_second_formula_are_onnxruntimes(low, exchanged, tmp_path):
    """All pairs; exchanged where onnxruntime repeats the only element of the first operand."""
    rng = random.Random(f"{low} {exchanged}")
    codes = np.arange(low, low + 256).astype(np.int8 if low else np.uint8)
    scales = {letter: float(np.float32(rng.choice([0.5, rng.uniform(0.01, 3)]))) for letter in "aby"}
    points = {letter: rng.randint(low, low + 255) for letter in "aby"}
    constants = {
        **{f"{letter}s": np.float32(scale) for letter, scale in scales.items()},
        **{f"{letter}z": codes.dtype.type(point) for letter, point in points.items()},
    }
    text = """g (KIND[M] a, KIND[N] b) => (KIND[N] y) {
        y = com.microsoft.QLinearAdd(a, as, az, b, bs, bz, ys, yz) }"""
    path = oracle.write(tmp_path / "sum.onnx", text.replace("KIND", str(codes.dtype)), constants)
    run = oracle.session(onnx.load(path)).run
    wanted = [run(None, {"a": np.full(1 if exchanged else 256, a), "b": codes})[0].tolist() for a in codes]
    assert float32_sums((low, low + 255), (low, low + 255), scales, points, exchanged=exchanged) == wanted


@pytest.mark.parametrize("low", [0, -128])
@pytest.mark.parametrize("form", ["any", "ties", "large"])
def test_products_of_the_second_formula_are_onnxruntimes(low, form, tmp_path):
    """All pairs."""
    rng = random.Random(f"{low} {form}")
    codes = np.arange(low, low + 256).astype(np.int8 if low else np.uint8)
    drawn = {"any": [rng.uniform(0.01, 0.2) for _ in "abc"], "ties": [0.5, 0.25, 2.0], "large": [300.0, 30.0, 1.0]}[
        form
    ]
    scales = {letter: float(np.float32(scale)) for letter, scale in zip("aby", drawn, strict=True)}
    points = {letter: rng.randint(low, low + 255) for letter in "aby"}
    constants = {
        **{f"{letter}s": np.float32(scale) for letter, scale in scales.items()},
        **{f"{letter}z": codes.dtype.type(point) for letter, point in points.items()},
    }
    text = """g (KIND[M] a, KIND[M] b) => (KIND[M] y) {
        y = com.microsoft.QLinearMul(a, as, az, b, bs, bz, ys, yz) }"""
    path = oracle.write(tmp_path / "product.onnx", text.replace("KIND", str(codes.dtype)), constants)
    run = oracle.session(onnx.load(path)).run
    wanted = [run(None, {"a": np.full(256, a), "b": codes})[0].tolist() for a in codes]
    assert float32_products((low, low + 255), (low, low + 255), scales, points) == wanted


def with_an_uncertain_average():
    """An average of four pixels whose ties float32 may round to either side: the stage adds in float32."""
    net = small.Builder((2, 4, 4))
    net.windowed_average((2, 2), strides=(2, 2))
    return net.network()


def test_an_average_in_float32_is_tested(tmp_path):
    """Its place is checked, and that no certificate of sums of integers would do."""
    directory = emitted(with_an_uncertain_average(), tmp_path)
    report = verify_package(directory)
    assert report.passed, report.reasons
    assert [stage.tested for stage in report.stages] == [True]


@pytest.mark.slow
def test_an_average_of_sums_of_integers_is_not_merely_tested(packages, at_steps, without_order, tmp_path):
    directory = shutil.copytree(packages("averaged"), tmp_path / "net")
    content = json.loads((directory / "certificate.json").read_text())
    content["stages"][1]["verdict"] = "tested"
    (directory / "certificate.json").write_text(json.dumps(content))
    seal(directory)
    reasons = verify_package(directory).reasons
    assert any("average1 (WindowedAverage): certificate.json: verdict is 'tested'" in each for each in reasons), reasons


def test_an_average_whose_sums_depend_on_their_order(tmp_path, monkeypatch):
    monkeypatch.setattr(WindowedAverage, "uncertain_sum", None)
    report = verify_package(emitted(with_an_uncertain_average(), tmp_path))
    (reason,) = report.reasons
    text = r"average0 \(WindowedAverage\): net_stages.npz: float32 additions may round the sum -?\d+ of 4"
    assert re.search(text, reason)


def test_uncertain_averages_are_those_of_golden():
    rng = np.random.default_rng(8)
    found = []
    for _ in range(60):
        kernel = tuple(map(int, rng.integers(1, 5, 2)))
        x_scale, y_scale = (np.float32(2.0**exponent) for exponent in rng.uniform(-7, -4, 2))
        x_scale = rng.choice([x_scale, y_scale, 2.0 ** np.round(np.log2(x_scale))])
        zero_points = tuple(map(int, rng.integers(-128, 128, 2)))
        x = Tensor(name="x", shape=(1, 1, *kernel), format=INT8, scale=np.float32(x_scale), zero_point=zero_points[0])
        y = x.replace(name="y", shape=(1, 1, 1, 1), scale=y_scale, zero_point=zero_points[1])
        node = WindowedAverage(name="a", inputs=(x,), output=y, window=Window(kernel=kernel))
        ends = INT8.min, INT8.max
        uncertain = uncertain_average(
            node.pixels, ends, float(x_scale), zero_points[0], ends, float(y_scale), zero_points[1]
        )
        assert uncertain == node.uncertain_sum
        found.append(uncertain is None)
    assert 10 < sum(found) < 50
