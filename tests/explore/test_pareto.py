from __future__ import annotations

import numpy as np
import pytest

from systoliq.explore.pareto import best_first, front_mask, ranks


def test_equal_points_are_both_on_the_front():
    costs = np.array([[1.0, 2], [2, 1], [1, 2], [2, 2], [3, 0]])
    assert front_mask(costs).tolist() == [True, True, True, False, True]


@pytest.mark.parametrize("seed", range(5))
def test_the_front_is_not_dominated(seed):
    costs = np.random.default_rng(seed).integers(0, 6, (40, 3)).astype(float)
    for i, on_front in enumerate(front_mask(costs)):
        beaten = any(np.all(other <= costs[i]) and np.any(other < costs[i]) for other in costs)
        assert on_front == (not beaten)


def test_ranks_peel_off():
    costs = np.array([[0.0, 0], [1, 1], [2, 2], [0, 3]])
    assert ranks(costs).tolist() == [0, 1, 2, 1]


@pytest.mark.parametrize("count", [0, 1, 5, 30, 99])
def test_the_best_come_first(count):
    costs = np.random.default_rng(1).normal(size=(30, 2))
    chosen = best_first(costs, count)
    assert len(chosen) == len(set(chosen)) == min(count, 30)
    found = ranks(costs)
    worst = max((found[i] for i in chosen), default=0)
    assert all(i in chosen for i in np.flatnonzero(found < worst))
