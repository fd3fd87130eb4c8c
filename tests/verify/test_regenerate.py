"""Packages written once more: what verify does not read of a package must be what systoliq writes for its layer."""

from __future__ import annotations

import json
import re
import shutil
import zipfile

import numpy as np
import onnx
import pytest

from systoliq.api import LayerDesign, LayerOptions, MatMulLayer, NetworkOptions, open_source, write_package
from systoliq.design import ArrayDesign, ArrayOptions, DmaEngineDesign, EngineDesign, EngineOptions
from systoliq.design.network import NetworkDesign
from systoliq.golden import IntFormat
from systoliq.golden.archive import npz_bytes, read_arrays
from systoliq.onnx.host import STATIC
from systoliq.package.forms import described_forms
from systoliq.package.regenerate import compare_regenerated
from systoliq.verify import verify_package
from systoliq.verify.package import ARRAYS_BYTES

from ..cli.refused import assert_refused
from ..hw.network import small_networks as small
from ..onnx.network import oracle
from .forging import Forgery, forged
from .sealing import seal

pytestmark = pytest.mark.usefixtures("short_testbenches", "at_steps")
NAME = "fc"

NOT_READ = {  # what the derivation alone accepts
    "a stuck-at in the mask of near-ties": Forgery(
        old=r"(module fc_round_near_tie\(.*?assign _137 = \{ 16'h0000, )value_1_1\[29:0\]",
        new=r"\1{ value_1_1[29:16], 1'h0, value_1_1[14:0] }",
        reason='writes "assign _137 = ',
    ),
    "another multiplier in the array": Forgery(
        old=r"(module fc_multiplier_8x8\(.*?)\$signed\(a_1\) \* \$signed\(b_1\)",
        new=r"\1$signed(a_1) * $signed({ b_1[7:1], 1'h0 })",
        reason="writes 'assign _1 = $signed(a_1) * $signed(b_1);'",
    ),
    "logic in the top": Forgery(
        old=r"\.rst\(rst\),\n    \.y__payload", new=".rst(error),\n    .y__payload", reason="writes '.rst(rst),'"
    ),
    "operands in another order": Forgery(
        old=r"(fc_mac mac \(\s*)\.a\(a\),\n    \.b\(b\)",
        new=r"\1.a(b),\n    .b(a)",
        reason="line 5",
    ),
    "an accumulator that is not cleared": Forgery(
        old=r"clear \? 19'h00000 : sum", new="clear ? sum : sum", reason='writes "assign _3 = clear'
    ),
    "an added stage of the pipeline": Forgery(
        old=r"(module fc_last_check\(.*?)(endmodule)",
        new=r"\1  reg late = 1'h0;\n  always @(posedge clk)\n    late <= last;\n\2",
        reason='is "reg late = ',
    ),
    "a register that begins as something else": Forgery(
        old=r"(module fc_mac\(.*?sum_held = 19'h0000)0", new=r"\g<1>1", reason="sum_held = 19'h00000;\" for"
    ),
    "a handshake without its ready": Forgery(
        old=r"s_axis_a_tvalid & s_axis_a_tready", new="s_axis_a_tvalid", reason="writes 'assign taken = "
    ),
    "a testbench that passes always": Forgery(
        suffix="_tb.v", old=r"FAIL: ", new="PASS: ", reason="fc_tb.v: line"
    ),
    "another latency in the sidecar": Forgery(
        suffix=".json", old=r'("latency": \{\s*"cycles": )\d+', new=r"\g<1>7", reason="fc.json: line"
    ),
    "a waiver of any warning": Forgery(
        suffix=".vlt", old=r"\Z", new='lint_off -file "*"\n', reason="fc.vlt: line"
    ),
    "a model of another cell": Forgery(
        package="ecp5", suffix="_models.v", old=r"\Z", new="\nmodule more; endmodule\n", reason="fc_models.v: line"
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    """A package of plain logic, and one of vendor cells."""
    folder = tmp_path_factory.mktemp("packages")
    write_package(open_source("resnet8-fc", name=NAME), folder / "layer")
    write_package(open_source("resnet8-fc", LayerOptions(cells="ecp5", cols=1), name=NAME), folder / "ecp5")
    return folder


@pytest.mark.sampled(3)
@pytest.mark.parametrize("what", NOT_READ)
def test_what_is_not_read_must_be_what_systoliq_writes(what, packages, tmp_path):
    forgery = NOT_READ[what]
    compared = compare_regenerated(forged(packages / forgery.package, NAME, forgery, tmp_path))
    assert any(forgery.reason in reason for reason in compared.reasons), compared.reasons
    assert all("systoliq" in reason for reason in compared.reasons)


def test_the_command_refuses_what_the_derivation_alone_accepts(packages, call, tmp_path):
    copy = forged(packages / "layer", NAME, NOT_READ["another multiplier in the array"], tmp_path)
    assert verify_package(copy).passed
    result = call("verify", copy)
    assert result.exit_code == 1
    assert "refused: fc.v: line " in result.output
    assert " for this layer and hardware" in result.output


def test_a_layer_that_was_replaced_everywhere_is_refused_with_the_right_source(call, tmp_path):
    b, scales = np.int8([[3, -4], [1, 2]]), {"a_scale": 0.3, "b_scale": 0.2, "y_scale": 0.7}
    right = {name: np.float32(scale) for name, scale in scales.items()}
    right |= {"b": b, "a_zero_point": np.uint8(3), "b_zero_point": np.int8(0), "y_zero_point": np.int8(1)}
    np.savez(tmp_path / "right.npz", **right)
    np.savez(tmp_path / "other.npz", **right | {"b": b ^ np.int8([[0, 0], [1, 0]])})
    for name in ("right", "other"):
        write_package(open_source(str(tmp_path / f"{name}.npz"), name=NAME), tmp_path / name)
    said = [call("verify", tmp_path / name) for name in ("right", "other")]
    assert [each.exit_code for each in said] == [0, 0]
    digests = [line for each in said for line in each.output.splitlines() if line.startswith("layer: sha256 ")]
    assert len(set(digests)) == 2
    assert call("verify", tmp_path / "right", "--layer", tmp_path / "right.npz").exit_code == 0
    result = call("verify", tmp_path / "other", "--layer", tmp_path / "right.npz")
    assert result.exit_code == 1
    assert "refused: fc_layer.npz: b is not that of " in result.output


VARIANTS = {
    "narrow activations": {"a_bits": 6, "depth": 4},
    "wide multipliers": {"b_bits": 9},
    "chosen": {"requantizer": "auto", "accumulator_bits": "auto"},
    "nearest": {"requantizer": "nearest"},
    "rounded multipliers": {"multiplier_bits": 20, "cols": 2},
    "wraps": {"accumulator_bits": 32, "wrap": True},
    "ice40": {"cells": "ice40", "rows": 2, "cols": 2, "depth": 2},
    "ecp5-pair": {"cells": "ecp5-pair", "rows": 2, "cols": 2, "depth": 2},
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("what", VARIANTS)
def test_an_emitted_package_is_regenerated(what, tmp_path):
    write_package(open_source("resnet8-fc", LayerOptions(**VARIANTS[what])), tmp_path / "out")
    for source in (None, "resnet8-fc"):
        compared = compare_regenerated(tmp_path / "out", source)
        assert compared.reasons == ()
        assert compared.files >= 7


DESCRIBED = {
    "array": ArrayDesign(ArrayOptions(rows=2, cols=2, depth=2)),
    "array of narrow operands": ArrayDesign(
        ArrayOptions(rows=2, cols=1, a_bits=4, b_signed=False, accumulator_bits=20, wrap=True, cells="ecp5")
    ),
    "array of float8": ArrayDesign(ArrayOptions(rows=1, cols=2, a_format="e4m3fn", b_format="e5m2")),
    "engine": EngineDesign(EngineOptions(rows=2, cols=2, lanes=1, max_rows=16), name="tiny"),
    "engine of float8": EngineDesign(
        EngineOptions(rows=2, cols=2, a_format="e4m3fn", b_format="e5m2", y_format="e4m3fn")
    ),
    "DMA engine": DmaEngineDesign(EngineOptions(rows=2, cols=2, bus=32, vector=True, row_length=16)),
}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("what", DESCRIBED)
def test_an_engine_or_array_is_regenerated_from_its_description(what, call, tmp_path):
    design = DESCRIBED[what]
    write_package(design, tmp_path / "out")
    result = call("verify", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert re.search(
        rf"compared: \d+ files are what systoliq \S+ writes for this {what.split(' of ')[0]}\n", result.output
    )
    assert f"not compared: versions in {design.name}.json" in result.output
    verilog = tmp_path / "out" / f"{design.name}.v"
    verilog.write_text(verilog.read_text().replace(" + ", " - ", 1))
    result = call("verify", tmp_path / "out")
    assert result.exit_code == 1
    assert f"refused: {design.name}.v: line " in result.output


def test_an_engine_that_is_described_otherwise_is_refused(call, tmp_path):
    write_package(DESCRIBED["engine"], tmp_path / "out")
    sidecar = tmp_path / "out/tiny.json"
    facts = json.loads(sidecar.read_text())
    for change, said in (
        ({"rows": 3}, "refused: Makefile: line |refused: tiny.v: line "),
        ({"lanes": 5}, "refused: tiny.json: does not describe .*lanes must divide cols = 2, not 5"),
    ):
        sidecar.write_text(json.dumps(facts | {"engine": facts["engine"] | change}))
        result = call("verify", tmp_path / "out")
        assert result.exit_code == 1
        assert re.search(said, result.output), result.output
    less = {name: value for name, value in facts["engine"].items() if name != "cols"}
    sidecar.write_text(json.dumps(facts | {"engine": less}))
    result = call("verify", tmp_path / "out")
    assert "refused: tiny.json: does not describe what" in result.output
    assert "can write (cols is missing)" in result.output
    sidecar.write_text(json.dumps({name: value for name, value in facts.items() if name != "engine"}))
    result = call("verify", tmp_path / "out")
    assert "refused: tiny.json: engine must be an object, and is missing" in result.output


def test_an_engine_has_no_layer_to_compare_with(call, tmp_path):
    write_package(DESCRIBED["array"], tmp_path / "out")
    result = call("verify", tmp_path / "out", "--layer", "resnet8-fc")
    assert result.exit_code == 2
    assert "is a package of the kind array, which has no layer to compare with resnet8-fc" in result.output
    result = call("verify", tmp_path / "out", "--no-regenerate")
    assert result.exit_code == 2
    assert "has no certificate.json" in result.output


def test_sums_without_a_certificate_are_compared(call, arrays, save, tmp_path):
    source = save("sums.npz", b=arrays["b"], a_zero_point=arrays["a_zero_point"], b_zero_point=arrays["b_zero_point"])
    write_package(open_source(str(source), name=NAME), tmp_path / "out")
    result = call("verify", tmp_path / "out", "--layer", source)
    assert result.exit_code == 0, result.output
    assert "compared: 15 files are what systoliq" in result.output
    (tmp_path / "out" / "more.v").write_text("module more; endmodule\n")
    result = call("verify", tmp_path / "out")
    assert result.exit_code == 1
    assert "refused: more.v: systoliq" in result.output


MODEL = """g (int8[N, 2, 5, 5] a) => (int8[N, 2, 2, 2] y) {
    c = QLinearConv(a, s, z, w, ws, z, s, z)
    p = MaxPool<kernel_shape = [2, 2], strides = [2, 2]>(c)
    y = QLinearConv(p, s, z, v, ws, z, s, z)
}"""


@pytest.fixture(scope="module")
def networks(tmp_path_factory):
    """A model in ONNX and its package; and the package of it with another weight."""
    folder = tmp_path_factory.mktemp("networks")
    rng = np.random.default_rng(7)
    w, v = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((3, 2, 2, 2), (2, 3, 1, 1)))
    constants = {"s": np.float32(0.1), "z": np.int8(0), "ws": np.float32(0.01), "w": w, "v": v}
    other = w.copy()
    other.flat[5] ^= 1
    for name, weights in (("right", w), ("other", other)):
        oracle.write(folder / f"{name}.onnx", MODEL, constants | {"w": weights})
        write_package(
            open_source(str(folder / f"{name}.onnx"), NetworkOptions(multipliers=8), name="net"), folder / name
        )
    return folder


def test_a_network_is_regenerated_and_compared(networks, without_order, call):
    said = [call("verify", networks / name) for name in ("right", "other")]
    assert [each.exit_code for each in said] == [0, 0], said[0].output
    assert all(re.search(r"\ncompared: \d\d files are what .* for this network and hardware\n", s.output) for s in said)
    digests = [line for each in said for line in each.output.splitlines() if line.startswith("network: sha256 ")]
    assert len(set(digests)) == 2


@pytest.mark.slow  # as the layer above
def test_a_network_that_was_replaced_everywhere_is_refused_with_the_right_source(networks, without_order, call):
    model = networks / "right.onnx"
    result = call("verify", networks / "right", "--layer", model)
    assert result.exit_code == 0, result.output
    assert re.search(rf"\nnetwork: sha256 \w{{64}}, that of {re.escape(str(model))}\n", result.output)
    result = call("verify", networks / "other", "--layer", model)
    assert result.exit_code == 1
    assert "refused: net_network.npz: nodes/0/layer/b is not that of " in result.output
    assert "right.onnx: the package is of another network\n" in result.output
    result = call("verify", networks / "right", "--layer", "resnet8-fc")
    assert result.exit_code == 1
    assert "refused: resnet8-fc is no network, and the package is of one" in result.output
    assert_refused(call("verify", networks / "right", "--layer", "no.onnx"), "error: no.onnx: there is no such file")


@pytest.fixture(scope="module")
def small_network(tmp_path_factory):
    """The package of a network of two products and a table: digits-cnn takes five times as long to verify."""
    net = small.Builder((2, 4, 4))
    net.convolution(3, (2, 2))
    net.table()
    net.convolution(2)
    folder = tmp_path_factory.mktemp("small")
    write_package(NetworkDesign(net.network(), NetworkOptions(), name="net"), folder / "net")
    return folder / "net"


OF_A_NETWORK = (
    "net.v", "net_tb.v", "net.vlt", "net.json", "net_vectors.npz", "net_network.npz", "net_stages.npz", "net_plan.json",
    "report.html", "certificate.json", *described_forms({"top": "net"}),
)  # fmt: skip


@pytest.mark.sampled(8)
@pytest.mark.parametrize("file", OF_A_NETWORK)
def test_a_changed_byte_of_a_network_s_package_is_refused_by_name(file, small_network, without_order, tmp_path):
    """A digit of text, the last byte of an archive's last array; then with all digests made right again."""
    directory = shutil.copytree(small_network, tmp_path / "net")
    assert {path.name for path in directory.iterdir()} == {*OF_A_NETWORK}
    path = directory / file
    if file.endswith(".npz"):
        arrays = read_arrays(path)
        last = [key for key, array in arrays.items() if array.ndim][-1]
        arrays[last].view(np.uint8).flat[-1] ^= 1
        np.savez(path, **arrays)
    else:
        last = r"(.*)(\d)" if file != "net.json" else r'("format": )(\d)'  # its last ones are versions
        path.write_text(re.sub(last, lambda each: f"{each[1]}{int(each[2]) ^ 1}", path.read_text(), flags=re.DOTALL))
    assert any(reason.startswith(f"{file}: ") for reason in verify_package(directory).reasons)
    if file != "certificate.json":
        seal(directory)
        named = "net.v" if file == "net_network.npz" else file  # it is another network, and the rest is not of that
        assert any(reason.startswith(f"{named}: ") for reason in compare_regenerated(directory).reasons)


@pytest.mark.slow  # tests/golden/test_archive.py
def test_a_network_s_archive_that_is_broken_or_giant_ends_in_one_line(small_network, without_order, call, tmp_path):
    directory = shutil.copytree(small_network, tmp_path / "net")
    path = directory / "net_network.npz"
    arrays = read_arrays(path)
    hostile = {
        "cut off": path.read_bytes()[:-100],
        "no network": npz_bytes({"b": arrays["nodes/0/layer/b"]}),
        "another description": npz_bytes(arrays | {"description": np.array(b'{"is":"Window","kernel":[1,1]}')}),
        "a class of the host": npz_bytes(arrays | {"description": np.array(b'{"is":"Path"}')}),
        "deep": npz_bytes(arrays | {"description": np.array(b"[" * 100_000)}),
    }
    for content in hostile.values():
        path.write_bytes(content)
        seal(directory)
        result = call("verify", directory)
        assert result.exit_code == 1
        assert len([line for line in result.output.splitlines() if line.startswith("refused: ")]) == 1, result.output
        assert "net_network.npz: " in result.output
        assert "Traceback" not in result.output
    bomb = tmp_path / "bomb.npz"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("b.npy", bytes(1 << 20))
    content = bomb.read_bytes()
    length = (1 << 20).to_bytes(4, "little")
    assert content.count(length) == 2
    path.write_bytes(content.replace(length, (1 << 31).to_bytes(4, "little")))
    seal(directory)
    assert f"must have at most {ARRAYS_BYTES} bytes in all arrays, not {1 << 31}" in call("verify", directory).output


def test_two_sidecars_are_not_one_package(packages, tmp_path):
    """What is compared must not depend on a file that was added."""
    copy = shutil.copytree(packages / "layer", tmp_path / "copy")
    shutil.copy(copy / "fc.json", copy / "more.json")
    (reason,) = compare_regenerated(copy).reasons
    assert reason.endswith("must have one NAME.json, that of the package, and has none or more")


def test_a_package_of_other_versions_is_compared_but_for_them(packages, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(packages / "layer", copy)
    sidecar = json.loads((copy / "fc.json").read_text())
    sidecar["versions"]["amaranth"] = "0.0.1"
    (copy / "fc.json").write_text(json.dumps(sidecar, indent=2) + "\n")
    verilog = (copy / "fc.v").read_text()
    (copy / "fc.v").write_text(verilog.replace("with Amaranth 0", "with Amaranth 9", 1))
    seal(copy)
    (reason,) = compare_regenerated(copy).reasons  # the certificate says other versions than the sidecar
    assert reason.startswith("certificate.json: line ")
    certificate = json.loads((copy / "certificate.json").read_text())
    certificate["versions"] = sidecar["versions"]
    (copy / "certificate.json").write_text(json.dumps(certificate))
    seal(copy)
    assert compare_regenerated(copy).reasons == ()
    (copy / "fc.v").write_text(verilog.replace("wire taken;", "wire taken ;", 1))
    (reason,) = compare_regenerated(copy).reasons
    assert reason.endswith("; it was written with amaranth 0.0.1: compare with these")


@pytest.mark.slow
def test_the_digest_is_said_to_be_that_of_a_source_only_where_it_is(packages, call, tmp_path):
    """Without the hardware nothing can be written again: that is a reason, and no word of what was not compared."""
    copy = shutil.copytree(packages / "layer", tmp_path / "copy")
    sidecar = json.loads((copy / "fc.json").read_text())
    del sidecar["hardware"]
    (copy / "fc.json").write_text(json.dumps(sidecar, indent=2) + "\n")
    seal(copy)
    for more in ((), ("--layer", "digits")):
        result = call("verify", copy, *more)
        assert result.exit_code == 1
        assert "refused: fc.json: hardware must be an object, and is missing: without it" in result.output
        assert "that of" not in result.output
        assert "verified: fc " not in result.output


def dynamic(path, bias):
    """A model of int32 sums with DynamicQuantizeLinear before them, and Cast, Mul and Add behind them."""
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 17]>
        g (float[M, 2] x) => (float[M, 2] y) {
            a, s, z = DynamicQuantizeLinear(x)
            sums = MatMulInteger(a, b, z, bz)
            real = Cast<to = 1>(sums)
            scale = Mul(s, bs)
            scaled = Mul(real, scale)
            y = Add(scaled, bias)
        }""")
    constants = {"b": np.int8([[3, -4], [1, 2]]), "bz": np.int8(0), "bs": np.float32(0.25), "bias": np.float32(bias)}
    model.graph.initializer.extend(onnx.numpy_helper.from_array(each, name) for name, each in constants.items())
    onnx.save(model, path)
    return path


def test_the_host_s_part_is_compared_with_a_source_and_named_without_one(call, tmp_path):
    right, other = (dynamic(tmp_path / f"{name}.onnx", bias) for name, bias in (("right", [1, 2]), ("other", [1, 3])))
    write_package(open_source(str(right), name=NAME), tmp_path / "out")
    result = call("verify", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "\nnot compared: origin, versions and host in fc.json, which only its author knows\n" in result.output
    result = call("verify", tmp_path / "out", "--layer", right)
    assert result.exit_code == 0, result.output
    assert re.search(rf"layer: sha256 \w{{64}}, that of {re.escape(str(right))}\n", result.output)
    assert "\nnot compared: origin and versions in fc.json, which only its author knows\n" in result.output
    result = call("verify", tmp_path / "out", "--layer", other)
    assert result.exit_code == 1
    assert "refused: fc.json: host is not that of " in result.output


@pytest.mark.slow
def test_the_host_s_part_must_be_one_that_there_is(call, tmp_path):
    write_package(open_source(str(dynamic(tmp_path / "model.onnx", [1, 2])), name=NAME), tmp_path / "out")
    file = tmp_path / "out" / "fc.json"
    right = json.loads(file.read_text())
    scales, bias = right["host"]["after"][1:]
    for after, reason in (
        ([bias], "the scales in host.after must be those of b"),
        ([*right["host"]["after"], {"operator": "Div", "constant": 2.0, "a_scale": False}], "each step of host.after"),
        ([right["host"]["after"][0], scales | {"constant": 0.5}, bias], "the scales in host.after must be those of b"),
    ):
        file.write_text(json.dumps(right | {"host": right["host"] | {"after": after}}, indent=2) + "\n")
        result = call("verify", tmp_path / "out")
        assert result.exit_code == 1
        assert "refused: fc.json: " in result.output
        assert reason in result.output, result.output


@pytest.mark.slow
def test_how_the_host_quantizes_a_follows_from_the_layer(call, tmp_path):
    """A by its own scale exactly where the layer has one: neither left out nor invented."""
    write_package(open_source(str(dynamic(tmp_path / "model.onnx", [1, 2])), name=NAME), tmp_path / "out")
    file = tmp_path / "out" / "fc.json"
    right = json.loads(file.read_text())
    file.write_text(json.dumps(right | {"host": right["host"] | {"before": STATIC}}, indent=2) + "\n")
    result = call("verify", tmp_path / "out")
    assert result.exit_code == 1
    assert "host.before must be " in result.output, result.output


@pytest.mark.parametrize("y", ["int3", "sums", "run-time zero points"])
def test_operands_narrower_than_their_types_are_written_again(y, tmp_path):
    """A layer's file has whole bytes; the sidecar says how many bits of them there are."""
    fields = {"b": np.array([[3, -4], [1, 2]], np.int8), "b_format": IntFormat(3, True), "b_zero_point": np.int8(0)}
    fields |= {"a_format": IntFormat(5, False)}
    if y == "int3":
        fields |= {"a_scale": np.float32(0.3), "b_scale": np.float32(0.2), "y_scale": np.float32(0.7)}
        fields |= {"a_zero_point": 3, "y_zero_point": 1, "y_format": IntFormat(3, True)}
    elif y == "sums":
        fields |= {"a_zero_point": 3}
    write_package(LayerDesign(MatMulLayer(**fields), name="narrow"), tmp_path / "out")
    compared = compare_regenerated(tmp_path / "out")
    assert not compared.reasons
    assert compared.files >= 6
