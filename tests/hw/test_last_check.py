"""The check of last: an error, from two cycles after a last that ends no group, until reset."""

from __future__ import annotations

import random

import pytest

from systoliq.hw.last_check import LastCheck

from .bench import trace


def expected(beats, stimulus):
    """What `error` shows at the end of each cycle: a plain count of the beats that were taken."""
    shown, beat, wrong = [], 0, []
    for cycle, line in enumerate(stimulus):
        shown.append(int(any(cycle - start >= 2 for start in wrong)))
        if line["rst"]:  # from the next cycle on
            beat, wrong = 0, []
        elif line["taken"]:
            if line["last"] and beat != beats - 1:
                wrong.append(cycle)
            beat = (beat + 1) % beats
    return shown


@pytest.mark.parametrize("beats", [1, 2, 3, 8, 13])
@pytest.mark.parametrize("misplaced", [False, True])
def test_an_error_follows_a_misplaced_last_and_no_other(beats, misplaced):
    rng, stimulus, beat = random.Random(beats), [], 0
    for cycle in range(300):
        taken = rng.random() < 0.7
        ends = beat == beats - 1
        last = (rng.random() < 0.03 if not ends else rng.random() < 0.4) if misplaced or ends or not taken else False
        if misplaced and cycle in (100, 200):
            stimulus.append({"rst": 1, "taken": 0, "last": 0})
            beat = 0
            continue
        stimulus.append({"rst": 0, "taken": int(taken), "last": int(last)})
        beat = (beat + taken) % beats
    shown = [line["error"] for line in trace(LastCheck(beats), stimulus)]
    want = expected(beats, stimulus)
    assert shown == want
    assert max(want) == int(misplaced and beats > 1)
