"""How many architectures of the zoo compile to one list of the DMA engine, with float edges for the host only.

python -m tests.zoo.one_list               # the table of docs/measurements/dma_engine.md
python -m tests.zoo.one_list --rtl NAME... # also runs them in RTL, each step against golden and onnxruntime
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from systoliq.api import EngineConfig, EngineSession, compile_onnx
from systoliq.inference.steps import HostStep

from ..onnx.network.networks import images, quantized
from .architectures import ARCHITECTURES, OPSETS

__all__ = ["Division", "division_of"]

CONFIG = EngineConfig(rows=8, cols=8, depth=1, lanes=2, vector=True, row_length=64)
BUS = 64
EDGES = {"QuantizeLinear", "DequantizeLinear", "Transpose", "Reshape", "Flatten", "Squeeze"}
"""What the host may have before the first step of the engine and behind the last: float numbers, and their order."""


@dataclass(frozen=True, kw_only=True)
class Division:
    """A model's steps by array and vector unit, its lists, and what the host computes apart from `EDGES`."""

    name: str
    products: int
    vectors: int
    lists: int
    host: tuple[str, ...]

    @property
    def whole(self) -> bool:
        """True for one list with float edges."""
        return self.lists == 1 and not self.host


def model_of(name: str, folder: Path) -> tuple[Path, dict[str, tuple[int, ...]]]:
    """The quantized model, and the shape of its input."""
    net = ARCHITECTURES[name]()
    shape = tuple(size if isinstance(size, int) else 1 for size in net.shape)
    return quantized(folder, net, opset=OPSETS[name]), {"x": shape}


def division_of(name: str) -> Division:
    """The compiled model."""
    with tempfile.TemporaryDirectory() as folder:
        path, shapes = model_of(name, Path(folder))
        program = compile_onnx(path, CONFIG, bus=BUS, shapes=shapes).program
    host = [node.op_type for step in program.steps if isinstance(step, HostStep) for node in step.nodes]
    return Division(
        name=name, products=len(program.products), vectors=len(program.vectors), lists=len(program.runs),
        host=tuple(operator for operator in host if operator not in EDGES),
    )  # fmt: skip


def in_rtl(name: str) -> int:
    """Run the model in RTL; returns the cycles of its lists, each step played alone."""
    with tempfile.TemporaryDirectory() as folder:
        path, shapes = model_of(name, Path(folder))
        session = EngineSession(path, CONFIG, bus=BUS)
        session.run(None, {"x": images(shapes["x"], 1, 3)})
        return sum(step.cycles for step in session.report.check().steps)


def say(line: str) -> None:
    """Write a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def row(cells: list[str]) -> str:
    """A row of a table."""
    return "| " + " | ".join(cells) + " |"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="architectures; all by default")
    parser.add_argument("--rtl", action="store_true", help="run them in RTL, too")
    given = parser.parse_args()
    logging.disable(logging.WARNING)
    names = given.names or list(ARCHITECTURES)
    heads = ["Architecture", "Array", "Vector unit", "Lists", "Host", *(["Cycles"] if given.rtl else [])]
    say(row(heads))
    say("|---|--:|--:|--:|---|" + "--:|" * given.rtl)
    whole = 0
    for name in names:
        found = division_of(name)
        whole += found.whole
        counts = Counter(found.host).items()
        host = ", ".join(each if count == 1 else f"{count} {each}" for each, count in counts) or "float edges"
        cells = [found.name, str(found.products), str(found.vectors), str(found.lists), host]
        say(row([*cells, *([f"{in_rtl(name):,}"] if given.rtl else [])]))
    say(f"\n{whole} of {len(names)} are one list with float edges for the host")
    return 0


if __name__ == "__main__":
    sys.exit(main())
