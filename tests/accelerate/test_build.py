"""`systoliq build`: the whole way, its answer, and steps that are kept while nothing that they depend on changes."""

from __future__ import annotations

import io
import json
import re
import shutil

import numpy as np
import onnx
import pytest
from click.testing import CliRunner
from onnxruntime import InferenceSession, SessionOptions

from systoliq.accelerate.images import golden_outputs, images_of
from systoliq.board.boards import BOARDS
from systoliq.cli.main import cli
from systoliq.design import open_source
from systoliq.design.digits_cnn import INT8_MODEL

from ..cli.refused import assert_refused
from ..quantize.float_models import CNN, POOL, float_model, images

ONE = """c = Conv<kernel_shape = [3, 3]>(x, w, b)  r = Relu(c)  a = GlobalAveragePool(r)
    f = Flatten(a)  [fc] y = Gemm<transB = 1>(f, u, d)"""
STEPS = ["quantize", "plan", "emit", "simulate", "verify"]


def run(folder, *options):
    words = ["build", folder / "m.onnx", "--board", "icebreaker", "--data", folder / "x.npz", "--out", folder / "out"]
    words += ["--simulator", "icarus", "--images", 4, "--until", "verify", *options]
    return CliRunner().invoke(cli, list(map(str, words)))


def steps_of(result):
    """The steps that are shown, and whether each was kept."""
    found = re.findall(r"^(\w+) +(kept|[0-9.]+ s)$", result.stdout, re.MULTILINE)
    return {step: time == "kept" for step, time in found if step in STEPS}


def outputs(path, x):
    options = SessionOptions()
    options.add_session_config_entry("session.qdqisint8allowed", "1")
    session = InferenceSession(str(path), options)
    return session.run(None, {session.get_inputs()[0].name: x})[0]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """A folder with a float model, labelled images and their build until verify; and what the command said."""
    folder = tmp_path_factory.mktemp("build")
    float_model(folder / "m.onnx", ONE)
    x = images(20)
    labels = outputs(folder / "m.onnx", x).argmax(axis=1)
    labels[0] = (labels[0] + 1) % 3
    np.savez(folder / "x.npz", inputs=x, labels=labels)
    return folder, run(folder)


@pytest.fixture
def again(built, tmp_path):
    """A copy of that folder."""
    return shutil.copytree(built[0], tmp_path / "copy")


@pytest.mark.simulator
def test_the_answer(built):
    folder, result = built
    assert result.exit_code == 0, (result.output, result.exception)
    assert steps_of(result) == dict.fromkeys(STEPS, False)
    with np.load(folder / "x.npz") as held:
        x, labels = held["inputs"], held["labels"]
    hits = outputs(folder / "out/m_int8.onnx", x).argmax(axis=1) == labels
    answer = [
        "yes, icebreaker",
        f"float 95.00%, quantized {np.mean(hits):.2%} of 20 samples; RTL {np.mean(hits[:4]):.2%} of 4 simulated images",
        "equal golden in icarus",
        "3 of 3 stages verified",
        "synthesize, bitstream: the same command resumes there",
    ]
    page = (folder / "out/report.html").read_text()
    shown = " ".join(result.stdout.split())
    for text in answer:
        assert text in shown
        assert text in page
    assert page.index("yes, icebreaker") < page.index("<h2>")
    assert '<section class="stage' in page
    assert "WARNING" not in page


@pytest.mark.simulator
def test_steps_are_kept_until_what_they_depend_on_changes(again):
    """Copying changes no content; a file of the package that is lost, or other data, brings the steps behind it."""
    assert steps_of(run(again)) == dict.fromkeys(STEPS, True)
    (again / "out/package/m_int8.v").write_text("")
    made = run(again)
    assert made.exit_code == 0, made.output
    assert steps_of(made) == dict.fromkeys(STEPS, True) | {"emit": False}
    (again / "out/samples.npz").unlink()
    made = run(again, "--until", "simulate", "--images", 2)
    assert steps_of(made) == {"quantize": True, "plan": True, "emit": True, "simulate": False}
    assert run(again, "--until", "plan", "--calibration", "entropy").exit_code == 0
    held = json.loads((again / "out/build.json").read_text())["steps"]
    assert held["quantize"]["figures"]["calibration"] == "entropy of 20 samples of x.npz"


def test_a_directory_of_another_source(again):
    float_model(again / "n.onnx", ONE)
    words = ["build", again / "n.onnx", "--board", "icebreaker", "--out", again / "out", "--until", "plan"]
    call = CliRunner().invoke
    text = "out: must be new, empty or hold a build of 'n.onnx', not of 'm.onnx': give another directory, or --replace"
    assert_refused(call(cli, list(map(str, words))), text)
    result = call(cli, [*map(str, words), "--replace"])
    assert result.exit_code == 0, result.output
    assert "WARNING" in result.stdout
    assert "random numbers: for a first try only" in (again / "out/report.html").read_text()
    (again / "other").mkdir()
    (again / "other/notes.txt").write_text("mine")
    refused = call(cli, [*map(str, words[:4]), "--out", str(again / "other")])
    assert_refused(refused, "other: must be new, empty or written by systoliq build; it holds other files")


WRONG = {
    "names": ({"z": images()}, [], "x.npz: must hold 'x' (or 'inputs'), the input of m.onnx, not z"),
    "labels": ({"x": images(), "labels": np.zeros(3, int)}, [], "labels must be one for each of 12 inputs, not 3"),
    "board": ({"x": images()}, ["--board", "icebraker"], "not 'icebraker': did you mean icebreaker?"),
    "shape": ({"x": images()}, ["--shape", "z=1"], "shape must name an input of"),
}


@pytest.mark.parametrize(("arrays", "options", "text"), WRONG.values(), ids=WRONG)
def test_bad_input_leaves_nothing(arrays, options, text, tmp_path):
    float_model(tmp_path / "m.onnx", ONE)
    np.savez(tmp_path / "x.npz", **arrays)
    assert_refused(run(tmp_path, *options), text)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("source", ["engine", "array"])
def test_sources_without_images(source, tmp_path):
    words = ["build", source, "--board", "icebreaker", "--out", tmp_path / "out"]
    text = f"SOURCE must be a layer or a network where a board is meant, not {source}"
    assert_refused(CliRunner().invoke(cli, [*map(str, words), "--until", "plan"]), text)
    assert not (tmp_path / "out").exists()


@pytest.mark.simulator
def test_a_float_product_becomes_a_layer(tmp_path):
    """Its rows are quantized as the model says, and labels give the accuracy."""
    path = float_model(
        tmp_path / "m.onnx", "[fc] y = Gemm<transB = 1>(x, u, d)", ends="(float[N, 4] x) => (float[N, 3] y)"
    )
    x = np.random.default_rng(2).normal(size=(9, 4)).astype(np.float32)
    np.savez(tmp_path / "x.npz", x=x, labels=InferenceSession(str(path)).run(None, {"x": x})[0].argmax(axis=1))
    result = run(tmp_path, "--until", "simulate", "--images", 9)
    assert result.exit_code == 0, (result.output, result.exception)
    hits = outputs(tmp_path / "out/m_int8.onnx", x).argmax(axis=1)
    with np.load(tmp_path / "x.npz") as held:
        share = np.mean(hits == held["labels"])
    assert f"float 100.00%, quantized {share:.2%} of 9 samples; RTL {share:.2%} of 9 simulated" in " ".join(
        result.stdout.split()
    )


def test_too_many_images_are_refused_before_anything_is_emitted(tmp_path):
    float_model(tmp_path / "m.onnx", ONE)
    np.savez(tmp_path / "x.npz", x=images())
    result = run(tmp_path, "--images", 13)
    assert result.exit_code == 2
    assert "images must be 1 to 12, the images of x.npz, not 13" in result.stderr
    assert not (tmp_path / "out/package").exists()


def test_a_float_model_that_is_no_network(tmp_path):
    float_model(
        tmp_path / "m.onnx",
        CNN.replace(POOL, "[pool] p = AveragePool<kernel_shape = [6, 6], pads = [3, 3, 2, 2]>"),
    )
    np.savez(tmp_path / "x.npz", x=images())
    result = run(tmp_path)
    assert result.exit_code == 2
    assert (
        "m.onnx cannot be one network in hardware: node 'pool': all windows must count the same number of pixels"
        in result.stderr
    )
    assert f"systoliq partition {tmp_path / 'out/m_int8.onnx'} --out DIR" in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_board_that_is_too_small(tmp_path):
    """The report says no, and which boards have room."""
    words = ["build", "digits-cnn", "--board", "icebreaker", "--multipliers", "64", "--out", tmp_path / "out"]
    result = CliRunner().invoke(cli, [*map(str, words), "--until", "plan"])
    assert result.exit_code == 2
    text = "; not known before synthesis: tang-nano-9k, tang-nano-20k"  # no estimates of Gowin
    fits = result.stderr.partition("the boards that it fits: ")[2].partition(";")[0].split(", ")
    assert "ulx3s-85f" in fits
    rooms = [BOARDS[name].target.capacity["lut_sites"] for name in fits]
    assert rooms == sorted(rooms)
    assert text in result.stderr
    page = (tmp_path / "out/report.html").read_text()
    assert "fits: NO, icebreaker" in page
    assert text in page


WIDE = "f = Flatten(x)  a = Gemm(f, p)  r = Relu(a)  y = Gemm(r, q)"


def wide_model(path, width):
    """A float model of two products whose weights are `width` x 36 and 3 x `width`."""
    rng = np.random.default_rng(1)
    model = onnx.load(float_model(path, WIDE))
    shapes = {"p": (36, width), "q": (width, 3)}
    model.graph.initializer.extend(
        onnx.numpy_helper.from_array(rng.normal(size=shape).astype(np.float32), name) for name, shape in shapes.items()
    )
    onnx.save(model, path)


@pytest.mark.slow  # another board that is too small is above
@pytest.mark.parametrize(("width", "text"), [
    (500, "; with --weight-bits 4, a plan fits icebreaker"),
    pytest.param(900, "; with --weight-bits 4, no plan is known to fit icebreaker", marks=pytest.mark.slow),
])  # fmt: skip
def test_a_board_that_is_too_small_for_8_bits(width, text, tmp_path):
    """About 20,000 and 35,000 weights, where the part has 30 blocks of 512 bytes."""
    wide_model(tmp_path / "m.onnx", width)
    np.savez(tmp_path / "x.npz", x=images(4))
    result = run(tmp_path, "--until", "plan")
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    assert text in result.stderr
    assert "memory blocks where there are 30" in result.stderr
    narrow = run(tmp_path, "--until", "plan", "--weight-bits", 4)
    assert narrow.exit_code == (0 if "a plan fits" in text else 2)


def test_a_part_without_estimates_is_not_said_to_fit(tmp_path):
    words = ["build", "digits-cnn", "--board", "tang-nano-9k", "--out", tmp_path / "out", "--until", "plan"]
    result = CliRunner().invoke(cli, [*map(str, words)])
    assert result.exit_code == 0
    assert "fits        not known before synthesis, tang-nano-9k" in result.stdout


def test_images_of_presets_and_their_golden_outputs():
    """The preset's own images, labels and all; golden gives the classes of onnxruntime."""
    pytest.importorskip("sklearn")
    design = open_source("digits-cnn")
    found = images_of("digits-cnn", design, None, None)
    (x,) = found.arrays.values()
    classes = outputs(INT8_MODEL, x).argmax(axis=1)
    assert found.count == len(found.labels) == 450
    assert (golden_outputs(design, found).argmax(axis=1) == classes).all()
    with np.load(io.BytesIO(found.first(3).archive())) as held:
        assert held["labels"].tolist() == found.labels[:3].tolist()


@pytest.mark.slow
@pytest.mark.simulator
def test_until_the_bitstream(again):
    pytest.importorskip("amaranth_boards", reason="amaranth-boards is not installed: pip install 'systoliq[board]'")
    result = run(again, "--until", "bitstream")
    assert result.exit_code == 0, (result.output, result.exception)
    assert "placed and routed" in result.stdout
    assert "left to do" not in result.stdout
    assert (again / "out/bitstream/m_int8.bin").stat().st_size > 100_000
    figures = json.loads((again / "out/bitstream/report.json").read_text())
    assert f"{figures['clock_mhz']:.3f} MHz" in result.stdout
    kept = run(again, "--until", "bitstream")
    assert kept.exit_code == 0
    assert len(re.findall("^.* kept$", kept.stdout, re.MULTILINE)) == 7
