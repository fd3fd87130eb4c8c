"""A network, derived again stage by stage: certificate.json, NAME_stages.npz, NAME.v  ->  a verdict on each stage.

The certificate must name every stage of the pipeline, and the stages whose results it takes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .boundary import Ground, of_network
from .compare import unlike
from .model import Model
from .one_layer import read_modules
from .order import Order
from .package import CERTIFICATE, RefusedError, limited, read_arrays
from .report import StageReport, noted
from .stage import Found, Stage
from .stages import OPERATORS
from .streams import Streams

__all__ = ["NetworkFound", "verify_network"]


@dataclass(kw_only=True)
class NetworkFound:
    """Findings about a network; `layers`: the expected certificate of its stages with columns."""

    stages: list[StageReport] = field(default_factory=list)
    layers: list[dict[str, Any]] = field(default_factory=list)
    points: int = 0
    complete: int = 0
    reasons: list[str] = field(default_factory=list)
    order: list[Ground] = field(default_factory=list)

    @property
    def boundary(self) -> list[Ground]:
        """The basis of each result."""
        columns = sum(len(layer["columns"]) for layer in self.layers)
        certified = [each for each in self.stages if not each.tested and "accumulator" not in each.tried]
        return of_network(
            complete=self.complete,
            columns=columns,
            certified=[f"{each.node}: {each.tried}" for each in certified],
            tested=[f"{each.node} ({each.operator})" for each in self.stages if each.tested],
            open_=[f"{each.node}: {each.open}" for each in self.stages if each.open],
            more=self.order,
        )


def verify_network(
    directory: Path, claimed: dict[str, Any], name: str, progress: Callable[[str], None]
) -> NetworkFound:
    """Check the package of the network `name` against the certificate `claimed`."""
    verilog, source = f"{name}.v", f"{name}_stages.npz"
    modules = read_modules(directory, verilog)
    arrays = read_arrays(directory / source)
    model = Model.of(read_arrays(directory / f"{name}_network.npz"), f"{name}_network.npz")
    found = NetworkFound()
    streams: Mapping[str, list[str]] | None = None
    with noted(found.reasons):
        read = Streams(modules, name)
        streams = read.stages
        found.reasons += _complete(claimed, read, verilog)
    for part in claimed["stages"]:
        label = f"stage {part['node']} ({part['operator']})"
        reasons: list[str] = []
        stage = Stage(
            claimed=part,
            arrays=_of(arrays, str(part["module"]).removeprefix(f"{name}_")),
            modules=modules,
            model=model,
            module=part["module"],
            verilog=verilog,
            source=source,
            progress=lambda detail, label=label: progress(f"{label}: {detail}"),  # type: ignore[misc]
        )
        derived = Found(facts={}, tried="")
        with noted(reasons):
            if streams is not None:
                reasons += _placed(stage, name, streams)
            derived = _check(stage, found, reasons)
        stated = tuple(f"{label}: {reason}" for reason in dict.fromkeys(reasons))
        found.reasons += stated
        found.stages.append(
            StageReport(
                node=part["node"],
                operator=part["operator"],
                tried=derived.tried,
                reasons=stated,
                tested=derived.tested,
                open=derived.open,
            )
        )
    verdicts = {part.get("verdict") for part in claimed["stages"]}
    known = {frozenset({"exact"}): "exact", frozenset({"tested"}): "tested"}.get(frozenset(verdicts), "exact in part")
    verdict = known if verdicts <= {"exact", "exact in part", "tested"} else "differs"
    found.reasons += unlike({"verdict": claimed.get("verdict")}, {"verdict": verdict})
    order = Order(
        directory=directory,
        name=name,
        claimed=claimed,
        modules=modules,
        model=model,
        arrays=arrays,
        progress=progress,
    )
    with noted(found.reasons):
        found.order += order.grounds(found.reasons)
    return found


def _check(stage: Stage, found: NetworkFound, reasons: list[str]) -> Found:
    """Check a stage."""
    operator = stage.claimed["operator"]
    if operator in OPERATORS:
        derived = OPERATORS[operator](stage)
    elif stage.claimed.get("verdict") == "tested":
        derived = Found(facts={"verdict": "tested"}, tried="", tested=True)
    else:
        raise RefusedError(
            f"{CERTIFICATE}: operator must be one of {', '.join(OPERATORS)} for the verdict "
            f"{stage.claimed.get('verdict')!r}, not {operator!r}; stages of other operators are tested"
        )
    reasons += derived.reasons
    reasons += limited(unlike(stage.claimed, derived.facts))
    found.points += derived.points
    found.complete += derived.complete
    if derived.is_layer:
        found.layers.append(derived.facts)
    return derived


def _complete(claimed: dict[str, Any], read: Streams, verilog: str) -> list[str]:
    """Stages that only the pipeline or only the certificate has, or that appear twice."""
    listed = [part["module"] for part in claimed["stages"]]
    reasons = [
        f"{CERTIFICATE}: has no stage for module {each} in {verilog}" for each in read.stages if each not in listed
    ]
    reasons += [f"{CERTIFICATE}: module {each} has two stages" for each in sorted({*listed}) if listed.count(each) > 1]
    outputs = {"output": read.outputs["y"]} if len(read.outputs) == 1 else {"outputs": read.outputs}
    return reasons + list(
        unlike({each: claimed.get(each) for each in ("output", "outputs") if each in claimed}, outputs)
    )


def _placed(stage: Stage, name: str, streams: Mapping[str, list[str]]) -> list[str]:
    """Faults of the stage's name and place."""
    claimed, module = stage.claimed, stage.module
    if module not in streams:
        raise RefusedError(f"{stage.verilog}: there is no module {module} in the pipeline")
    reasons = list(unlike({"takes": claimed.get("takes")}, {"takes": streams[module]}))
    plain = re.sub(r"\W+", "_", claimed["node"]).strip("_").lower()[-24:].strip("_") or "node"
    of_input = f"_constant_{claimed['input']}" if claimed["operator"] == "Constant" else ""
    if not re.fullmatch(rf"{re.escape(name)}_s\d+_{re.escape(plain)}{of_input}", module):
        reasons.append(f"{CERTIFICATE}: module {module} is not of a node {claimed['node']!r}")
    return reasons


def _of(arrays: Mapping[str, Any], stage: str) -> dict[str, Any]:
    """The arrays of one stage, which are called STAGE/KEY."""
    return {key.removeprefix(f"{stage}/"): array for key, array in arrays.items() if key.startswith(f"{stage}/")}
