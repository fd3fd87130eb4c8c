"""examples/litex_sdram: in LiteX's system with a model of SDRAM, the result of a compiled model is onnxruntime's."""

from __future__ import annotations

import functools
import importlib
import json
import re

import numpy as np
import pytest

from systoliq.api import EngineConfig
from systoliq.design.dma_engine.design import DmaEngineDesign
from systoliq.package import write_package
from systoliq.soc.compiler import has_compiler

from ..onnx.network.networks import Builder, quantized
from .litex_sdram import compiled_in, feed_of, image_module, result_of, simulate, write_system
from .residual_models import residual

for module in ("litex", "litedram", "litex_boards", "pythondata_cpu_picorv32"):
    pytest.importorskip(module, reason=f"pip install {module.replace('_', '-')}")
pytestmark = pytest.mark.skipif(not has_compiler(), reason="pip install 'systoliq[soc]'")

CONFIG = EngineConfig(rows=4, cols=4, depth=2, lanes=2, vector=True)


def one_convolution() -> Builder:
    """Little to send on a UART."""
    net = Builder([1, 2, 3, 3])
    net.conv(2, 3, (2, 2))
    return net


def sigmoids() -> Builder:
    """A list that begins and ends in the vector unit."""
    net = Builder([1, 2, 3, 3])
    net.add("Sigmoid")
    net.conv(2, 3, (2, 2))
    net.add("Sigmoid")
    return net


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    return write_package(DmaEngineDesign(CONFIG, bus=64), tmp_path_factory.mktemp("engine") / "engine")


@pytest.fixture(scope="module")
def compiled(tmp_path_factory):
    """A compiled model, the folder of its program with inputs.npz, and the result of its list."""

    @functools.cache
    def compiled(net):
        folder = tmp_path_factory.mktemp(net.__name__)
        path = quantized(folder, net(), types="s8s8", opset=14)
        found, wanted = compiled_in(folder, path, CONFIG)
        return found, folder / "program", wanted

    return compiled


def assert_result(program, lines, wanted):
    error, cycles, data = lines
    assert int(error, 16) == 0
    assert int(cycles, 16) > 500
    found = image_module().result(program, bytes.fromhex(data))
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found.ravel(), wanted.ravel())


@pytest.mark.slow
@pytest.mark.parametrize("net", [residual, one_convolution, sigmoids])
def test_a_model_in_sdram_gives_the_result_of_onnxruntime(engine, compiled, tmp_path, net):
    _, program, wanted = compiled(net)
    done = write_system(engine, program, tmp_path, "--simulate", "--input", program / "inputs.npz")
    assert done.returncode == 0, done.stderr
    assert_result(program, simulate(engine, tmp_path), wanted)


@pytest.mark.slow
def test_models_and_inputs_that_are_sent(engine, compiled, tmp_path):
    """A program, another input for it, what is for another engine or program, and the program again."""
    found, program, wanted = compiled(one_convolution)
    file = program / "inputs.npz"
    done = write_system(engine, program, tmp_path, "--simulate", "--input", file)
    assert done.returncode == 0, done.stderr
    for each in tmp_path.glob("top_mem*.init"):
        each.write_text(re.sub(r"[0-9a-f]", "0", each.read_text()))
    image = image_module()
    whole = image.message(program, image.memory(program, image.read_inputs(file, image.read_program(program))))
    other = feed_of(found, seed=8)
    address, rows = image.input_rows(program, other)
    only_input = image.message(program, rows, address=address, is_program=False)

    def changed(message, word):
        """The message with another value in a word of its task."""
        words = np.frombuffer(message, "<u4", 12).copy()
        words[word] += 1
        return words.tobytes() + message[48:]

    two_lanes = [4 | 4 << 9 | 2 << 18, 2, 8 | 10 << 8 | 8 << 16 | 8 << 24, 64]
    messages = [only_input, whole, only_input, *(changed(whole, word) for word in range(8, 12)), only_input]
    messages += [changed(only_input, 3), only_input]
    lines = simulate(engine, tmp_path, b"".join(messages))
    answers = [lines[at : at + 3] for at in range(0, len(lines), 3)]
    errors = [int(error, 16) for error, *_ in answers]
    assert errors == [301, 0, 0, 300, 300, 300, 300, 0, 301, 301]
    assert_result(program, answers[1], wanted)
    assert_result(program, answers[2], result_of(found, other))
    assert_result(program, answers[7], result_of(found, other))
    for _, _, data in answers[3:7]:
        assert np.frombuffer(bytes.fromhex(data), "<u4").tolist() == two_lanes


@pytest.mark.slow
def test_an_engine_of_vendor_cells(tmp_path):
    config = EngineConfig(rows=2, cols=2, depth=2, lanes=1, vector=True, cells="ecp5")
    engine = write_package(DmaEngineDesign(config, bus=64), tmp_path / "engine")
    path = quantized(tmp_path, one_convolution(), types="s8s8", opset=14)
    _, wanted = compiled_in(tmp_path, path, config)
    program = tmp_path / "program"
    done = write_system(engine, program, tmp_path / "out", "--simulate", "--input", program / "inputs.npz")
    assert done.returncode == 0, done.stderr
    assert_result(program, simulate(engine, tmp_path / "out"), wanted)


def test_the_system_of_the_board_is_written(engine, compiled, tmp_path):
    _, program, _ = compiled(one_convolution)
    done = write_system(engine, program, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "sdram_dq" in (tmp_path / "top.lpf").read_text()
    assert re.search(r"^engine engine\($", (tmp_path / "top.v").read_text(), re.MULTILINE)
    assert str(engine / "engine.v") in (tmp_path / "top.ys").read_text()


def test_a_memory_wider_than_the_masters_is_refused(engine, monkeypatch):
    monkeypatch.syspath_prepend(engine)
    platform = type("Platform", (), {"add_source": lambda self, file: None})()
    block = importlib.import_module("engine_litex").Block(platform)
    controller = type("Controller", (), {"data_width": 128})
    dram = type("Crossbar", (), {"controller": controller})
    bus = type("Bus", (), {"add_slave": lambda self, *_: None})
    with pytest.raises(
        ValueError, match="the masters have 64 bits, but LiteDRAM's controller has 128: emit the engine"
    ):
        block.add_to(type("Soc", (), {"bus": bus()})(), "engine", origin=0x9000_0000, dram=dram)


@pytest.mark.sampled(99)
@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"memory": {"base": 0}}, "must have the base 0x40000000: systoliq compile --base 0x40000000"),
        ({"memory": {"base": 1 << 30, "size": 1 << 26}}, "must fit the SDRAM of 33,554,432 bytes, but has 67,108,864"),
        ({"runs": [{}, {}]}, "must have one list, but has 2, with steps of the host between them"),
        ({"engine": {"rows": 16, "bus_bits": 64}}, "systoliq compile --engine DIR"),
    ],
)
def test_a_program_that_the_system_cannot_run_is_refused(compiled, engine, tmp_path, change, text):
    _, program, _ = compiled(one_convolution)
    folder = tmp_path / "program"
    folder.mkdir()
    for file in program.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    found = json.loads((folder / "program.json").read_text())
    (folder / "program.json").write_text(json.dumps(found | change))
    done = write_system(engine, folder, tmp_path / "out")
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert text in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_list_whose_weights_the_host_writes_is_refused(compiled):
    image, (_, program, _) = image_module(), compiled(one_convolution)
    (step,) = image.steps_of_list(image.read_program(program))
    assert image._given(step) == ["a"]
    by_host = [each | {"b": each["b"] | {"by": "host"}} for each in step["operations"]]
    assert image._given(step | {"operations": by_host}) == ["a", "b"]
    assert image._given(step | {"patches": [{}]}) == ["a", "zero points"]


@pytest.mark.slow
def test_folders_that_are_no_package_or_program_are_refused(compiled, engine, tmp_path):
    _, program, _ = compiled(one_convolution)
    for folders, text in (((program, program), "systoliq emit engine"), ((engine, engine), "program.json is missing")):
        done = write_system(*folders, tmp_path / "out")
        assert done.returncode == 1
        assert done.stderr.startswith("error: ")
        assert text in done.stderr


@pytest.mark.sampled(99)
@pytest.mark.parametrize(
    ("out", "options", "text"),
    [
        ("/proc/foo", (), "--out must be a folder that can be written, not /proc/foo: No such file or directory"),
        ("inputs.npz", (), "--out must be a folder that can be written, not {}/inputs.npz: File exists"),
        ("out", ("--simulate",), "--simulate and --input must be given together"),
        ("out", ("--input", "inputs.npz"), "--simulate and --input must be given together"),
        ("out", ("--simulate", "--input", "/nope.npz"), "/nope.npz must be an .npz file with arrays by name"),
    ],
)
def test_options_that_are_refused(compiled, engine, out, options, text):
    _, program, _ = compiled(one_convolution)
    done = write_system(engine, program, program / out, *options)
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) == 1
    assert text.format(program) in done.stderr
    assert not (program / "out").exists()
