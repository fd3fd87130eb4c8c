"""A network in a RISC-V system's memory: its one list by the engine, and its convolutions by the processor alone.

python -m tests.inference.in_system MODEL.onnx [--rows 8 --cols 8 --depth 2 --lanes 2 --bus 64] [--list-only]

The model is one list of QLinearConv with int8, as MobileNetV1's. The processor starts the list and waits for its end.
Alone, it computes one pixel of each kind: in the middle, in a corner, at an edge. Each takes the same cycles wherever
it lies, but for ties of its rounding, so the whole network is the sum of these over all pixels. All results must equal
onnxruntime's. With --list-only, which takes kernels of any shape, the processor computes nothing alone.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import sys
from pathlib import Path

import numpy as np
from onnx.helper import get_attribute_value

from systoliq.api import compile_onnx
from systoliq.golden.rescale import combined_scale
from systoliq.hw.soc import Soc, SocConfig
from systoliq.hw.verilog import emit_verilog
from systoliq.inference.program.product import bytes_of_rows
from systoliq.sim.system import SystemSimulation
from systoliq.soc.compiler import compile_firmware
from systoliq.soc.design import MEMORY, NAME, memory_file, picorv32
from systoliq.soc.sources import JOBS_ADDRESS, LIBRARY, firmware_sources
from systoliq.soc.testbench import soc_testbench

from .engine_arguments import add_engine, engine_of

__all__ = ["Layer", "in_system"]

_BASE = 0x10000
_LIMIT = 200_000_000


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Layer:
    """A convolution of int8 without batch, its tensors [height, width, channels]."""

    x: np.ndarray
    y: np.ndarray
    w: np.ndarray  # [out, channels of a group, kernel, kernel]
    bias: np.ndarray
    scale: np.ndarray
    x_zero: int
    y_zero: int
    stride: int
    top: int
    left: int

    @classmethod
    def of(cls, graph, node, tensors):
        """The layer of a QLinearConv."""
        attributes = {each.name: get_attribute_value(each) for each in node.attribute}
        names = list(node.input)
        x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, *biases = (
            graph.constant(name, "a parameter") for name in names[1:9]
        )
        bias = biases[0] if biases else np.zeros(len(w), np.int32)
        assert not np.any(w_zero)
        x, y = tensors[names[0]][0], tensors[node.output[0]][0]
        assert x.dtype == y.dtype == np.int8
        assert w.shape[2] == w.shape[3]
        stride, kernel = attributes.get("strides", [1, 1])[0], w.shape[2]
        ends = {"SAME_UPPER": lambda n: max((-(-n // stride) - 1) * stride + kernel - n, 0) // 2}
        before = ends.get(attributes.get("auto_pad", b"").decode(), lambda n: 0)
        folded = bias.astype(np.int64) - int(x_zero) * w.astype(np.int64).sum(axis=(1, 2, 3))
        return cls(
            x=x, y=y, w=w, bias=folded.astype(np.int32), x_zero=int(x_zero), y_zero=int(y_zero), stride=stride,
            scale=np.broadcast_to(combined_scale(x_scale, w_scale, y_scale), len(w)).astype(np.float32),
            top=before(x.shape[0]), left=before(x.shape[1]),
        )  # fmt: skip

    @property
    def depthwise(self):
        return self.w.shape[1] == 1 and self.x.shape[2] > 1

    @property
    def products(self):
        """Multiply-accumulates."""
        return self.y[..., 0].size * self.w.size

    @property
    def shape(self):
        """What its cycles depend on."""
        return self.x.shape, self.y.shape, self.w.shape, self.stride

    def pixels(self):
        """One pixel of each kind, and how many there are."""
        kernel = self.w.shape[2]
        kinds = [
            [self._taps(at, before, self.x.shape[axis], kernel) for at in range(self.y.shape[axis])]
            for axis, before in enumerate((self.top, self.left))
        ]
        for down, across in itertools.product(*map(set, kinds)):
            yield kinds[0].index(down), kinds[1].index(across), kinds[0].count(down) * kinds[1].count(across)

    def _taps(self, at, before, size, kernel):
        """The first tap in the image along an axis, and the first one behind it."""
        first = at * self.stride - before
        return max(-first, 0), min(size - first, kernel)

    def words(self, place):
        """The fields of the firmware's `pixel` but for row and column, with its arrays in memory by `place`."""
        weights = self.w[:, 0].transpose(1, 2, 0) if self.depthwise else self.w.transpose(0, 2, 3, 1)
        arrays = [place(np.ascontiguousarray(each)) for each in (self.x, weights, self.bias, self.scale)]
        head = [*self.x.shape, self.w.shape[2], self.stride, self.top, self.left, len(self.w), int(self.depthwise)]
        return head, [*arrays, place(np.zeros(len(self.w), np.int8)), self.x_zero, self.y_zero]


def in_system(path, engine, bus, *, seed=3, alone=True):
    """(cycles of the list, {layer's number: (cycles by the processor alone, pixels that it computed)}, layers); without
    `alone`, there are no layers.
    """
    compiled = compile_onnx(path, engine, bus=bus, base=_BASE)
    program, graph = compiled.program, compiled.division.model.graph
    (run,) = program.runs
    rng = np.random.default_rng(seed)
    feed = {name: rng.normal(0, 1, shape).astype(kind) for name, (kind, shape) in program.inputs.items()}
    tensors = compiled.division.expected(feed)
    steps = {step.number: step for step in program.of_engine}
    nodes = [steps[number].sketch.step.node for number in run.steps]
    layers = [Layer.of(graph, node, tensors) for node in nodes if alone]
    first, y = steps[run.steps[0]].operations[0], steps[run.steps[-1]].operations[0].y
    memory = bytearray(bytes(_BASE) + program.memory)
    given = bytes_of_rows(first.sketch.a, np.ascontiguousarray(tensors[nodes[0].input[0]][0]))
    memory[first.a.address : first.a.address + len(given)] = given

    def place(array):
        memory.extend(bytes(-len(memory) % 4))
        memory.extend(array.tobytes())
        return len(memory) - array.nbytes

    chosen, words, seen = [], [], {}
    for number, layer in enumerate(layers):
        if layer.shape in seen:
            continue
        seen[layer.shape] = number
        head, tail = layer.words(place)
        for row, column, count in layer.pixels():
            chosen.append((number, row, column, count))
            words += [*head, row, column, *tail]
    table = np.array([run.address, run.size // 4, y.address, y.size, len(chosen), *words]).astype("<i8").astype("<u4")
    memory[JOBS_ADDRESS : JOBS_ADDRESS + table.nbytes] = table.tobytes()
    assert JOBS_ADDRESS + table.nbytes <= _BASE
    lines = iter(_lines(engine, bus, memory))
    what, cycles, data = next(lines).split()
    assert what == "list"
    assert bytes.fromhex(data) == tensors[nodes[-1].output[0]].tobytes()
    took_alone = {}
    for number, row, column, count in chosen:
        what, took, data = next(lines).split()
        assert what == "pixel"
        assert bytes.fromhex(data) == layers[number].y[row, column].tobytes(), (number, row, column)
        before, pixels = took_alone.get(number, (0, 0))
        took_alone[number] = before + count * int(took), pixels + 1
    assert [*lines] == ["done"]
    return int(cycles), {number: took_alone[seen[layer.shape]] for number, layer in enumerate(layers)}, layers


def _lines(engine, bus, memory):
    """What the system sends, whose memory begins with the firmware."""
    config = SocConfig(engine=engine, bus_bytes=bus // 8, ram_kib=1024, clock_hz=2_000_000, baud=1_000_000)
    sources = firmware_sources(config)
    sources["link.ld"] = sources["link.ld"].replace(str(config.ram_bytes), str(JOBS_ADDRESS))
    sources["in_system.c"] = Path(__file__).with_suffix(".c").read_text()
    code = compile_firmware(sources, (*LIBRARY, "in_system.c"))
    memory[: len(code)] = code
    verilog = {
        "soc.v": str(emit_verilog(Soc(config), NAME)), "soc_tb.v": soc_testbench(config, NAME), "cpu.v": picorv32()
    }  # fmt: skip
    simulation = SystemSimulation.build(verilog, f"{NAME}_tb")
    return simulation.run({MEMORY: memory_file(bytes(memory), config)}, limit=_LIMIT).lines


def _kind(layer):
    kernel = layer.w.shape[2]
    if layer.depthwise:
        return f"depthwise, {kernel} x {kernel}"
    return "1 x 1" if kernel == 1 else f"{kernel} x {kernel}"


def main():
    """Run both, and print a table by kinds of layers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    add_engine(parser, rows=8, cols=8, depth=2, lanes=2, bus=64)
    parser.add_argument("--list-only", action="store_true")
    given = parser.parse_args()
    engine = engine_of(given)
    cycles, alone, layers = in_system(given.model, engine, given.bus, alone=not given.list_only)
    text = f"one list, started by the processor: {cycles:,} cycles; its last results equal onnxruntime's\n"
    if given.list_only:
        sys.stdout.write(text)
        return
    kinds = {}
    for number, layer in enumerate(layers):
        kinds.setdefault(_kind(layer), []).append(number)
    for kind, numbers in kinds.items():
        took, products = (sum(each) for each in zip(*((alone[n][0], layers[n].products) for n in numbers), strict=True))
        text += f"{kind}: {len(numbers)} layers, {products:,} products, {took:,} cycles alone\n"
    whole = sum(took for took, _ in alone.values())
    pixels = sum({layers[number].shape: count for number, (_, count) in alone.items()}.values())
    text += f"processor alone: {whole:,} cycles, extrapolated from {pixels} pixels: "
    text += f"{whole / cycles:,.0f} times as many as the list takes\n"
    sys.stdout.write(text)


if __name__ == "__main__":
    main()
