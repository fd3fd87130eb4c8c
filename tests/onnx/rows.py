"""Softmax and LayerNormalization of golden against onnxruntime: random scales, lengths and rows, differences counted.

    python -m tests.onnx.rows [--outputs N] [--seed S]
    python -m tests.onnx.rows --models DIR
    python -m tests.onnx.rows --adder

The second writes a model of each alone, for `systoliq synth`. The third places Softmax's addition in float32, alone on
an LFE5U-85F. Rows are of any integers, of
neighbouring ones, and of few that differ, for which ties are common. N are the outputs of each operator, at least.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.hw.delay import delay
from systoliq.hw.network.softmax_steps import exponential_sum
from systoliq.onnx import read_network
from systoliq.synth.flow import Block, synthesize

from .network.operator_models import between
from .network.oracle import session, write
from .network.row_models import drawn, normal_constants, rows

LENGTHS = (2, 3, 10, 16, 50, 64, 65, 99, 128, 192, 197, 384, 768)
DRAW = 250_000  # outputs of one draw, about
INSIDE = {"Softmax": "f = Softmax(fa)", "LayerNormalization": "f = LayerNormalization(fa, g, b)"}


def apart(operator: str, draw: int, seed: int, path: Path) -> np.ndarray:
    """How far each result of golden is from onnxruntime's, in one draw."""
    rng = np.random.default_rng([seed, draw])
    kind, length = ("int8", "uint8")[draw % 2], int(rng.choice(LENGTHS))
    constants = drawn(rng, kind, draw) if operator == "Softmax" else normal_constants(rng, kind, length)
    text = f"g ({kind}[N, {length}] a) => ({kind}[N, {length}] y) {{ {between(INSIDE[operator], 'a')} }}"
    write(path, text, constants)
    a = rows(rng, kind, -(-DRAW // (3 * length)), length)
    (expected,) = session(onnx.load(path)).run(["y"], {"a": a})
    return np.abs(read_network(path).golden({"a": a})["y"].astype(int) - expected)


def write_models(folder: Path) -> None:
    """Write OPERATOR_LENGTH.onnx."""
    folder.mkdir(parents=True, exist_ok=True)
    for operator, inside in INSIDE.items():
        for length in (16, 64, 192):
            constants = normal_constants(np.random.default_rng(0), "int8", length)
            if operator == "Softmax":
                constants |= {"ys": np.float32(1 / 256), "yz": np.int8(-128)}
            shape = f"int8[1, {length}, {length}]"
            path = folder / f"{operator.lower()}_{length}.onnx"
            write(path, f"g ({shape} a) => ({shape} y) {{ {between(inside, 'a')} }}", constants)


class Adder(wiring.Component):
    """The sum of exponentials in float32, of 24 bits and an exponent of 8."""

    def __init__(self):
        super().__init__({"word": In(32), "comes": In(1), "first": In(1), "total": Out(24), "exponent": Out(8)})

    def elaborate(self, platform):
        m = Module()
        coming, comes, first = (delay(m, each, 1, name="in") for each in (self.word, self.comes, self.first))
        found = exponential_sum(m, (coming, delay(m, coming, 1, name="word")), comes, first, exponent_bits=8)
        m.d.comb += [port.eq(value) for port, value in zip((self.total, self.exponent), found, strict=True)]
        return m


def main() -> None:
    """Print a line for each operator."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--outputs", type=int, default=10_000_000)
    arguments.add_argument("--seed", type=int, default=0)
    arguments.add_argument("--models", type=Path, metavar="DIR")
    arguments.add_argument("--adder", action="store_true")
    given = arguments.parse_args()
    if given.adder:
        found = synthesize(Block(component=Adder(), name="adder"), "ecp5-85k")
        sys.stdout.write(f"{found.lut_sites} LUT sites, {found.ff} registers, MHz: {found.fmax_mhz_per_seed}\n")
        return
    if given.models is not None:
        write_models(given.models)
        return
    with tempfile.TemporaryDirectory() as folder:
        for operator in INSIDE:
            found: Counter[int] = Counter()
            draws = 0
            while found.total() < given.outputs:
                values, counts = np.unique(
                    apart(operator, draws, given.seed, Path(folder) / "m.onnx"), return_counts=True
                )
                found.update(dict(zip(values.tolist(), counts.tolist(), strict=True)))
                draws += 1
            wrong = {by: count for by, count in found.items() if by}
            sys.stdout.write(
                f"{operator}, onnxruntime {onnxruntime.__version__}, {draws} draws: {sum(wrong.values())} of "
                f"{found.total()} outputs differ{f', by {max(wrong)} at most' if wrong else ''}\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
