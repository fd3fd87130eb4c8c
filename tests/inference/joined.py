"""A whole model by its one list in RTL: every result that is in memory at the end equals onnxruntime's.

python -m tests.inference.joined MODEL.onnx [--rows 16 --cols 16 --depth 1 --lanes 4 --bus 128 --row-length 0]
    [--shape image=1,1,8,8 --scale 8 --latency 30]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from systoliq.api import compile_onnx
from systoliq.inference.program.cycles import run_cycles
from systoliq.inference.program.product import bytes_of_rows
from systoliq.inference.program.vector import VectorInMemory, layout_of
from systoliq.sim.engine.dma_engine import SimulatedDmaEngine
from systoliq.sim.engine.memory import EngineMemory

from .engine_arguments import add_engine, engine_of

__all__ = ["joined"]


def joined(path, config, bus, *, limit=10_000_000, seed=3, shapes=None, scale=1.0, latency=0):
    """(steps, jobs, cycles, cycles by the cycle model, integers that are equal to onnxruntime's) of one list, from its
    start to its interrupt. Inputs are random, of a deviation of `scale`. The memory answers `latency` cycles later than
    at once.
    """
    compiled = compile_onnx(path, config, bus=bus, shapes=shapes)
    program, rng = compiled.program, np.random.default_rng(seed)
    (run,) = program.runs
    feed = {name: rng.normal(0, scale, shape).astype(kind) for name, (kind, shape) in program.inputs.items()}
    tensors = compiled.division.expected(feed)
    steps = {step.number: step for step in program.of_engine}
    first = steps[run.steps[0]].operations[0]
    given = tensors[steps[run.steps[0]].sketch.step.node.input[0]]
    results = {number: result(steps[number]) for number in run.steps}
    with EngineMemory(SimulatedDmaEngine(config, bus_bytes=bus // 8), program.memory, latency=latency) as memory:
        played = memory.play(
            run.address, run.size, jobs=run.jobs, limit=limit,
            writes=[(first.a.address, bytes_of_rows(first.sketch.a, np.ascontiguousarray(given)))],
            reads=[(y.address, y.size) for y, _ in results.values()],
        )  # fmt: skip
    compared, last = 0, run.steps[-1]
    for (number, (y, name)), data in zip(results.items(), played.data, strict=True):
        if number != last and is_used_again(number, y, steps):
            continue
        rows = np.frombuffer(data + bytes(y.rows * y.stride - len(data)), np.uint8).reshape(y.rows, y.stride)
        wanted = np.ascontiguousarray(tensors[name]).view(np.uint8)
        if rows_of(steps[number], wanted.shape) != (y.rows, y.row_bytes):
            continue
        np.testing.assert_array_equal(rows[:, : y.row_bytes].reshape(-1), wanted.reshape(-1), err_msg=name)
        compared += wanted.size
    (model,) = run_cycles(program)
    jobs = sum(jobs for step in steps.values() for _, jobs in step.parts)
    return len(run.steps), jobs, played.cycles, model.cycles, compared


def result(step):
    """The buffer of a step's Y, and its tensor."""
    return (step.y if isinstance(step, VectorInMemory) else step.operations[0].y), step.sketch.step.node.output[0]


def rows_of(step, shape):
    """Rows and bytes of a row, if each row is a last dimension, or a pixel of a convolution."""
    if not isinstance(step, VectorInMemory) and step.sketch.image and not step.sketch.channels_last:
        return None
    rows = layout_of(shape)
    return rows.count, rows.size


def is_used_again(number, y, steps):
    """True if a later step writes to the place of `y`."""
    for other, step in steps.items():
        for buffer in step.buffers:
            meets = buffer.address < y.address + y.size and y.address < buffer.address + buffer.size
            if other > number and meets and buffer.role in ("y", "scratch"):
                return True
    return False


def main():
    """Play the list, and say what came of it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    add_engine(parser, rows=16, cols=16, depth=1, lanes=4, bus=128, row_length=0)
    parser.add_argument("--shape", action="append", default=[])
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument(
        "--latency", type=int, default=0, help="cycles until memory answers a burst; bursts may overlap"
    )
    given = parser.parse_args()
    config = engine_of(given)
    shapes = {name: tuple(map(int, sizes.split(","))) for name, sizes in (each.split("=") for each in given.shape)}
    found = joined(given.model, config, given.bus, shapes=shapes, scale=given.scale, latency=given.latency)
    steps, jobs, cycles, model, compared = found
    text = (
        f"one list: {steps} steps, {jobs} jobs, {cycles:,} cycles ({model:,} by the cycle model); {compared:,} "
        f"integers equal onnxruntime's"
    )
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    main()
