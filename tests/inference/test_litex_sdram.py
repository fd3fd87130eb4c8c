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
from .litex_sdram import compiled_in, image_module, simulate, write_system
from .test_vector import residual

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
    """The folder of a program with inputs.npz, and the result of its list."""

    @functools.cache
    def compiled(net):
        folder = tmp_path_factory.mktemp(net.__name__)
        path = quantized(folder, net(), types="s8s8", opset=14)
        return folder / "program", compiled_in(folder, path, CONFIG)[1]

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
    program, wanted = compiled(net)
    done = write_system(engine, program, tmp_path, "--simulate", "--input", program / "inputs.npz")
    assert done.returncode == 0, done.stderr
    assert_result(program, simulate(engine, tmp_path), wanted)


@pytest.mark.slow
def test_a_model_that_is_sent_gives_the_result_of_onnxruntime(engine, compiled, tmp_path):
    program, wanted = compiled(one_convolution)
    done = write_system(engine, program, tmp_path, "--simulate")
    assert done.returncode == 0, done.stderr
    for file in tmp_path.glob("top_mem*.init"):
        file.write_text(re.sub(r"[0-9a-f]", "0", file.read_text()))
    image = image_module()
    contents = image.memory(program, image.read_inputs(program / "inputs.npz"))
    assert_result(program, simulate(engine, tmp_path, len(contents).to_bytes(4, "little") + contents), wanted)
    error, _, _ = simulate(engine, tmp_path)  # without the program, the memory has no list
    assert int(error, 16) != 0


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
    program, _ = compiled(one_convolution)
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
        ({"engine": {"rows": 16}}, "systoliq compile --engine DIR"),
    ],
)
def test_a_program_that_the_system_cannot_run_is_refused(compiled, engine, tmp_path, change, text):
    program, _ = compiled(one_convolution)
    folder = tmp_path / "program"
    folder.mkdir()
    for file in program.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    found = json.loads((folder / "program.json").read_text())
    (folder / "program.json").write_text(json.dumps(found | change))
    done = write_system(engine, folder, tmp_path / "out", "--simulate")
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert text in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_list_whose_weights_the_host_writes_is_refused(compiled):
    image, (program, _) = image_module(), compiled(one_convolution)
    (step,) = image.steps_of_list(image.read_program(program))
    assert image._given(step) == ["a"]
    by_host = [each | {"b": each["b"] | {"by": "host"}} for each in step["operations"]]
    assert image._given(step | {"operations": by_host}) == ["a", "b"]
    assert image._given(step | {"patches": [{}]}) == ["a", "zero points"]


@pytest.mark.slow
def test_folders_that_are_no_package_or_program_are_refused(compiled, engine, tmp_path):
    program, _ = compiled(one_convolution)
    for folders, text in (((program, program), "systoliq emit engine"), ((engine, engine), "program.json is missing")):
        done = write_system(*folders, tmp_path / "out", "--simulate")
        assert done.returncode == 1
        assert done.stderr.startswith("error: ")
        assert text in done.stderr
