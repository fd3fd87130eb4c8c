"""The result buffer: beats as they were pushed, lane by lane, and credit for exactly the tiles that find room."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Shape, Signal, signed

from systoliq.hw.result_buffer import ResultBuffer, result_flags

from .bench import simulate

SHAPE = Shape.cast(signed(8))


def run(*, lanes, tile_beats, tiles, cells, chance, reset_at=None, count=9, seed=0):
    """Tiles of up to `tile_beats` beats, pushed as soon as they have credit; lane l comes l cycles after lane 0."""
    block = ResultBuffer(SHAPE, result_flags(), lanes=lanes, tile_beats=tile_beats, tiles=tiles, cells=cells)
    rng, reset = random.Random(seed), Signal()
    latencies, most_held = set(), []

    async def testbench(ctx):
        pushes = {}  # cycle -> lane -> (value, flags)
        expected, taken = [], []  # beats: (values, last, tile_last, cycle of the push)
        reserved = returned = begun = busy_until = cycle = 0
        left = {}  # cycle -> whether a tile's last beat left in it
        while begun < count or len(taken) < len(expected):
            returned += left.get(cycle - 2, 0)
            assert ctx.get(block.credit) == (reserved - returned < tiles)
            most_held.append(reserved - returned)
            reserve = begun < count and cycle >= busy_until and ctx.get(block.credit) and rng.random() < 0.8
            ctx.set(block.reserve, reserve)
            if reserve:
                reserved, begun = reserved + 1, begun + 1
                beats = rng.choice([1, tile_beats])
                at = cycle + rng.randrange(1, 4)
                for beat in range(beats):
                    at += rng.random() < 0.3
                    values = [rng.randrange(-128, 128) for _ in range(lanes)]
                    flags = {"last": rng.random() < 0.5, "tile_last": beat == beats - 1}
                    for lane in range(lanes):
                        pushes.setdefault(at + lane, {})[lane] = (values[lane], flags)
                    expected.append((values, flags, at + lanes - 1))
                    at += 1
                busy_until = at
            now = pushes.get(cycle, {})
            ctx.set(block.push, sum(1 << lane for lane in now))
            ctx.set(block.y, [now.get(lane, (rng.randrange(-128, 128),))[0] for lane in range(lanes)])
            if lanes - 1 in now:
                ctx.set(block.flags, now[lanes - 1][1])
            ready = rng.random() < chance
            ctx.set(block.o.ready, ready)
            ctx.set(reset, cycle == reset_at)
            *_, valid, payload = await ctx.tick().sample(block.o.valid, block.o.payload)
            if valid:
                values, flags, pushed = expected[len(taken)]
                found = (list(payload.data), payload.flags.last, payload.flags.tile_last)
                assert found == (values, flags["last"], flags["tile_last"])
                latencies.add(cycle - pushed)
                if ready:
                    taken.append(values)
                    left[cycle] = flags["tile_last"]
            if cycle == reset_at:
                pushes, expected, taken, left = {}, [], [], {}
                reserved = returned = 0
                busy_until = cycle + 1
            cycle += 1

    simulate(block, testbench, reset=reset)
    assert min(latencies) == ResultBuffer.latency_of(cells)
    return max(most_held)


SIZES = [(1, 1, 1), (1, 3, 2), (2, 4, 1), (4, 5, 3), (3, 8, 2)]  # lanes, tile_beats, tiles


@pytest.mark.parametrize(("lanes", "tile_beats", "tiles"), SIZES)
@pytest.mark.parametrize(
    ("cells", "chance"), [("portable", 1.0), ("portable", 0.5), ("portable", 0.15), ("ice40", 1.0), ("ice40", 0.15)]
)
def test_beats_leave_as_they_came(lanes, tile_beats, tiles, cells, chance):
    held = run(lanes=lanes, tile_beats=tile_beats, tiles=tiles, cells=cells, chance=chance, seed=lanes)
    assert held == tiles  # reached: to the last place


@pytest.mark.parametrize("reset_at", [4, 9, 16, 30])
def test_reset_empties_it_and_gives_back_all_credit(reset_at):
    run(lanes=2, tile_beats=3, tiles=2, cells="portable", chance=0.3, reset_at=reset_at, count=20)
