"""`systoliq compile`: what the files hold, that C runs it on the RTL, that nothing lies outside memory or overlaps."""

from __future__ import annotations

import ctypes
import dataclasses
import itertools
import json
import re
import shutil
import subprocess

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from systoliq.api import EngineConfig, EngineSession, InputError, compile_onnx
from systoliq.cli.main import cli
from systoliq.hw.dma.commands import dma_register
from systoliq.hw.dma.list_player import COUNT_BITS, Opcode
from systoliq.hw.dma.registers import BASE, MAP_REGISTERS
from systoliq.inference.program.memory_map import ALIGNMENT, Room, place_rooms
from systoliq.sim.engine.memory import EngineMemory

from ..onnx.network.networks import Builder, images
from .c_program import Board, example_of, hooks_of, run_example
from .models import bert_tiny, bert_tiny_dynamic, mobilenet_v2, quantized

CONFIG = EngineConfig(rows=4, cols=4, depth=2, lanes=2)
FLAT = EngineConfig(rows=3, cols=4, depth=1, lanes=4, a_words=64, b_words=128, max_columns=8)
ENGINE = ("--rows", "4", "--cols", "4", "--depth", "2", "--lanes", "2", "--bus", "64")
GCC = ("-std=c99", "-Wall", "-Wextra", "-Werror", "-Wconversion", "-Wshadow", "-pedantic")


def small(folder, size=6):
    net = Builder(["N", size])
    net.gemm(size, 5)
    net.relu()
    net.gemm(5, 3)
    return quantized(folder, net)


@pytest.fixture
def model(tmp_path):
    return small(tmp_path)


def systoliq_compile(model, *options):
    arguments = ["compile", model, "--out", model.parent / "out", *options]
    return CliRunner().invoke(cli, [str(each) for each in arguments])


def test_files(model):
    out = model.parent / "out"
    result = systoliq_compile(model, *ENGINE, "--shape", "x=7,6")
    assert result.exit_code == 0, result.output
    assert "2 products in 2 jobs" in result.output
    assert "between lists" not in result.output
    assert re.search(r"1 list: [\d,]+ cycles by the cycle model, .* at 100 MHz, without the", result.output)
    facts = json.loads((out / "program.json").read_text())
    assert {path.name for path in out.iterdir()} == {"program.json", *facts["files"]}
    assert facts["engine"]["bus_bits"] == 64
    buffers = 8 | 10 << 8 | 8 << 16 | 8 << 24
    values = {"ID": 0x5351, "ARRAY": 4 | 4 << 9 | 2 << 18, "LANES": 2, "BUFFERS": buffers}
    assert facts["registers"]["values"] == values
    image = (out / "program.bin").read_bytes()
    assert facts["memory"]["image"]["size"] == len(image)
    by = [step["by"] for step in facts["steps"]]
    assert by == ["host", "engine", "engine", "host"]
    first, second = facts["steps"][1:3]
    assert second["a_from"] == first["name"]  # Y of the first is A of the second, where it lies
    assert second["operations"][0]["a"]["address"] == first["operations"][0]["y"]["address"]
    assert first["bytes"]["a"] == sum(job["bytes"]["a"] for job in first["jobs"])
    text = (out / "program.txt").read_text()
    assert "engine: QGemm '/gemm0'" in text
    assert "a: Y of '/gemm0', in place" in text


def test_steps_of_the_host_between_lists_are_named(tmp_path):
    net = Builder([1, 6])
    net.gemm(6, 5)
    net.add("CumSum", net.last, net.constant(np.array(1)))
    net.gemm(5, 3)
    net.add("Abs")
    net.gemm(3, 3)
    result = systoliq_compile(quantized(tmp_path, net), *ENGINE)
    assert result.exit_code == 0, result.output
    assert "host: 2 steps between lists: CumSum, Abs (program.txt lists them)\n" in result.output


def test_c_says_what_the_json_says(model):
    """The header's macros are compiled and printed."""
    out = model.parent / "out"
    assert systoliq_compile(model, *ENGINE, "--shape", "x=7,6", "--base", "0x80000000").exit_code == 0
    facts = json.loads((out / "program.json").read_text())
    wanted = {"BASE": facts["memory"]["base"], "SIZE": facts["memory"]["size"]}
    wanted |= {"IMAGE": facts["memory"]["image"]["address"], "IMAGE_SIZE": facts["memory"]["image"]["size"]}
    for step in facts["steps"]:
        if step["by"] == "engine":
            for buffer in (*(step["operations"][0][name] for name in "aby"), *step["lists"]):
                name = f"{step['step']:02}_{buffer['role'].upper()}"
                wanted |= {name: buffer["address"], f"{name}_SIZE": buffer["size"]}
    wanted |= {f"ENGINE_{name}": value for name, value in facts["registers"]["values"].items()}
    lines = "".join(f'printf("%lu\\n", (unsigned long)SYSTOLIQ_PROGRAM_{name});' for name in wanted)
    (out / "main.c").write_text(
        f'#include <stdio.h>\n#include "systoliq_program.h"\nint main(void){{{lines}return 0;}}'
    )
    subprocess.run(["gcc", *GCC, "-o", "main", "main.c", "systoliq_program.c"], cwd=out, check=True)
    found = subprocess.run([out / "main"], capture_output=True, text=True, check=True).stdout.split()
    assert dict(zip(wanted, map(int, found), strict=True)) == wanted


@pytest.mark.simulator
@pytest.mark.parametrize("config", [CONFIG, pytest.param(FLAT, marks=pytest.mark.slow)], ids=["depth 2", "depth 1"])
@pytest.mark.parametrize(
    "kind",
    ["dynamic attention", *(pytest.param(name, marks=pytest.mark.slow) for name in ("convolutions", "attention"))],
)
def test_the_example_in_c_runs_the_model(kind, config, tmp_path):
    """Compiled by gcc, on the RTL: each product's result, and the outputs, are onnxruntime's."""
    if kind == "convolutions":
        net = mobilenet_v2(blocks=((1, 8, 1), (6, 12, 2)))
        path = quantized(tmp_path, net)
    elif kind == "attention":
        net = bert_tiny(tokens=5, layers=1)
        path = quantized(tmp_path, net, opset=17)
    else:
        net = bert_tiny(layers=1)
        path = bert_tiny_dynamic(tmp_path, layers=1, attention=True)
    compiled = compile_onnx(path, config, bus=64)
    compiled.write(tmp_path / "out")
    feed = {"x": images(net.shape, 1, 3)}
    tensors = run_example(compiled, tmp_path / "out", feed, [*GCC])
    expected = compiled.division.expected(feed)
    assert set(expected) <= set(tensors)
    for name, array in expected.items():
        np.testing.assert_array_equal(tensors[name], array, err_msg=name)


@pytest.mark.parametrize(
    "other",
    [
        {"rows": 8}, {"cols": 8}, {"depth": 4}, {"lanes": 4}, {"dataflow": "weight-stationary"}, {"a_words": 512},
        {"b_words": 512}, {"max_columns": 512}, {"max_rows": 512},
    ],
    ids=lambda other: next(iter(other)),
)  # fmt: skip
def test_the_example_in_c_refuses_another_engine(small_program, other):
    """Before it writes a register or asks for an operand."""
    compiled, library = small_program
    board = Board(compiled, {}, None, dataclasses.replace(CONFIG, **other))
    assert library.systoliq_run(ctypes.byref(hooks_of(board))) == -1
    assert not board.registers
    assert not board.kept


@pytest.mark.parametrize(("offset", "bit"), [(0, 1), (4, 16)], ids=["ID", "VERSION"])
def test_the_example_in_c_refuses_what_is_no_engine(small_program, offset, bit):
    compiled, library = small_program
    board = Board(compiled, {}, None)
    board.constants[offset] ^= 1 << bit
    assert library.systoliq_run(ctypes.byref(hooks_of(board))) == -1
    assert not board.registers


@pytest.fixture(scope="module")
def small_program(tmp_path_factory):
    """A compiled model, and its example in C."""
    folder = tmp_path_factory.mktemp("small")
    compiled = compile_onnx(small(folder), CONFIG, bus=64, shapes={"x": (7, 6)})
    compiled.write(folder / "out")
    return compiled, example_of(folder / "out", GCC)


@pytest.mark.simulator
def test_the_simulation_plays_the_compiled_bytes(model, monkeypatch):
    memories = []
    real = EngineMemory.__init__

    def seen(self, engine, memory, **options):
        memories.append(memory)
        real(self, engine, memory, **options)

    monkeypatch.setattr(EngineMemory, "__init__", seen)
    EngineSession(model, CONFIG, bus=64).run(None, {"x": images(["N", 6], 7, 3)})
    assert systoliq_compile(model, *ENGINE, "--shape", "x=7,6").exit_code == 0
    facts = json.loads((model.parent / "out" / "program.json").read_text())["memory"]
    at = facts["image"]["address"]
    (memory,) = memories
    assert len(memory) == facts["size"]
    assert memory[at : at + facts["image"]["size"]] == (model.parent / "out" / "program.bin").read_bytes()


MODELS = {
    "mobilenet": lambda folder: quantized(folder, mobilenet_v2()),
    "bert": lambda folder: quantized(folder, bert_tiny(), opset=17),
    "dynamic": lambda folder: bert_tiny_dynamic(folder, layers=1, attention=True),
}


@pytest.mark.sampled(6)
@pytest.mark.parametrize("base", [0, 0x8000_0000])
@pytest.mark.parametrize("config", [CONFIG, FLAT], ids=["depth 2", "depth 1"])
@pytest.mark.parametrize("name", MODELS)
def test_every_byte_that_a_list_names_is_in_its_own_buffer(name, config, base, tmp_path):
    """The lists' binary, taken apart here: each run of each walk lies in the buffer of its operand."""
    program = compile_onnx(MODELS[name](tmp_path), config, bus=32, base=base).program
    memory, walks = program.memory, 0
    for product in program.products:
        buffers = {name: [getattr(operation, name) for operation in product.operations] for name in "aby"}
        for each in product.lists:
            at = each.buffer.address - base
            assert memory[at : at + each.buffer.size] == each.data
            for operand, first, last in runs_of(each.data):
                walks += 1
                assert any(
                    buffer.address <= first and last < buffer.address + buffer.size for buffer in buffers[operand]
                )
    assert walks >= 3 * program.totals()["jobs"]
    check_buffers(program)


def check_buffers(program):
    """All in memory; kept ones apart from all others, and working ones from those of the same step."""
    buffers = program.buffers
    for one in buffers:
        assert program.base <= one.address
        assert one.address + one.size <= program.base + program.size
        assert one.address % (4 if one.role == "list" else ALIGNMENT) == 0
    for one, other in itertools.combinations(buffers, 2):
        together = one.kept or other.kept or (one.first <= other.last and other.first <= one.last)
        apart = one.address + one.size <= other.address or other.address + other.size <= one.address
        handed_on = (
            not one.kept
            and {one.role, other.role} <= {"a", "b", "y"}
            and (one.address, one.size) == (other.address, other.size)
        )
        equal_weights = one.kept and other.kept and one.role == other.role == "b" and one.address == other.address
        assert apart or not together or handed_on or equal_weights, (one, other)


def runs_of(data):
    """(operand, first byte, last byte) of each walk that a list of commands queues."""
    words, at, settings = np.frombuffer(data, "<u4").tolist(), 0, {}
    while at < len(words):
        command = words[at]
        at += 1
        if command >> 30 == Opcode.WAIT:
            at += 3
            continue
        assert command >> 30 in (Opcode.WRITE, Opcode.TABLE)
        count, address = (command >> 22 & (1 << COUNT_BITS) - 1) + 1, command & (1 << 22) - 1
        for index in range(count):
            settings[address + 4 * index] = words[at + index]
        at += count
        if address == BASE + dma_register("QUEUE").offset:
            for operand, first in (("a", 0x20), ("b", 0x40), ("y", 0x60)):
                walk = [settings[BASE + first + 4 * index] for index in range(7)]
                if operand == "a" and settings[address] & dma_register("QUEUE").field("map").mask:
                    yield from ((operand, *ends) for ends in runs_of_maps(*walk, settings))
                    continue
                start, row, step, rows, steps, extent, last = walk
                ends = [
                    (r * row + s * step, last if s == steps - 1 else extent)
                    for r in {0, rows - 1}
                    for s in {0, steps - 1}
                ]
                yield operand, start, start + max(offset + size for offset, size in ends)


def runs_of_maps(start, row, step, rows, steps, extent, last, settings):
    """(first byte, last byte) of each run of a walk over maps, as docs/dma_registers.md says it."""

    def of(name):
        for register in MAP_REGISTERS:
            for field in register.fields:
                if field.name == name:
                    value = (settings[BASE + register.offset] & field.mask) >> field.lsb
                    return value - (1 << 16) if name.startswith("origin") and value >> 15 else value
        raise AssertionError(name)

    fields = {field.name: of(field.name) for register in MAP_REGISTERS for field in register.fields}
    place, (x, y) = start, (0, 0)
    for _ in range(rows):
        at = place
        for ty in range(fields["taps_y"]):
            for tx in range(fields["taps_x"]):
                px = fields["origin_x"] + x * fields["stride_x"] + tx * fields["dilation_x"]
                py = fields["origin_y"] + y * fields["stride_y"] + ty * fields["dilation_y"]
                for index in range(steps):
                    if 0 <= px < fields["width"] and 0 <= py < fields["height"]:
                        begin = at % (1 << 32)
                        yield begin, begin + (last if index == steps - 1 else extent)
                    at += step if index < steps - 1 else 0
                at += fields["tap_stride"] if tx < fields["taps_x"] - 1 else 0
            at += fields["tap_line_stride"]
        x += 1
        if x < fields["out_width"]:
            place += row
        elif y + 1 < fields["out_height"]:
            x, y, place = 0, y + 1, place + fields["line_stride"]
        else:
            x, y, place = 0, 0, place + fields["image_stride"]


@given(st.lists(st.tuples(st.integers(1, 5000), st.integers(0, 9), st.integers(0, 4)), max_size=30))
def test_rooms_that_meet_never_overlap(drawn):
    rooms = [Room(size=size, first=first, last=first + more) for size, first, more in drawn]
    offsets, size = place_rooms(rooms)
    for i, (one, at) in enumerate(zip(rooms, offsets, strict=True)):
        assert at % ALIGNMENT == 0
        assert at + one.size <= size
        for other, place in zip(rooms[:i], offsets, strict=False):
            if one.first <= other.last and other.first <= one.last:
                assert at + one.size <= place or place + other.size <= at


def test_memory_that_is_too_small_is_refused_and_what_is_enough_is_not(model):
    size = compile_onnx(model, CONFIG, bus=64, shapes={"x": (7, 6)}).program.size
    for memory in (0, ALIGNMENT, size - 1):
        with pytest.raises(InputError, match=f"memory must be at least {size} bytes for .*onnx, not {memory}"):
            compile_onnx(model, CONFIG, bus=64, shapes={"x": (7, 6)}, memory=memory)
    base = (1 << 32) - size
    assert compile_onnx(model, CONFIG, bus=64, shapes={"x": (7, 6)}, memory=size, base=base).program.size == size
    with pytest.raises(InputError, match=f"base must leave {size} bytes below 2\\^32"):
        compile_onnx(model, CONFIG, bus=64, shapes={"x": (7, 6)}, base=base + ALIGNMENT)


@pytest.mark.parametrize("base", [(1 << 32) - 512, (1 << 32) - ALIGNMENT, 1 << 32, 1 << 40])
def test_maps_beyond_all_addresses_are_refused(base, tmp_path):
    """The refusal names the size of all, weights and lists too."""
    net = Builder([1, 3, 6, 6])
    net.conv(3, 4, (3, 3))
    model = quantized(tmp_path, net)
    size = compile_onnx(model, CONFIG, bus=64).program.size
    with pytest.raises(InputError, match=f"base must leave {size} bytes below 2\\^32 for quantized.onnx, and is 0x"):
        compile_onnx(model, CONFIG, bus=64, base=base)


def test_tables_beyond_all_addresses_are_refused(tmp_path):
    net = Builder([1, 24])
    net.gemm(24, 16)
    net.add("Sigmoid")
    config = FLAT.replace(vector=True)
    model = quantized(tmp_path, net)
    size = compile_onnx(model, config, bus=64).program.size
    for base in range((1 << 32) - size + ALIGNMENT, 1 << 32, 4 * ALIGNMENT):
        with pytest.raises(InputError, match=f"base must leave {size} bytes below 2\\^32"):
            compile_onnx(model, config, bus=64, base=base)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ((), "shape of 'x' must be given: the model leaves N of it open; for example --shape x=1,6"),
        (("--shape", "y=1,6"), "shape must be of one of 'x', not of 'y'"),
        (("--shape", "x=1,7"), "x must have the shape [N, 6], not [1, 7]"),
        (("--shape", "x=0,6"), "shape of 'x' must have sizes of at least 1, not [0, 6]"),
        (("--shape", "x=999999999,999999999"), "shape of 'x' must have at most"),
        (("--shape", "x"), "must be such as x=1,3,32,32, not 'x'"),
        (("--shape", "x=1,6", "--memory", "0x100"), "memory must be at least"),
        (
            ("--shape", "x=1,6", "--memory", "much"),
            "must be a number of bytes such as 65536, 0x10000 or 64M, not 'much'",
        ),
        (("--shape", "x=1,6", "--base", "7"), "base must be a multiple of 64, not 7"),
        (("--shape", "x=1,6", "--base", "4G"), "base must leave"),
        *((("--mhz", mhz), f"must be a positive number, not '{mhz}'") for mhz in ("nan", "inf", "-1")),
        (("--shape", "x=1,6", "--only", "nobody"), "only must name products that the engine takes, not 'nobody'"),
        (("--shape", "x=1,6", "--dataflow", "weight-stationary"), "dataflow must be output-stationary"),
        (("--shape", "x=1,6", "--cols", "3"), "lanes must be a power of two"),
        (("--shape", "x=1,6", "--engine", "nowhere"), "error: nowhere: there is no such file or directory: give"),
        (("--shape", "x=1,6", "--engine", "."), "must hold the sidecar of one engine, and holds 0"),
        (("--shape", "x=1,6", "--engine", ".", "--rows", "4"), "rows conflicts with --engine"),
    ],
)
def test_bad_input(model, options, message, monkeypatch):
    monkeypatch.chdir(model.parent)
    result = systoliq_compile(model, *options)
    assert result.exit_code == 2, result.output
    assert message in result.output
    assert "Traceback" not in result.output
    assert not (model.parent / "out").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "must be JSON"),
        ("[]", "must describe an engine"),
        ('{"rows": 0}', "rows must be a positive integer, not 0"),
        ('{"rows": 2, "speed": 1}', "must have fields of an engine, not 'speed'"),
        ('{"rows": 2, "bus_bits": "wide"}', "bus_bits must be a number of bits, not 'wide'"),
        ('{"rows": 2, "bus_bits": 48}', "bus must be one of 32, 64, 128 bits, not 48"),
        ('{"rows": 2}', "must be an engine with masters, which play lists, and has streams only: emit it with --bus N"),
        ('{"formats": {}}', "must be an engine of integers, not of float8"),
    ],
)
def test_engine_files(model, content, message):
    file = model.parent / "engine.json"
    file.write_text(content)
    result = systoliq_compile(model, "--shape", "x=1,6", "--engine", file)
    assert result.exit_code == 2, result.output
    assert message in result.output


def test_the_engine_of_a_package(model):
    """Emitted, and then compiled for by its directory; and again by the program's own description."""
    package = model.parent / "engine"
    emitted = CliRunner().invoke(cli, ["emit", "engine", "--out", str(package), *ENGINE])
    assert emitted.exit_code == 0, emitted.output
    assert systoliq_compile(model, "--shape", "x=1,6", "--engine", package).exit_code == 0
    out = model.parent / "out"
    image = (out / "program.bin").read_bytes()
    shutil.copy(out / "program.json", model.parent / "again.json")
    assert systoliq_compile(model, "--shape", "x=1,6", "--engine", model.parent / "again.json").exit_code == 0
    assert (out / "program.bin").read_bytes() == image
    assert systoliq_compile(model, "--shape", "x=1,6", *ENGINE).exit_code == 0
    assert (out / "program.bin").read_bytes() == image


def test_a_package_without_masters(model):
    package = model.parent / "engine"
    assert CliRunner().invoke(cli, ["emit", "engine", "--out", str(package), "--rows", "2"]).exit_code == 0
    result = systoliq_compile(model, "--shape", "x=1,6", "--engine", package)
    assert result.exit_code == 2
    assert f"{package}: must be an engine with masters" in result.output
    assert not (model.parent / "out").exists()


def test_programs_of_one_name_are_replaced(model):
    """Whatever their engine; others where that is asked for."""
    assert systoliq_compile(model, "--shape", "x=1,6", *ENGINE).exit_code == 0
    assert systoliq_compile(model, "--shape", "x=1,6", "--rows", 2, "--bus", 32).exit_code == 0
    sidecar = model.parent / "out" / "program.json"
    assert json.loads(sidecar.read_text())["engine"]["bus_bits"] == 32
    other = shutil.copy(model, model.with_name("other.onnx"))
    result = systoliq_compile(other, "--shape", "x=1,6", *ENGINE)
    assert result.exit_code == 2
    assert "hold the program 'other', not the program 'quantized': give" in result.output
    assert systoliq_compile(other, "--shape", "x=1,6", *ENGINE, "--replace").exit_code == 0
    assert json.loads(sidecar.read_text())["name"] == "other"


def test_other_packages_are_kept(model):
    out = model.parent / "out"
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    result = systoliq_compile(model, "--shape", "x=1,6", *ENGINE)
    assert (result.exit_code, "must be new, empty or written by systoliq" in result.output) == (2, True)
    assert [path.name for path in out.iterdir()] == ["mine.txt"]
