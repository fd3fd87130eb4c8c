"""The example in C of a compiled model, on the RTL: its hooks are Python, its memory is the simulator's."""

from __future__ import annotations

import ctypes
import subprocess
from ctypes import CFUNCTYPE, POINTER, c_char, c_int, c_size_t, c_uint8, c_uint32, c_void_p

import numpy as np

from systoliq.hw.dma.commands import dma_register
from systoliq.hw.dma.registers import BASE
from systoliq.hw.engine import AxiEngine
from systoliq.hw.engine.host import Map
from systoliq.hw.engine.host.batches import Batches
from systoliq.inference.products import asked_of_engine
from systoliq.inference.program.playing import rows_of_a
from systoliq.inference.program.vector import VectorInMemory
from systoliq.inference.steps import HostStep
from systoliq.sim.engine.dma_engine import SimulatedDmaEngine
from systoliq.sim.engine.memory import EngineMemory

BYTES = POINTER(c_uint8)
HOOKS = {
    "read": CFUNCTYPE(c_uint32, c_void_p, c_uint32),
    "write": CFUNCTYPE(None, c_void_p, c_uint32, c_uint32),
    "operand": CFUNCTYPE(c_void_p, c_void_p, c_uint32, c_uint32, c_char),
    "zero_point": CFUNCTYPE(c_uint8, c_void_p, c_uint32, c_char),
    "result": CFUNCTYPE(c_void_p, c_void_p, c_uint32, c_uint32),
    "finish": CFUNCTYPE(c_int, c_void_p, c_uint32),
    "clean": CFUNCTYPE(None, c_void_p, c_void_p, c_size_t),
    "invalidate": CFUNCTYPE(None, c_void_p, c_void_p, c_size_t),
    "wait": CFUNCTYPE(c_int, c_void_p),
}
LINE = 64  # bytes of a line of the cache


class CBoard(ctypes.Structure):
    _fields_ = (("user", c_void_p), ("memory", c_void_p), *HOOKS.items())


class Board:
    """The hooks: host's steps by onnxruntime, operands as the program's steps say, lists on the RTL.

    Its registers say that it is of `config`, by default the program's.

    The engine does not see what the processor wrote to `memory` before `clean`, and the processor not what the engine
    wrote before `invalidate`.
    """

    def __init__(self, compiled, feed, memory, config=None):
        self.program, self.division, self.simulated = compiled.program, compiled.division, memory
        self.tensors = {**compiled.division.constants, **feed}
        self.memory = np.frombuffer(bytearray(self.program.memory), np.uint8)
        self.behind = self.memory.copy()  # the caches: the engine's memory
        self.registers, self.constants = {}, constants(compiled.program.config if config is None else config)
        self.asked, self.results, self.kept = {}, {}, []
        self.jobs = {buffer.address: jobs for step in self.program.of_engine for buffer, jobs in step.parts}

    def read(self, _, offset):
        if offset == register("DMA_STATUS"):
            return dma_register("DMA_STATUS").field("done").mask
        return self.constants.get(offset, 0)

    def write(self, _, offset, value):
        self.registers[offset] = value
        if offset == register("LIST_CONTROL") and value == 1:
            address, extent = self.registers[register("LIST_ADDRESS")], self.registers[register("LIST_EXTENT")]
            played = self.simulated.play(
                address, extent + 1, jobs=self.jobs[address], writes=[(0, self.behind.tobytes())],
                reads=[(0, self.behind.size)], limit=1_000_000,
            )  # fmt: skip
            self.behind[:] = np.frombuffer(played.data[0], np.uint8)

    def clean(self, _, start, size):
        self.behind[self.lines(start, size)] = self.memory[self.lines(start, size)]

    def invalidate(self, _, start, size):
        self.memory[self.lines(start, size)] = self.behind[self.lines(start, size)]

    def wait(self, _):
        return 1  # give up: a list is done before its first poll

    def lines(self, start, size):
        first = start - self.memory.ctypes.data
        return slice(first // LINE * LINE, -(-(first + size) // LINE) * LINE)

    def operation(self, step, index):
        if step not in self.asked:
            self.asked[step] = asked_of_engine(self.program.steps[step - 1].sketch.step.node, self.tensors)
        return self.asked[step].operations[index]

    def operand(self, _, step, index, which):
        of = self.program.steps[step - 1]
        if isinstance(of, VectorInMemory):
            return self.pointer(np.ascontiguousarray(self.tensors[of.sketch.step.inputs[b"ab".index(which)]]))
        given = self.operation(step, index)
        if which == b"a":
            return self.pointer(rows_of_a(self.program.steps[step - 1], self.asked[step], index))
        return self.pointer(np.ascontiguousarray(Batches(given.a, given.b).b))

    def zero_point(self, _, step, which):
        return int(getattr(self.operation(step, 0), f"{which.decode()}_zero_point").reshape(())) & 0xFF

    def result(self, _, step, index):
        of = self.program.steps[step - 1]
        if isinstance(of, VectorInMemory):
            y = np.zeros(of.sketch.shapes["y"], of.sketch.work.output.dtype)
        else:
            operation = of.operations[index].sketch
            y = np.zeros(operation.result, operation.pieces[0].job.y_dtype)
        self.results[step, index] = y
        return self.pointer(y)

    def finish(self, _, step):
        of = self.program.steps[step - 1]
        if isinstance(of, HostStep):
            self.tensors |= self.division.pieces[of].run(self.tensors)
            return 0
        if isinstance(of, VectorInMemory):
            self.tensors[of.sketch.step.output] = self.results[step, 0]
            return 0
        self.operation(step, 0)
        results = [self.results[step, index] for index in range(len(of.operations))]
        self.tensors[of.sketch.step.node.output[0]] = self.asked[step].finish(results)
        return 0

    def pointer(self, array):
        self.kept.append(array)
        return array.ctypes.data


def constants(config):
    """Registers that never change, by address."""
    words = {}
    for (name, field), value in AxiEngine(config).constants().items():
        found = Map().register(name)
        words[found.offset] = words.get(found.offset, 0) | value << found.field(field).lsb
    return words


def register(name):
    return BASE + dma_register(name).offset


def example_of(folder, flags):
    """The example in `folder` as a shared library."""
    sources = ["systoliq_example.c", "systoliq_program.c"]
    command = ["gcc", *flags, "-O1", "-fPIC", "-shared", "-o", "example.so", *sources]
    subprocess.run(command, cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "example.so"))


def hooks_of(board):
    """The hooks in C of a `Board`."""
    hooks = {name: kind(getattr(board, name)) for name, kind in HOOKS.items()}
    return CBoard(user=None, memory=board.memory.ctypes.data, **hooks)


def run_example(compiled, folder, feed, flags):
    """All tensors after the example ran all steps of the compiled model in `folder`."""
    library, program = example_of(folder, flags), compiled.program
    engine = SimulatedDmaEngine(program.config, bus_bytes=program.bus_bytes)
    with EngineMemory(engine, program.memory) as memory:
        board = Board(compiled, feed, memory)
        assert library.systoliq_run(ctypes.byref(hooks_of(board))) == 0
    return board.tensors
