"""examples/litex_sdram: in LiteX's system with a model of SDRAM, a compiled model's result is onnxruntime's."""

from __future__ import annotations

import functools
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from systoliq.api import EngineConfig, compile_onnx
from systoliq.design.dma_engine.design import DmaEngineDesign
from systoliq.inference.program.product import bytes_of_rows
from systoliq.package import write_package
from systoliq.sim.system import SystemSimulation
from systoliq.soc.compiler import has_compiler
from systoliq.soc.design import picorv32

from ..onnx.network.networks import Builder, quantized
from .test_vector import residual

for module in ("litex", "litedram", "litex_boards", "pythondata_cpu_picorv32"):
    pytest.importorskip(module, reason=f"pip install {module.replace('_', '-')}")
pytestmark = pytest.mark.skipif(not has_compiler(), reason="pip install 'systoliq[soc]'")

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/litex_sdram"
BASE = 0x4000_0000
CONFIG = EngineConfig(rows=4, cols=4, depth=2, lanes=2, vector=True)


def one_convolution() -> Builder:
    """Little to send on a UART."""
    net = Builder([1, 2, 3, 3])
    net.conv(2, 3, (2, 2))
    return net


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    return write_package(DmaEngineDesign(CONFIG, bus=64), tmp_path_factory.mktemp("engine") / "engine")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """The folder of a program with its first operand in input.bin, and its result: buffer and tensor."""

    @functools.cache
    def compiled(net, base=BASE):
        folder = tmp_path_factory.mktemp(net.__name__)
        found = compile_onnx(quantized(folder, net(), types="s8s8", opset=14), CONFIG, bus=64, base=base)
        found.write(folder / "program")
        program, rng = found.program, np.random.default_rng(7)
        feed = {name: rng.normal(0, 1, shape).astype(kind) for name, (kind, shape) in program.inputs.items()}
        tensors = found.division.expected(feed)
        steps = {step.number: step for step in program.of_engine}
        first, last = (steps[program.runs[0].steps[at]] for at in (0, -1))
        given = tensors[first.sketch.step.node.input[0]]
        operand = bytes_of_rows(first.operations[0].sketch.a, np.ascontiguousarray(given))
        (folder / "program/input.bin").write_bytes(operand)
        return folder / "program", (last.operations[0].y, tensors[last.sketch.step.node.output[0]])

    return compiled


def assert_equal(result, wanted):
    """The bytes of a buffer, in hexadecimal, are those of a tensor: a row for each pixel, with bytes between them."""
    y, tensor = wanted
    data = bytes.fromhex(result)
    rows = np.frombuffer(data + bytes(y.rows * y.stride - len(data)), np.uint8).reshape(y.rows, y.stride)
    np.testing.assert_array_equal(
        rows[:, : y.row_bytes].reshape(-1), np.ascontiguousarray(tensor).view(np.uint8).ravel()
    )


def write_system(engine, program, out, *options):
    command = [sys.executable, "-W", "ignore", EXAMPLE / "system.py", engine, program, "--out", out, *options]
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)


def simulate(engine, out, sent=b"\0\0\0\0"):
    """What the system sends, which receives the bytes `sent`."""
    text = re.sub(r"^//.*\n", "", (out / "top.v").read_text(), flags=re.MULTILINE)  # when it was made, among others
    bench = (EXAMPLE / "testbench.v").read_text()
    verilog = {"top.v": text, "bench.v": bench, "cpu.v": picorv32(), "engine.v": (engine / "engine.v").read_text()}
    memories = {file.name: file.read_bytes() for file in out.glob("*.init")}
    memories["uart.mem"] = sent.hex(" ").encode()
    return SystemSimulation.build(verilog, "testbench").run(memories, limit=20_000_000).lines


@pytest.mark.slow
@pytest.mark.parametrize("net", [residual, one_convolution])
def test_a_model_in_sdram_gives_the_result_of_onnxruntime(engine, compiled, tmp_path, net):
    program, wanted = compiled(net)
    done = write_system(engine, program, tmp_path, "--simulate", "--input", program / "input.bin")
    assert done.returncode == 0, done.stderr
    error, cycles, result = simulate(engine, tmp_path)
    assert int(error, 16) == 0
    assert int(cycles, 16) > 500
    assert_equal(result, wanted)


@pytest.mark.slow
def test_a_model_that_is_sent_gives_the_result_of_onnxruntime(engine, compiled, tmp_path, monkeypatch):
    program, wanted = compiled(one_convolution)
    done = write_system(engine, program, tmp_path, "--simulate")
    assert done.returncode == 0, done.stderr
    for file in tmp_path.glob("top_mem*.init"):
        file.write_text(re.sub(r"[0-9a-f]", "0", file.read_text()))
    monkeypatch.syspath_prepend(EXAMPLE)
    from image import memory

    contents = memory(program, program / "input.bin")
    error, _, result = simulate(engine, tmp_path, len(contents).to_bytes(4, "little") + contents)
    assert int(error, 16) == 0
    assert_equal(result, wanted)
    # Without the program, the memory has no list.
    error, _, result = simulate(engine, tmp_path)
    assert int(error, 16) != 0
    with pytest.raises(AssertionError):
        assert_equal(result, wanted)


def test_the_system_of_the_board_is_written(engine, compiled, tmp_path):
    program, _ = compiled(one_convolution)
    done = write_system(engine, program, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "sdram_dq" in (tmp_path / "top.lpf").read_text()
    assert re.search(r"^engine engine\($", (tmp_path / "top.v").read_text(), re.MULTILINE)
    assert str(engine / "engine.v") in (tmp_path / "top.ys").read_text()


@pytest.mark.parametrize(
    ("change", "options", "text"),
    [
        ({"memory": {"base": 0}}, (), "must have the base 0x40000000: systoliq compile --base 0x40000000"),
        ({"runs": [{}, {}]}, (), "must have one list, but has 2, with steps of the host between them"),
        ({}, ("--input", "short.bin"), "must have 18 bytes, not 3"),
    ],
)
def test_a_program_that_the_system_cannot_run_is_refused(compiled, engine, tmp_path, change, options, text):
    program, _ = compiled(one_convolution)
    folder = tmp_path / "program"
    folder.mkdir()
    for file in program.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    found = json.loads((folder / "program.json").read_text())
    (folder / "program.json").write_text(json.dumps(found | change))
    (tmp_path / "short.bin").write_bytes(b"abc")
    options = [tmp_path / each if each.endswith(".bin") else each for each in options]
    done = write_system(engine, folder, tmp_path / "out", "--simulate", *options)
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert text in done.stderr
    assert not (tmp_path / "out").exists()


def test_folders_that_are_no_package_or_program_are_refused(compiled, engine, tmp_path):
    program, _ = compiled(one_convolution)
    for folders, text in (((program, program), "systoliq emit engine"), ((engine, engine), "program.json is missing")):
        done = write_system(*folders, tmp_path / "out", "--simulate")
        assert done.returncode == 1
        assert done.stderr.startswith("error: ")
        assert text in done.stderr
