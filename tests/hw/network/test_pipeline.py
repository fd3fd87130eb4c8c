"""Pipelines of given stages: beats of other widths, forks, waiting beats, taps; a stream must have its taker."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest
from amaranth.hdl import signed

from systoliq.golden import INT8
from systoliq.hw import emit_verilog
from systoliq.hw.network.lookup import Lookup
from systoliq.hw.network.pipeline import Inlet, Joint, Outlet, Pipeline

from . import stage_bench as bench


def entries(seed):
    return np.random.default_rng(seed).permutation(256) - 128


def joint(name, of, *, lanes, seed, waiting=()):
    stage = Lookup(entries(seed).tolist(), INT8, INT8, lanes=lanes, cells="portable", kind=f"stage_{name}")
    return Joint(name=name, component=stage, inputs=(of,), waiting=waiting)


def pipeline(joints, *, output, lanes=2):
    inlet = Inlet(name="x", shape=signed(8), lanes=lanes)
    return Pipeline(joints, inputs=[inlet], outputs=[Outlet(name=output)], cells="portable")


def words(values, lanes):
    rows = values.reshape(-1, lanes).tolist()
    beats = [sum((value & 255) << 8 * i for i, value in enumerate(row)) for row in rows]
    return [*beats[:-1], beats[-1] | 1 << 8 * lanes]


@pytest.mark.parametrize("waiting", [0, 8])
@pytest.mark.parametrize("lanes", [(2, 2, 2), (2, 6, 1), (6, 4, 3), (1, 4, 6)], ids=str)
def test_widths(lanes, waiting):
    """Those that divide each other, and those that do not."""
    first, second, third = lanes
    chain = [
        joint("a", "x", lanes=second, seed=1, waiting=(waiting,)),
        joint("b", "a", lanes=third, seed=2),
    ]
    values = np.random.default_rng(3).integers(-128, 128, 48)
    expected = entries(2)[entries(1)[values + 128] + 128]
    block = pipeline(chain, output="b", lanes=first)
    given = {"given": {"i": words(values, first)}, "wanted": {"o": 48 // third}, "comes": 0.8, "goes": 0.7}
    assert bench.Bench(block, seed=second).simulate(given)["o"] == words(expected, third)


def test_output_that_a_stage_takes_too():
    """Nobody takes what that stage makes: it is refused by name, and so is an input that nobody takes."""
    chain = [joint("a", "x", lanes=1, seed=1), joint("b", "a", lanes=1, seed=2), joint("c", "x", lanes=1, seed=2)]
    with pytest.raises(ValueError, match="every stream must have a taker, but nobody takes b, c"):
        pipeline(chain, output="a")
    with pytest.raises(ValueError, match="every stream must have a taker, but nobody takes x"):
        pipeline([joint("a", "b", lanes=1, seed=3), chain[1]], output="b")


def test_taps_and_names_in_verilog():
    chain = [joint("a", "x", lanes=2, seed=1), joint("b", "a", lanes=1, seed=2)]
    block = pipeline(chain, output="b")
    text = emit_verilog(block, "top")
    for name, what in itertools.product("ab", ("valid", "ready", "data")):
        assert f"{block.tap(name)}_{what};" in text


def test_reset():
    values = np.random.default_rng(3).integers(-128, 128, 24)
    expected = words(entries(2)[entries(1)[values + 128] + 128], 1)
    rng = random.Random(2)
    for _ in range(3):
        cut = {"given": {"i": [0] * 50}, "wanted": {"o": 100}, "cycles": rng.randint(2, 40), "goes": 0.5}
        again = {"given": {"i": words(values, 2)}, "wanted": {"o": 24}, "goes": 0.8}
        chain = [joint("a", "x", lanes=4, seed=1, waiting=(8,)), joint("b", "a", lanes=1, seed=2)]
        assert bench.Bench(pipeline(chain, output="b")).simulate(cut, again)["o"] == expected
