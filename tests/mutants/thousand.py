"""Mutants of many packages for docs/measurements/mutants.md: layers and arrays drawn at random, resnet8-fc, an engine.

python tests/mutants/thousand.py --seed 271828 --count 1000 --processes 2 --out out/thousand

All designs are small and of portable cells, so that proofs and simulations end, and no layer gives one output alone. Of
the engine the changed module is asked about alone. Each mutant becomes a line of mutants.tsv as soon as it is judged,
and the packages stay beside it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "fuzz"))

from points import design_of, draw_point, is_design

from systoliq.api import LayerOptions
from systoliq.design import EngineDesign, LayerDesign
from systoliq.design.design import Design
from systoliq.design.sources import resnet8_fc_layer
from systoliq.hw.engine import EngineConfig
from systoliq.mutants import Campaign, Result, Verdict
from systoliq.package import make_package
from systoliq.testbench.layer.stimulus import layer_stimulus

_KINDS = ("layer",) * 5 + ("array",)
_ENGINE = "engine"
_MOST_PRODUCTS, _MOST_WEIGHTS, _LEAST_K = 8, 120, 3


def designs(seed: int) -> Iterator[tuple[str, Design]]:
    """The designs to mutate, each with what it is."""
    rng = np.random.default_rng(seed)
    for kind in _KINDS:
        point = {"k": 0}
        while (
            point["k"] < _LEAST_K
            or point["rows"] * point["cols"] * point["depth"] > _MOST_PRODUCTS
            or point["k"] * point.get("n", 1) > _MOST_WEIGHTS
            or not is_design(point)
            or not _shows_something(design_of(point))
        ):
            point = draw_point(rng, kind) | {"cells": "portable"}
            if kind == "array":  # random traffic has sums of any length
                point["wrap"] = True
        yield json.dumps(point), design_of(point)
    yield "resnet8-fc, 1 x 2 x 4", LayerDesign(resnet8_fc_layer()[0], LayerOptions(rows=1, cols=2, depth=4))
    few = EngineConfig(rows=1, cols=2, depth=1, lanes=2, a_words=8, b_words=8)
    yield f"{_ENGINE}, 1 x 2 x 1 with buffers of 8 words", EngineDesign(few)


def _shows_something(design: Design) -> bool:
    """Not a layer whose requantizer is narrower than exactness takes, or whose outputs are all the same."""
    if not isinstance(design, LayerDesign):
        return True
    exact = make_package(design).certificate.get("verdict", "exact") == "exact"
    return exact and len(np.unique(layer_stimulus(design).y)) > 1


def main() -> None:
    """Run the campaign of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--only", type=int, nargs="*", help="numbers of designs")
    parser.add_argument("--out", type=Path, default=Path("out/thousand"))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    drawn = list(enumerate(designs(args.seed)))
    with (args.out / "mutants.tsv").open("a") as log:
        for number, (what, design) in drawn:
            if args.only and number not in args.only:
                continue
            folder = args.out / str(number)
            make_package(design).write(folder)
            _say(f"{number}: {what}")

            def note(result: Result, number: int = number) -> None:
                mutant = result.mutant
                columns = (
                    number,
                    result.verdict.value,
                    f"{result.seconds:.1f}",
                    mutant.line,
                    mutant.block,
                    mutant.kind,
                )
                texts = (mutant.before.strip(), mutant.after.strip(), result.said, result.refused[:120])
                log.write("\t".join(map(str, columns + texts)) + "\n")
                log.flush()

            campaign = Campaign(folder, seconds=args.seconds, alone=what.startswith(_ENGINE))
            results = campaign.run(-(-args.count // len(drawn)), args.seed, processes=args.processes, on_result=note)
            tally = {verdict.value: sum(result.verdict is verdict for result in results) for verdict in Verdict}
            _say(f"  {len(results)} mutants: {tally}")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
