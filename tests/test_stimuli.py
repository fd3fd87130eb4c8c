"""Searches that are kept for a process give what the search gives, and leave the generator in the same state."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.design.sources import open_source

from .support import stimuli


@pytest.fixture
def design(arrays, save):
    return open_source(str(save("layer.npz", **arrays)))


def after(find, design, seed: int = 1, **changes):
    generator = np.random.default_rng(seed)
    rows = find(design.layer.replace(**changes), design.requantization, 6, generator)
    return rows.tolist(), generator.bit_generator.state


def test_rows_and_generator_are_those_of_the_search(design):
    expected = after(stimuli.steered_rows, design)
    assert len(expected[0]) == 6
    assert after(stimuli.rows_once, design) == after(stimuli.rows_once, design, name="other") == expected
    assert after(stimuli.rows_once, design, seed=2) == after(stimuli.steered_rows, design, seed=2) != expected
    other = {"bias": design.layer.bias + 1}
    assert after(stimuli.rows_once, design, **other) == after(stimuli.steered_rows, design, **other) != expected


def test_equal_layers_are_searched_once(design, monkeypatch):
    searched = []
    after(stimuli.rows_once, design, seed=3)
    with monkeypatch.context() as patch:
        patch.setattr(stimuli, "steered_rows", lambda *arguments: searched.append(arguments) or np.zeros((0, 9)))
        after(stimuli.rows_once, design, seed=3)
        assert len(searched) == 1  # a test replaced something: nothing that was kept counts
    assert after(stimuli.rows_once, design, seed=3)[0]


def test_sums_near_ties_are_those_of_the_search():
    def after_ties(find):
        generator = np.random.default_rng(4)
        return find(generator), generator.bit_generator.state

    expected = after_ties(stimuli.near_ties)
    assert after_ties(stimuli.ties_once) == after_ties(stimuli.ties_once) == expected
