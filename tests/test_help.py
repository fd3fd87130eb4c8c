"""What `--help` shows: each example stands on a line of its own, is understood, and does what it says.

Every example is parsed. Those that end within seconds run here; the others are marked slow.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path

import click
import numpy as np
import onnx
import pytest
from click.testing import CliRunner

from systoliq.cli.main import cli
from systoliq.sim.tools import find, missing_text

from .quantize import float_models
from .support.standard_cells import liberty, needs_osu018, needs_sta

COMMANDS = {name: cli.get_command(None, name) for name in cli.list_commands(None)}
NO_EXAMPLES = {"doctor", "prove", "verify"}  # they take a folder or nothing
QUICK = r"systoliq (emit|layers|quantize|registers) "  # the others synthesize, simulate or measure
ELSEWHERE = {  # examples that take minutes or hours, or need a board or a cluster, and the tests that cover them
    r" --scheduler ": "explore/test_survival.py",
    r"^systoliq bench --(quick|sizes )": "benchmarks/test_bench.py",
    r"^systoliq bench-area ": "benchmarks/test_area.py",
    r"^systoliq bitstream ": "board/test_flow.py",
    r"^systoliq board load ": "board/test_load.py",
    r"^systoliq board project ": "board/test_project.py",
    r"^systoliq board (run|simulate) ": "board/test_simulated.py",
    r"^systoliq build float\.onnx ": "accelerate/test_build.py",
    r"^systoliq datasheet .* --target ": "datasheet/test_datasheet.py",
    r"^systoliq deploy ": "deploy/test_operator.py",
    r"^systoliq explore digits --target osu018 ": "explore/test_cells.py",
    r"^systoliq explore digits .* --place ": "explore/test_measured.py",
    r"^systoliq explore (model\.onnx|digits-cnn) .* --place ": "explore/question/test_placing.py",
    r"^systoliq explore engine ": "explore/test_engine_subject.py",
    r"^systoliq harden ": "harden/test_harden.py",
    r"^systoliq mutants ": "mutants/test_mutants.py",
    r"^systoliq (partition|run out/parts) ": "partition/test_partition.py",
    r"^systoliq signoff .* --seconds ": "signoff/test_signoff.py",
    r"^systoliq synth resnet8-fc --target ecp5-85k ": "synth/test_synth.py",
    r"^systoliq synth resnet8-fc --target ice40-up5k ": "synth/test_equivalence.py",
    r"^pip install ": "board/test_load.py",
}
TAKEN = {  # directories that examples take, and the examples that write them
    "out/fc": "systoliq emit resnet8-fc --out out/fc",
    "out/engine": "systoliq emit engine --out out/engine --target ecp5-85k --bus 64 --vector",
}
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
    np.save("x.npy", (a * scale).astype(np.float32))
    save_samples((a * scale).astype(np.float32))
    Path("products.csv").write_text("workload,M,K,N,count\nfc,4,64,10,1\n")
    save_network(Path("model.onnx"), b)
    save_dynamic_model(Path("dynamic.onnx"), b)
    float_models.float_model(Path("float.onnx"))
    np.savez("calibration.npz", x=float_models.images(8), labels=rng.integers(0, 3, 8))
    Path("process.lib").write_text(liberty())
    return tmp_path


def save_samples(x: np.ndarray) -> None:
    """Inputs alone, and with labels."""
    np.savez("x.npz", x=x[:1])
    np.savez("test.npz", inputs=x, labels=np.random.default_rng(6).integers(0, 10, len(x)))


def save_network(path: Path, b: np.ndarray) -> None:
    """An ONNX model of a network for one image of 32 x 32; its second product is the node /fc/Gemm."""
    text = """<ir_version: 8, opset_import: ["": 13]> g (float[1, 3, 32, 32] x) => (float[1, 10] y)
        <float s = {0.02}, float t = {0.5}, int8 z = {0}> {
        q = QuantizeLinear(x, s, z)  [conv] c = QLinearConv<strides = [8, 8]>(q, s, z, w, s, z, t, z)
        f = Flatten(c)  [fc] p = QLinearMatMul(f, t, z, b, s, z, t, z)  y = DequantizeLinear(p, t, z) }"""
    model = onnx.parser.parse_model(text)
    next(node for node in model.graph.node if node.name == "fc").name = "/fc/Gemm"  # the parser takes no slash
    w = np.random.default_rng(7).integers(-64, 65, (4, 3, 8, 8)).astype(np.int8)
    model.graph.initializer.extend(onnx.numpy_helper.from_array(each, name) for name, each in (("w", w), ("b", b)))
    onnx.save(model, path)


def save_dynamic_model(path: Path, b: np.ndarray) -> None:
    """An ONNX model with one product of dynamic quantization, the node fc_quant."""
    text = """<ir_version: 8, opset_import: ["": 13]> g (float[M, 64] x) => (float[M, 10] y) {
        a, s, z = DynamicQuantizeLinear(x)  [fc_quant] i = MatMulInteger(a, b, z)
        f = Cast<to = 1>(i)  y = Mul(f, s) }"""
    model = onnx.parser.parse_model(text)
    model.graph.initializer.append(onnx.numpy_helper.from_array(b, "b"))
    onnx.save(model, path)


def marks_of(example: str) -> list[pytest.MarkDecorator]:
    """What an example needs beside the files of `folder`."""
    marks = [] if re.match(QUICK, example) else [pytest.mark.slow, pytest.mark.simulator]
    if "osu018" in example:
        marks += [needs_osu018, needs_sta]
    if ".pdf" in example:  # as tests/datasheet
        marks += [pytest.mark.filterwarnings("ignore:HarfBuzz-Subset will be required")]
    return marks


def runs() -> list[object]:
    """The examples that run here, marked."""
    return [
        pytest.param(each, marks=marks_of(each))
        for each in EXAMPLES
        if not any(re.search(pattern, each) for pattern in ELSEWHERE)
    ]


def invoke(example: str) -> None:
    result = CliRunner().invoke(cli, shlex.split(example)[1:])
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("pattern", ELSEWHERE)
def test_what_runs_elsewhere_is_there(pattern):
    assert any(re.search(pattern, each) for each in EXAMPLES)
    assert (Path(__file__).parent / ELSEWHERE[pattern]).is_file()


@pytest.mark.sampled(9)
@pytest.mark.parametrize("example", runs())
def test_example_runs(example, folder):
    for directory, writer in TAKEN.items():
        if re.search(rf"(?<!--out ){directory}\b", example):
            invoke(writer)
    if "model.onnx " in example:
        save_samples(np.random.default_rng(8).normal(size=(8, 3, 32, 32)).astype(np.float32))
    if example.startswith("systoliq "):
        invoke(example)
        return
    if not (tool := find(TOOLS[shlex.split(example)[0]])).found:
        pytest.skip(missing_text(tool))
    done = subprocess.run(["bash", "-ec", example], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
