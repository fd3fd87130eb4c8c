"""Gearbox: the same elements in beats of another width, whatever stalls."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import signed, unsigned

from systoliq.hw.hierarchy import configuration, mark_used
from systoliq.hw.network.gearbox import Gearbox

from ..bench import receive, send, simulate
from . import stage_bench as bench

COUNT = 60


@pytest.mark.parametrize(("comes", "goes"), bench.PACES)
@pytest.mark.parametrize(("of", "to"), [(1, 1), (4, 1), (6, 2), (1, 3), (2, 8)])
def test_gearbox(of, to, comes, goes):
    block = Gearbox(unsigned(5), of=of, to=to)
    rng = random.Random(of)
    total = COUNT // max(of, to) * max(of, to)
    elements = [rng.randrange(32) for _ in range(total)]
    lasts = [rng.random() < 0.3 or of < to for _ in range(total // of)]  # narrow ones: marked only where a beat ends
    if of < to:
        lasts = [i % (to // of) == to // of - 1 and rng.random() < 0.5 for i in range(total // of)]
    beats = [{"data": elements[i * of : (i + 1) * of], "last": last} for i, last in enumerate(lasts)]
    expected = []
    for i in range(total // to):
        word = sum(element << 5 * j for j, element in enumerate(elements[i * to : (i + 1) * to]))
        end = (i + 1) * to
        expected.append(word | (end % of == 0 and lasts[end // of - 1]) << 5 * to)
    taken = []

    async def sender(ctx):
        await send(ctx, block.i, beats, random.Random(1), comes)

    async def receiver(ctx):
        taken.extend(await receive(ctx, block.o, len(expected), random.Random(2), goes))

    simulate(block, sender, receiver)
    assert taken == expected


def test_gearbox_refuses_widths_that_do_not_divide():
    with pytest.raises(ValueError, match="one width must divide the other, not 4 and 6"):
        Gearbox(unsigned(8), of=4, to=6)


@pytest.mark.parametrize(("of", "to"), [(4, 1), (1, 4), (6, 3), (2, 2)])
def test_no_cycle_is_lost(of, to):
    """Beats of the narrow side follow each other without a gap."""
    beats = 12
    block = Gearbox(unsigned(5), of=of, to=to)
    run = bench.Bench(block)
    run.simulate({"given": {"i": list(range(beats * max(to // of, 1)))}, "wanted": {"o": beats * max(of // to, 1)}})
    step = max(to // of, 1)
    first = run.times["o"][0]
    assert run.times["o"] == list(range(first, first + step * len(run.times["o"]), step))


@pytest.mark.parametrize(("of", "to"), [(4, 1), (1, 4)])
def test_reset_in_the_middle_of_a_beat(of, to):
    words = [random.Random(i).getrandbits(5 * of) for i in range(8)]
    elements = [word >> 5 * j & 31 for word in words for j in range(of)]
    expected = [sum(e << 5 * j for j, e in enumerate(elements[i : i + to])) for i in range(0, len(elements), to)]
    for cycles in range(1, 8):
        cut = {"given": {"i": [31] * 20}, "wanted": {"o": 20}, "cycles": cycles, "goes": 0.5}
        again = {"given": {"i": words}, "wanted": {"o": len(expected)}}
        assert bench.Bench(Gearbox(unsigned(5), of=of, to=to), seed=cycles).simulate(cut, again)["o"] == expected


def test_shapes_of_one_width_are_one_kind():
    """Int8 and uint8 go the same way: modules of one name are the same hardware."""
    boxes = [Gearbox(shape, of=2, to=1) for shape in (unsigned(8), signed(8))]
    for box in boxes:
        mark_used(box)
    assert boxes[0].kind == boxes[1].kind
    assert configuration(boxes[0]) == configuration(boxes[1])
