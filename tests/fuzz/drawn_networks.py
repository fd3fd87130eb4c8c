"""Networks of the fuzzer: operators drawn at random, one after the other, and cells of its own for each stage."""

from __future__ import annotations

import itertools
import json
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from systoliq.design import NetworkOptions
from systoliq.design.network import NetworkDesign
from systoliq.design.network.plan import plan_of, stages_of
from systoliq.golden import INT8, UINT8
from systoliq.golden.network import Chain, Gather, Network, Reshape, Transpose
from systoliq.hw.cells import CELLS, family
from systoliq.hw.network.operators import operator_of
from systoliq.hw.network.parallelism import Parallelism

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.hw.network.small_networks import Builder

__all__ = ["OPERATORS", "design_of_network", "draw_network", "network_design"]

OPERATORS = (
    "convolution", "grouped", "depthwise", "maximum", "mean", "table", "add", "multiply", "pair", "concat", "resize",
    "gate", "split", "shuffle", "turn", "depth to space", "interpolated", "transposed", "residual", "normalized",
    "softmax", "product", "joined rows",
)  # fmt: skip
_MOST_OPERATORS = 3
_MOST_CELL_PRODUCTS = 4  # a stage's, where Icarus simulates the models of cells
_MOST_CYCLES = 400  # of a stage for an image


def draw_network(rng: np.random.Generator) -> dict[str, Any]:
    """Operators, an end, one or two inputs and outputs; the cells of all stages, and those that the plan names for each
    (empty: the same).
    """
    cells = str(rng.choice(CELLS))
    count = int(rng.integers(1, _MOST_OPERATORS + 1))
    operators = [str(rng.choice(OPERATORS)) for _ in range(count)]
    end = str(rng.choice(["", "average", "dense"]))
    others = [each for each in CELLS if family(each) in ("", family(cells))]
    if rng.random() < 0.1:  # what systoliq refuses
        others = list(CELLS)
    # enough for nearly all networks: most operators become three stages at most, and the rest have `cells`
    by_stage = ["" if rng.random() < 0.2 else str(rng.choice(others)) for _ in range(3 * _MOST_OPERATORS + 5)]
    return {
        "rows": int(rng.integers(2, 4)),
        "cols": int(rng.integers(2, 4)),
        "signed": bool(rng.random() < 0.5),
        "operators": operators,
        "end": end,
        "inputs": int(rng.integers(1, 3)),
        "outputs": int(rng.integers(1, 3)),
        "cells": cells,
        "cells_by_stage": by_stage,
    }


def network_design(point: dict[str, Any]) -> NetworkDesign:
    """The design at `point`, its parallelism drawn from the point's seed."""
    return design_of_network(_network(point), point, point["cells_by_stage"])


def design_of_network(network: Network, point: dict[str, Any], cells_by_stage: Sequence[str] = ()) -> NetworkDesign:
    """The design of `network`, its parallelism drawn from the point's seed; without cells, the point's."""
    rng = random.Random(f"plan {point['seed']}")
    drawn = {
        node.name: Parallelism(cols=each.cols, depth=each.depth, cells=cells)
        for node, cells in zip(stages_of(network), itertools.chain(cells_by_stage, itertools.repeat("")), strict=False)
        for each in [rng.choice(_quick(node))]
    }
    plan = plan_of(network, drawn, cells=point["cells"])
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plan.json"
        path.write_text(json.dumps(plan.as_json()))
        return NetworkDesign(network, NetworkOptions(cells=point["cells"], plan=path))


def _quick(node: Any) -> list[Parallelism]:
    """What a stage can be that a simulation is quick with; the quickest of few products where nothing is."""
    operator = operator_of(node)
    possible = [each for each in operator.choices() if operator.multipliers(each) <= _MOST_CELL_PRODUCTS]
    quick = [each for each in possible if operator.image_cycles(each) <= _MOST_CYCLES]
    return quick or [min(possible or operator.choices(), key=operator.image_cycles)]


def _network(point: dict[str, Any]) -> Network:
    net = Builder((2, point["rows"], point["cols"]), seed=point["seed"], form=INT8 if point["signed"] else UINT8)
    net.convolution(4)
    if point["inputs"] > 1:
        first = net.last
        net.input((4, *first.shape[2:]))
        net.add(first, net.table())
    side = net.last
    for operator in point["operators"]:
        _add(net, operator)
    if point["end"]:
        net.average()
        net.flatten()
    if point["end"] == "dense":
        net.dense(3)
    if point["outputs"] > 1:
        return net.network(net.last, net.table(of=side))
    return net.network()


def _add(net: Builder, operator: str) -> None:
    """The operator, and what it needs, after what there is: 4 channels, and 4 again."""
    x = net.last
    around = {"pads": (1, 1, 1, 1)}
    if operator == "convolution":
        net.convolution(4, (3, 3), **around)
    elif operator == "grouped":
        net.convolution(4, groups=2)
    elif operator == "depthwise":
        net.depthwise(**around)
    elif operator == "maximum":
        net.maximum((2, 2), **around, strides=(2, 2))
    elif operator == "mean":
        size = 2 + len(net.nodes) % 2, 2 + net.rng.randrange(min(3, x.shape[3] + 1))
        net.windowed_average(size, **around)
    elif operator == "table":
        net.table()
    elif operator in ("add", "multiply"):
        getattr(net, operator)(net.table(), x)
    elif operator == "pair":
        function = ("difference", "minimum", "maximum")[len(net.nodes) % 3]
        net.pair(function, net.table(), x)
    elif operator == "concat":
        side = net.table()
        net.concat(side, x)
        net.convolution(4)
    elif operator == "resize" and max(x.shape[2:]) <= 4:
        net.resize(2, 1)
    elif operator == "interpolated" and max(x.shape[2:]) <= 3:
        net.interpolated(2, 1 + len(net.nodes) % 2)
    elif operator == "transposed" and max(x.shape[2:]) <= 4:  # as the reader makes a ConvTranspose of stride 2 by 1
        rows, columns = x.shape[2:]
        net.convolution(8, (2, 1), pads=(1, 0, 0, 0))
        phases = Reshape((2, 4, rows, columns)), Transpose((0, 2, 3, 1, 4)), Reshape((4, 2 * rows, columns))
        net.move(Chain((*phases, Gather(2, tuple(range(1, 2 * rows))))))
    elif operator == "split":
        first = net.move(Gather(1, (0, 1, 2)))
        net.concat(net.move(Gather(1, (3,)), of=x), first)
    elif operator == "shuffle":
        net.shuffle(2)
    elif operator == "turn":
        net.move(Chain((Transpose((0, 1, 3, 2)), Gather(2, tuple(range(x.shape[3]))[::-1]))))
    elif operator == "depth to space" and max(x.shape[2:]) <= 4:
        net.convolution(8)
        rows, columns = x.shape[2:]
        split, whole = Reshape((2, 4, rows, columns)), Reshape((4, 2 * rows, columns))
        net.move(Chain((split, Transpose((0, 2, 3, 1, 4)), whole)))
    elif operator == "residual":
        groups = 1 + len(net.nodes) % 2
        net.residual(x, (3, 3), of=net.table() if groups > 1 else x, groups=groups, **around)
    elif operator == "normalized":  # the channels of each pixel
        net.normalize()
    elif operator == "softmax":  # the same
        net.softmax()
    elif operator == "product":  # of all pixels, as tokens, with their channels
        rows, columns = x.shape[2:]
        tokens = Chain((Reshape((4, rows * columns)), Transpose((0, 2, 1))))
        weights = net.move(Reshape((4, rows * columns)), of=net.table())
        net.matmul(net.move(tokens, of=x), weights)
        net.matmul(net.last, net.move(tokens, of=net.table(of=x)))
        net.move(Chain((Transpose((0, 2, 1)), Reshape((4, rows, columns)))))
    elif operator == "joined rows" and max(x.shape[2:]) <= 4:
        net.concat(net.table(), x, axis=2)
    elif operator == "gate":
        net.average()
        net.multiply(x, net.convolution(4))
