"""What `--help` shows: each example stands on a line of its own, is understood, and does what it says.

Every example is parsed. Those that end within seconds run here; the others are marked slow.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import click
import numpy as np
import onnx
import pytest
from click.testing import CliRunner

from systoliq.cli.main import cli
from systoliq.sim.tools import find, missing_text
from systoliq.synth.targets import open_target

COMMANDS = {name: cli.get_command(None, name) for name in cli.list_commands(None)}
NO_EXAMPLES = {"doctor", "prove", "verify"}  # they take a folder or nothing
QUICK = r"systoliq (emit|layers|quantize|registers) "  # the others synthesize, simulate or measure
ELSEWHERE = (  # a cluster, a board, root or minutes; the tests of these commands try each with what it needs
    r"--scheduler|--liberty|--place|^pip |^systoliq (bench --sizes|bench-area|bitstream"
    r"|board (fit float|load|project|run|simulate)|build float|deploy|harden|mutants|partition|run out/parts|signoff)\b"
)
OF_A_NETWORK = r"systoliq (board fit|compile|run) |.* --bits 4"  # model.onnx is a layer elsewhere
DIRECTORIES = {"out/fc": "emit resnet8-fc", "out/engine": "emit engine --rows 16 --cols 16 --bus 64"}
TOOLS = {"iverilog": "icarus"}


def examples_of(command: click.Command) -> list[str]:
    """The lines below "Example" or "Examples" in the source of a help text."""
    _, _, after = re.sub("\nExample\n", "\nExamples\n", command.help or "").partition("\nExamples\n")
    return [line.strip() for line in after.split("\n\n")[0].splitlines() if line.strip()]


def with_parts(command: click.Command) -> list[click.Command]:
    """The command, and those of its group where it is one."""
    return [command, *(command.commands.values() if isinstance(command, click.Group) else ())]


EXAMPLES = [example for command in COMMANDS.values() for part in with_parts(command) for example in examples_of(part)]


def shown(name: str) -> str:
    result = CliRunner().invoke(cli, [name, "--help"], prog_name="systoliq")
    assert result.exit_code == 0
    return result.output


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_each_example_on_its_own_line(name):
    text = shown(name)
    assert "\\b" not in text
    assert "\b" not in text
    examples = examples_of(COMMANDS[name])
    assert bool(examples) == (name not in NO_EXAMPLES)
    lines = [line.strip() for line in text.splitlines()]
    assert [example for example in examples if example not in lines] == []


@pytest.mark.parametrize("example", [each for each in EXAMPLES if each.startswith("systoliq ")])
def test_example_is_understood(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    _, name, *arguments = shlex.split(example)
    command = COMMANDS[name]
    if isinstance(command, click.Group):
        name, *arguments = arguments
        command = command.commands[name]
    assert command.make_context(name, arguments).params or example == "systoliq board list"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, made the current one, with the files that examples name."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    b = rng.integers(-64, 65, (64, 10)).astype(np.int8)
    zero, scale = np.int8(0), np.float32(0.02)
    scales = {"a_scale": scale, "b_scale": scale, "y_scale": np.float32(0.5)}
    zeros = {"a_zero_point": zero, "b_zero_point": zero, "y_zero_point": zero}
    np.savez("layer.npz", b=b, **scales, **zeros)
    a = rng.integers(-128, 128, (8, 64)).astype(np.int8)
    np.savez("a.npz", a=a)
    np.savez("ab.npz", a=a, b=b)
    np.savez("test.npz", inputs=a, labels=rng.integers(0, 10, 8))
    np.save("x.npy", (a * scale).astype(np.float32))
    Path("products.csv").write_text("workload,M,K,N,count\nfc,4,64,10,1\n")
    np.savez("x.npz", x=(a * scale).astype(np.float32))
    save_model(Path("model.onnx"), {"b": b, **scales, **zeros})
    save_dynamic_model(Path("dynamic.onnx"), b)
    save_float_model(Path("float.onnx"), (b * scale).astype(np.float32))
    np.savez("calibration.npz", x=(a * scale).astype(np.float32), labels=rng.integers(0, 10, 8))
    Path("docs/measurements").mkdir(parents=True)
    shutil.copy(Path(__file__).parents[1] / "docs/measurements/silicon.md", "docs/measurements")
    return tmp_path


def save_model(path: Path, constants: dict[str, np.ndarray | np.generic]) -> None:
    """An ONNX model with one product, the node /fc/Gemm."""
    names = [f"{name}{part}" for name in "aby" for part in ("", "_scale", "_zero_point")][:-3]
    node = onnx.helper.make_node("QLinearMatMul", [*names, "y_scale", "y_zero_point"], ["y"], name="/fc/Gemm")
    ends = [
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.INT8, ["M", k]) for name, k in (("a", 64), ("y", 10))
    ]
    held = [onnx.numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = onnx.helper.make_graph([node], "g", ends[:1], ends[1:], held)
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)], ir_version=8), path)


def save_network(b: np.ndarray) -> None:
    """A network with one convolution and the product /fc/Gemm, an image for it, and eight with labels."""
    text = """<ir_version: 8, opset_import: ["": 13]> g (float[1, 3, 32, 32] x) => (float[1, 10] y)
        <float s = {0.02}, float t = {0.5}, int8 z = {0}> { q = QuantizeLinear(x, s, z)
        c = QLinearConv <strides = [8, 8]> (q, s, z, w, s, z, t, z)  f = Flatten(c)
        p = QLinearMatMul(f, t, z, b, s, z, t, z)  y = DequantizeLinear(p, t, z) }"""
    rng = np.random.default_rng(6)
    model = onnx.parser.parse_model(text)
    model.graph.node[3].name = "/fc/Gemm"
    w = rng.integers(-64, 65, (4, 3, 8, 8)).astype(np.int8)
    model.graph.initializer.extend([onnx.numpy_helper.from_array(b, "b"), onnx.numpy_helper.from_array(w, "w")])
    onnx.save(model, "model.onnx")
    images = rng.normal(size=(8, 3, 32, 32)).astype(np.float32)
    np.savez("x.npz", x=images[:1])
    np.savez("test.npz", inputs=images, labels=rng.integers(0, 10, 8))


def save_dynamic_model(path: Path, b: np.ndarray) -> None:
    """An ONNX model with one product of dynamic quantization, the node fc_quant."""
    text = """<ir_version: 8, opset_import: ["": 13]> g (float[M, 64] x) => (float[M, 10] y) {
        a, s, z = DynamicQuantizeLinear(x)  [fc_quant] i = MatMulInteger(a, b, z)
        f = Cast<to = 1>(i)  y = Mul(f, s) }"""
    model = onnx.parser.parse_model(text)
    model.graph.initializer.append(onnx.numpy_helper.from_array(b, "b"))
    onnx.save(model, path)


def save_float_model(path: Path, b: np.ndarray) -> None:
    """A float ONNX model with one product and a Relu."""
    text = """<ir_version: 8, opset_import: ["": 13]> g (float[M, 64] x) => (float[M, 10] y) {
        h = MatMul(x, b)  y = Relu(h) }"""
    model = onnx.parser.parse_model(text)
    model.graph.initializer.append(onnx.numpy_helper.from_array(b, "b"))
    onnx.save(model, path)


def runs() -> list[object]:
    """The examples that run here, marked."""
    return [
        pytest.param(each, marks=() if re.match(QUICK, each) else (pytest.mark.slow, pytest.mark.simulator))
        for each in EXAMPLES
        if not re.search(ELSEWHERE, each)
    ]


def prepare(example: str) -> None:
    """Write what the example takes beyond the files of the folder."""
    if "osu018" in example and not (library := Path(open_target("osu018").library.path)).is_file():
        pytest.skip(f"{library} is not there: apt-get install qflow-tech-osu018")
    if re.match(OF_A_NETWORK, example):
        save_network(np.load("layer.npz")["b"])
    for directory, command in DIRECTORIES.items():
        if re.search(rf"(?<!--out ){directory}\b(?!\.)", example):
            assert CliRunner().invoke(cli, [*command.split(), "--out", directory]).exit_code == 0


@pytest.mark.sampled(9)
@pytest.mark.filterwarnings("ignore:HarfBuzz-Subset will be required")  # WeasyPrint's, of what it writes PDF with
@pytest.mark.parametrize("example", runs())
def test_example_runs(example, folder):
    prepare(example)
    if not example.startswith("systoliq "):
        if not (tool := find(TOOLS[shlex.split(example)[0]])).found:
            pytest.skip(missing_text(tool))
        done = subprocess.run(["bash", "-ec", example], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")
        return
    result = CliRunner().invoke(cli, shlex.split(example)[1:])
    assert result.exit_code == 0, result.output
