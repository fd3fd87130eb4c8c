"""Transformers through RTL, every integer of every stage against golden, and golden's against onnxruntime's.

    python -m tests.onnx.transformers [--inputs N] [--simulator verilator] MODEL ...

A MODEL is kwt (a layer of KWT-1 for 98 tokens), vit8 or vit4 (32 x 32 pixels in patches of 8 or 4, random weights), or
digits-vit. --keep DIR keeps the quantized file, for `systoliq emit` and `systoliq synth`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from systoliq.design.digits import split_digits
from systoliq.design.digits_vit import INT8_MODEL
from systoliq.design.network import NetworkDesign
from systoliq.onnx import read_network

from .network.kwt import kwt
from .network.oracle import by_node
from .network.quantized import quantized
from .network.vit import vit

MODELS = {"kwt": lambda: kwt(1), "vit8": lambda: vit(8), "vit4": lambda: vit(4)}


def made(name: str, inputs: int, folder: Path) -> tuple[Path, Mapping[str, np.ndarray]]:
    """The quantized file of a model, and its inputs."""
    if name == "digits-vit":
        _, images, _, _ = split_digits()
        return INT8_MODEL, {"image": images[:inputs].reshape(-1, 1, 8, 8).astype(np.float32)}
    path = folder / f"{name}.onnx"
    title, shape = quantized(MODELS[name](), path)
    return path, {title: np.random.default_rng(2).normal(0, 1, (inputs, *shape[1:])).astype(np.float32)}


def main() -> None:
    """Print a line for each model."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("models", nargs="+", metavar="MODEL", choices=[*MODELS, "digits-vit"])
    arguments.add_argument("--inputs", type=int, default=1)
    arguments.add_argument("--simulator", default="verilator", choices=["verilator", "icarus"])
    arguments.add_argument("--keep", type=Path, metavar="DIR")
    given = arguments.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for name in given.models:
            path, inputs = made(name, given.inputs, folder)
            network = read_network(path)
            nodes = by_node(path, network, inputs)
            run = NetworkDesign(network).simulate(inputs, simulator=given.simulator)
            sys.stdout.write(
                f"{name}, {given.inputs} inputs: {sum(each.wrong for each in nodes)} of "
                f"{sum(each.compared for each in nodes)} integers of golden's nodes differ from onnxruntime; "
                f"{run.report['mismatches']} of {run.report['outputs']} of {run.simulator}'s stages from golden, "
                f"{len(run.violations)} faults of a stream; {run.report['cycles']} cycles\n"
            )
            sys.stdout.flush()


if __name__ == "__main__":
    main()
