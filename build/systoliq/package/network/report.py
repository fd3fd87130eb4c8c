"""report.html: the network as a pipeline, a card for each stage; one file that opens offline, without any script."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

from systoliq.golden.network import Node
from systoliq.hw.network.operator import Operator
from systoliq.hw.network.operators import operator_of

from ...design.network.design import NetworkDesign
from ...design.network.estimate import Estimate
from ...design.network.plan import StagePlan
from .graph import graph_svg
from .stages import claims_of

__all__ = ["PIPELINE_STYLE", "network_report", "pipeline_html"]

_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title><style>
body {{ font: 15px/1.45 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222 }}
{style}</style></head><body>
<h1>{title}</h1>
{pipeline}</body></html>
"""

PIPELINE_STYLE = """.stage { border: 1px solid #bbb; border-radius: 6px; padding: .6rem .9rem; margin: 0 }
.slowest { border-color: #b33 }
.wire { margin: .2rem 0 .2rem 1.5rem; color: #666; font-size: 13px }
.stage h2 { font-size: 1rem; margin: 0 } .stage small { font-weight: normal; color: #666 }
.bar { background: #e6e6e6; height: .55rem; border-radius: 3px; margin: .35rem 0 }
.bar div { background: #3a78b0; height: 100%; border-radius: 3px } .slowest .bar div { background: #b33 }
dl { display: grid; grid-template-columns: repeat(4, auto 1fr); gap: .1rem .6rem; margin: .2rem 0; font-size: 13px }
dt { color: #666 } dd { margin: 0 }
"""
"""Style of `pipeline_html`."""

_STAGE = """<p class="wire">{inputs}</p>
<section class="stage{slowest}"><h2>{name} <small>{operator} &middot; {verdict}</small></h2>
<div class="bar" title="{share:.1%} of the slowest stage's cycles"><div style="width: {share:.1%}"></div></div>
<dl>{facts}</dl></section>
"""


def network_report(design: NetworkDesign) -> str:
    """Return the page around `pipeline_html`."""
    return _PAGE.format(title=html.escape(design.name), style=PIPELINE_STYLE, pipeline=pipeline_html(design))


def pipeline_html(design: NetworkDesign) -> str:
    """Return the stages in order, with inputs, output and utilization of each."""
    plan, assembly = design.plan, design.assembly
    slowest = plan.image_cycles
    late = max(each.last for each in assembly.latency.values())
    summary = (
        f"{len(plan.stages)} stages, {plan.multipliers} multipliers ({plan.dsp} multiplier cells), "
        f"{slowest} cycles from one image to the next, {late} from the first beat of an image to its last result; "
        f"{plan.utilization:.1%} of the multipliers' cycles are multiply-accumulates of the network. "
        f"Cells: {design.cells}. The longer a bar, the busier a stage. "
        "Certified: systoliq verify DIR derives it again from the Verilog; tested: simulated and compared with golden."
    )
    waiting = {joint.name: joint.waiting for joint in assembly.pipeline.joints}
    claims = {claim["node"]: claim for claim in claims_of(design) if claim["operator"] != "Constant"}
    stages = "".join(
        _stage(
            stage,
            slowest,
            waiting[stage.node.output.name],
            claims[stage.node.name],
            design.estimates.get(stage.node.name),
        )
        for stage in plan.stages
    )
    outputs = "".join(
        f'<p class="wire">&darr; m_axis_{letter}: {html.escape(f"{output.name} {list(output.shape)}")}</p>\n'
        for letter, output in zip(assembly.outputs, design.network.outputs, strict=True)
    )
    return f"<p>{html.escape(summary)}</p>\n{graph_svg(design)}\n{stages}\n{outputs}"


def _certified(operator: Operator[Node], claim: Mapping[str, Any]) -> str:
    """The checks of `systoliq verify` for a stage, in a few words."""
    if "columns" in claim:
        steps = sum(column["steps"] for column in claim["columns"])
        return f"{len(claim['columns'])} columns, {steps} steps"
    return operator.proof


def _stage(
    stage: StagePlan, slowest: int, waiting: tuple[int, ...], claim: Mapping[str, Any], estimate: Estimate | None
) -> str:
    node, parallelism = stage.node, stage.parallelism
    operator = operator_of(node)
    facts = {
        "cycles an image": stage.image_cycles,
        "cols": parallelism.cols,
        "depth": parallelism.depth,
        "multipliers": stage.multipliers,
        "multiplier cells": stage.dsp,
        "MACs an image": node.multiply_accumulates,
        "kernel": " x ".join(map(str, operator.windows.window.kernel)),
        "made": f"{node.output.name} {list(node.output.shape)}",
    }
    if parallelism.cells:
        facts["cells"] = parallelism.cells
    if estimate:
        facts |= {"LUT sites, about": estimate.lut_sites, "memory blocks, about": estimate.ram}
    if waiting:
        facts["beats that may wait"] = " and ".join(map(str, waiting))
    if claim["verdict"] == "tested":
        facts["tested"] = "all, not certified"
    else:
        facts["not exact" if claim["verdict"] == "differs" else "certified"] = _certified(operator, claim)
        facts["tested"] = operator.tested
    inputs = " and ".join(f"{tensor.name} {list(tensor.shape)}" for tensor in node.inputs if tensor.value is None)
    return _STAGE.format(
        inputs=f"&darr; {html.escape(inputs)}",
        slowest=" slowest" if stage.image_cycles == slowest else "",
        name=html.escape(node.name),
        operator=type(node).__name__,
        verdict="the slowest" if stage.image_cycles == slowest else f"{stage.image_cycles / slowest:.0%} busy",
        share=stage.image_cycles / slowest,
        facts="".join(
            f"<dt>{html.escape(name)}</dt><dd>{html.escape(str(value))}</dd>" for name, value in facts.items()
        ),
    )
