"""Plan file: a plan as JSON, as packages have it and as users write it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path

from systoliq.golden import network
from systoliq.hw.cells import CELLS, family
from systoliq.hw.network.operators import operator_of
from systoliq.hw.network.parallelism import Parallelism

from ...errors import InputError
from ...files import read_input
from .plan import Plan, plan_of, stages_of

__all__ = ["read_plan"]


def read_plan(net: network.Network, path: Path, *, cells: str) -> Plan:
    """The plan in a file as `Plan.as_json` writes it: `node`, `cols` and `depth` of each stage, and its `cells` where
    they are not the network's `cells`.

    Raises InputError if the file cannot be read, does not name each stage once, or names an impossible choice.
    """
    try:
        text = read_input(path)
    except (InputError, OSError) as error:
        raise InputError(f"plan cannot be read: {error}") from error
    try:
        content = json.loads(text)
        asked = {
            str(each["node"]): Parallelism(
                cols=each["cols"],
                depth=each["depth"],
                cells=each.get("cells", ""),
                lane_cells=each.get("lane_cells", ""),
            )
            for each in content
        }
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise InputError(
            f"plan {path}: must be a JSON list of objects with node, cols and depth ({type(error).__name__}: {error})"
        ) from error
    nodes = {node.name: node for node in stages_of(net)}
    named = [str(each["node"]) for each in content]
    twice = {name for name in named if named.count(name) > 1}
    for problem, names in (("unknown", asked.keys() - nodes), ("missing", nodes.keys() - asked), ("twice", twice)):
        if names:
            raise InputError(f"plan {path}: must name each stage once; {problem}: {', '.join(sorted(names))}")
    return plan_of(net, {name: _possible(node, asked[name], path, cells) for name, node in nodes.items()}, cells=cells)


def _possible(node: network.Node, parallelism: Parallelism, path: Path, cells: str) -> Parallelism:
    possible = set(operator_of(node).choices())
    suitable = [each for each in CELLS if family(each) in ("", family(cells))]
    for name in ("cells", "lane_cells"):
        given = getattr(parallelism, name)
        if given in ("", *suitable):
            continue
        why = (
            ": no part has cells of two families" if family(cells) else ": name the family by the network's cells first"
        )
        raise InputError(
            f"plan {path}: {name} of node {node.name!r} must be one of {', '.join(suitable)}, or empty, in a network "
            f"of {cells} cells, not {given!r}{why if given in CELLS else ''}"
        )
    if dataclasses.replace(parallelism, cells="", lane_cells="") not in possible:
        near: Sequence[Parallelism] = [each for each in possible if each.depth == parallelism.depth]
        wanted = "cols" if near else "depth"
        values = sorted({getattr(each, wanted) for each in near or possible})
        raise InputError(
            f"plan {path}: {wanted} of node {node.name!r} must be one of {', '.join(map(str, values))}, not "
            f"{getattr(parallelism, wanted)}"
        )
    return parallelism
