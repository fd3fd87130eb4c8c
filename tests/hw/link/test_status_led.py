"""The LED: on at rest, off for long enough to be seen while the link works, blinking after an error."""

from __future__ import annotations

import itertools

import pytest

from systoliq.hw.link.status_led import StatusLed

from ..bench import trace


@pytest.mark.parametrize("hz", [16, 64, 160])
def test_what_it_shows(hz):
    sixteenth = hz // 16
    rest = [{"busy": 0, "failed": 0}] * (3 * sixteenth)
    pulse = [{"busy": 1, "failed": 0}] + [{"busy": 0, "failed": 0}] * (4 * sixteenth)
    failed = [{"busy": 0, "failed": 1}] * (4 * hz)
    shown = [line["led"] for line in trace(StatusLed(hz), [*rest, *pulse, *failed, *rest])]
    at_rest, after = shown[: len(rest)], shown[len(rest) : len(rest) + len(pulse)]
    assert all(at_rest)
    off = after.count(0)
    assert sixteenth <= off <= 2 * sixteenth + 1
    assert after[-1]
    start = len(rest) + len(pulse) + 2
    runs = [len(list(group)) for _, group in itertools.groupby(shown[start : start + 4 * hz - 4])]
    assert set(runs[1:-1]) == {2 * sixteenth}, "an eighth of a second each: four times a second"
    assert shown[-1]
