"""A compiled model in examples/litex_sdram, with LiteDRAM's model of the SDRAM: cycles, and the result of onnxruntime.

python -m tests.inference.litex_sdram MODEL.onnx [--rows 8 --cols 8 --depth 2 --lanes 2 --bus 64]
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from systoliq.api import compile_onnx
from systoliq.design.dma_engine.design import DmaEngineDesign
from systoliq.inference.program.cycles import run_cycles
from systoliq.package import write_package
from systoliq.sim.system import SystemSimulation
from systoliq.soc.design import picorv32

from .engine_arguments import add_engine, engine_of

__all__ = ["BASE", "EXAMPLE", "compiled_in", "feed_of", "image_module", "result_of", "simulate", "write_system"]

EXAMPLE = Path(__file__).resolve().parents[2] / "examples/litex_sdram"
BASE = 0x4000_0000


def image_module():
    """The example's image.py."""
    spec = importlib.util.spec_from_file_location("litex_sdram_image", EXAMPLE / "image.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def feed_of(found, seed=7):
    """Random inputs of a compiled model, by name."""
    rng = np.random.default_rng(seed)
    return {name: rng.normal(0, 1, shape).astype(kind) for name, (kind, shape) in found.program.inputs.items()}


def result_of(found, feed):
    """The result of the only list by onnxruntime."""
    tensors = found.division.expected(feed)
    (run,) = found.program.runs
    (last,) = (step for step in found.program.of_engine if step.number == run.steps[-1])
    return np.ascontiguousarray(tensors[last.sketch.step.node.output[0]])


def compiled_in(folder, path, config, *, bus=64, base=BASE):
    """The compiled model, in `folder`/program beside inputs.npz, and its list's result by onnxruntime."""
    found = compile_onnx(path, config, bus=bus, base=base)
    found.write(folder / "program")
    feed = feed_of(found)
    np.savez(folder / "program/inputs.npz", **feed)
    return found, result_of(found, feed)


def write_system(engine, program, out, *options):
    """The finished run of the example's system.py."""
    command = [sys.executable, "-W", "ignore", EXAMPLE / "system.py", engine, program, "--out", out, *options]
    return subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)


def simulate(engine, out, sent=None, *, limit=20_000_000):
    """The lines that the system sends after it has received the messages `sent`, or uart.mem if there are none."""
    text = re.sub(r"^//.*\n", "", (out / "top.v").read_text(), flags=re.MULTILINE)  # when it was made, among others
    verilog = {"top.v": text, "bench.v": (EXAMPLE / "testbench.v").read_text(), "cpu.v": picorv32()}
    for file in engine.glob("*.v"):
        if not file.name.endswith("_tb.v"):
            verilog[file.name] = file.read_text()
    memories = {file.name: file.read_bytes() for file in out.glob("*.init")}
    memories["uart.mem"] = (out / "uart.mem").read_bytes() if sent is None else sent.hex(" ").encode()
    return SystemSimulation.build(verilog, "testbench").run(memories, limit=limit).lines


def main():
    """Run it, compare the result, and print the cycles."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    add_engine(parser, rows=8, cols=8, depth=2, lanes=2, bus=64)
    given = parser.parse_args()
    config = engine_of(given)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        engine = write_package(DmaEngineDesign(config, bus=given.bus), folder / "engine")
        found, wanted = compiled_in(folder, given.model, config, bus=given.bus)
        program = folder / "program"
        done = write_system(engine, program, folder / "out", "--simulate", "--input", program / "inputs.npz")
        assert done.returncode == 0, done.stderr
        error, cycles, data = simulate(engine, folder / "out")
        assert int(error, 16) == 0
        np.testing.assert_array_equal(image_module().result(program, bytes.fromhex(data)).ravel(), wanted.ravel())
    sys.stdout.write(f"{int(cycles, 16):,} cycles; {run_cycles(found.program)[0].cycles:,} by the cycle model\n")


if __name__ == "__main__":
    main()
