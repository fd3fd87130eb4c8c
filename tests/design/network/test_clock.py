"""The expected clock of a plan: the model's for the sizes of all stages, with its error; none without a model."""

from __future__ import annotations

import json
import math
from importlib.resources import files

import pytest

from systoliq.design import NetworkOptions
from systoliq.design.network import NetworkDesign
from systoliq.synth import open_target

from ...hw.network import small_networks as small


def on(target, **asked):
    part = open_target(target)
    return NetworkDesign(small.residual(), NetworkOptions(cells=part.cells, part=part, **asked))


def test_expected_clock_of_a_plan():
    made = on("ecp5-85k", multipliers=40)
    model = json.loads(files("systoliq.design.network").joinpath("frequency.json").read_text())["models"]["ecp5"]
    lut_sites, dsp, ram = (sum(stage[key] for stage in made.stages) for key in ("lut_sites", "dsp", "ram"))
    features = [1, math.log(lut_sites / 1000), math.log1p(dsp), math.log1p(ram), 1, 1]  # windows, row sums
    mhz = math.exp(sum(each * by for each, by in zip(model["coefficients"], features, strict=True)))
    assert made.expected_clock.mhz == pytest.approx(mhz)
    (line,) = [line for line in made.choices if line.startswith("expected clock, an estimate: ")]
    assert f"about {mhz:.0f} MHz, {mhz * 1e6 / made.plan.image_cycles:.0f} images a second; " in line
    assert f"differ from it by {model['median']:.0%} in the median, {model['worst']:.0%} at worst" in line


@pytest.mark.parametrize("target", ["gowin-gw1nr9", "ecp5-85k-8", "nexus-40k", "gatemate-a1", "generic"])
def test_no_clock_is_expected_without_a_model(target):
    made = on(target)
    assert made.expected_clock is None
    said = f"expected clock: no clock model for {target}; systoliq synth --target {target} measures it"
    assert [line for line in made.choices if "expected clock" in line] == [said] * (target != "generic")
