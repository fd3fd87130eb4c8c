"""The list player: writes, waits and tables in order, each error by its name, and a halt between transfers."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Signal

from systoliq.hw.dma.bus import BUS_BYTES
from systoliq.hw.dma.list_player import ListError, ListPlayer, Opcode

from ..bench import simulate, wait
from .lite import Slave


def write(address, *words):
    return [Opcode.WRITE << 30 | (len(words) - 1) << 22 | address, *words]


def until(address, mask, value, failing=0):
    return [Opcode.WAIT << 30 | address, mask, value, failing]


def fill(address, *words):
    return [Opcode.TABLE << 30 | (len(words) - 1) << 22 | address, *words]


PLACES = 0x100100  # of the tables, which begin at 0x100000


class Player:
    """A player, a slave and the list that it is given."""

    def __init__(self, bus, words, *, chance=1.0, seed=1):
        self.rng = random.Random(seed)
        self.block, self.bus, self.words, self.chance = ListPlayer(bus), bus, words, chance
        self.slave = Slave(self.block, "m", {4 * n: 0 for n in range(64)}, self.rng, chance)

    async def feed(self, ctx):
        """The list as words of the bus, until the slave stops."""
        per_beat = self.bus // 4
        for at in range(0, len(self.words), per_beat):
            part = self.words[at : at + per_beat]
            payload = {
                "data": sum(word << 32 * i for i, word in enumerate(part)),
                "end": 4 * len(part) - 1,
                "last": at + per_beat >= len(self.words),
            }
            while self.rng.random() > self.chance:
                await ctx.tick()
            ctx.set(self.block.i.payload, payload)
            ctx.set(self.block.i.valid, 1)
            while not self.slave.stopped:
                *_, ready = await ctx.tick().sample(self.block.i.ready)
                if ready:
                    break
            ctx.set(self.block.i.valid, 0)

    async def tables(self, ctx):
        """What takes words for tables: into the log, or refused in the cycle after."""
        table, refused = self.block.table, 0
        while not self.slave.stopped:
            ctx.set(table.ready, self.rng.random() < self.chance)
            ctx.set(self.block.refused, refused)
            *_, valid, ready, word = await ctx.tick().sample(table.valid, table.ready, table.payload)
            refused = valid and ready and not 0x100000 <= word.address < PLACES
            if valid and ready and not refused:
                self.slave.log.append(("table", word.address, word.word))

    async def start(self, ctx):
        ctx.set(self.block.start, 1)
        await ctx.tick()
        ctx.set(self.block.start, 0)

    def run(self, *more):
        """Run it to its end: (log, error, words taken)."""
        found = []

        async def main(ctx):
            await wait(ctx, 3)
            await self.start(ctx)
            while ctx.get(self.block.busy):
                await ctx.tick()
            await wait(ctx, 20)
            assert ctx.get(self.block.idle)
            found.append((ListError(ctx.get(self.block.error)), ctx.get(self.block.words)))
            self.slave.stopped = True

        simulate(self.block, main, self.feed, self.slave.run, self.tables, *more)
        return self.slave.log, *found[0]


@pytest.mark.parametrize("bus", BUS_BYTES)
@pytest.mark.parametrize("chance", [1.0, 0.5])
def test_writes_in_order(bus, chance):
    rng = random.Random(bus)
    words, expected = [], []
    for _ in range(16):
        address, values = 4 * rng.randrange(32), [rng.getrandbits(32) for _ in range(rng.choice([1, 2, 5, 31]))]
        kind, put, base = rng.choice([("write", write, 0), ("table", fill, 0x100000)])
        words += put(base + address, *values)
        expected += [(kind, base + address + 4 * i, value) for i, value in enumerate(values)]
    log, error, taken = Player(bus, words, chance=chance).run()
    assert (log, error, taken) == (expected, ListError.NONE, len(words))


@pytest.mark.parametrize("last", [False, True])
def test_a_wait_reads_until_the_value_is_there(last):
    player = Player(8, [*write(0, 1), *until(8, 0xF0, 0x30), *([] if last else write(4, 2))])
    values = iter([0x00, 0xF0, 0x20, 0x3F])
    player.slave.on_read = lambda address: player.slave.registers.__setitem__(address, next(values))
    log, error, _ = player.run()
    assert error == ListError.NONE
    assert log == [("write", 0, 1), *[("read", 8)] * 4, *([] if last else [("write", 4, 2)])]


@pytest.mark.parametrize(
    ("words", "error", "taken"),
    [
        ([*write(0, 1), 0x00000004, 9], ListError.COMMAND, 3),
        ([4, 9], ListError.COMMAND, 1),
        (fill(0x100000, 1, 2, 3)[:-1], ListError.CUT_OFF, 3),
        (fill(0x100000, 1)[:1], ListError.CUT_OFF, 1),
        ([*fill(0x200000, 1), *write(0, 1)], ListError.REFUSED, 1),
        ([*fill(PLACES, 1), *write(0, 1)], ListError.REFUSED, 2),
        (fill(PLACES, 1), ListError.REFUSED, 2),
        ([*fill(PLACES - 4, 1, 2), *write(0, 1)], ListError.REFUSED, 3),
        (write(0, 1, 2, 3)[:-1], ListError.CUT_OFF, 3),
        ([*write(0, 1), *write(0, 1)[:1]], ListError.CUT_OFF, 3),
        (until(0, 1, 0)[:2], ListError.CUT_OFF, 2),
        (until(0, 1, 0)[:3], ListError.CUT_OFF, 3),
        ([*write(0x3FFF00, 1), *write(0, 1)], ListError.REFUSED, 2),
        ([*until(0x3FFF00, 1, 0), *write(0, 1)], ListError.REFUSED, 4),
        ([*until(12, 1, 1, failing=0x100), *write(0, 1)], ListError.FAILED, 4),
    ],
)
@pytest.mark.parametrize("bus", BUS_BYTES)
def test_errors_have_names(words, error, taken, bus):
    player = Player(bus, words)
    player.slave.registers[12] = 0x100
    log, found, at = player.run()
    assert (found, at) == (error, taken)
    assert ("write", 0, 1) not in log[1:]


@pytest.mark.parametrize("bus", BUS_BYTES)
@pytest.mark.parametrize("chance", [1.0, 0.5])
def test_behind_a_refused_word_at_most_two_go_into_a_table(bus, chance):
    for seed in range(8):
        player = Player(bus, [*fill(PLACES - 4, *range(20)), *write(0, 1)], chance=chance, seed=seed)
        log, error, taken = player.run()
        assert (error, log) == (ListError.REFUSED, [("table", PLACES - 4, 0)])
        assert 3 <= taken <= 5


@pytest.mark.parametrize("bus", [8, 16])
def test_a_table_takes_a_cycle_for_each_word(bus):
    def cycles(count):
        player, found = Player(bus, fill(0x100000, *range(count))), []

        async def busy(ctx):
            while not player.slave.stopped:
                *_, now = await ctx.tick().sample(player.block.busy)
                found.append(now)

        assert player.run(busy)[1] == ListError.NONE
        return sum(found)

    assert cycles(60) - cycles(20) == 40


@pytest.mark.parametrize("halt_at", range(4, 30, 3))
def test_halted_it_ends_its_transfer_and_a_reset_begins_anew(halt_at):
    reset = Signal()
    player = Player(4, [*write(0, 1, 2, 3), *until(8, 1, 1)], chance=0.7)
    block = player.block

    async def main(ctx):
        await player.start(ctx)
        await wait(ctx, halt_at)
        ctx.set(block.halt, 1)
        await wait(ctx, 2)
        while not ctx.get(block.idle):
            await ctx.tick()
        before = len(player.slave.log)
        await wait(ctx, 20)
        assert len(player.slave.log) == before
        ctx.set(reset, 1)
        await ctx.tick()
        ctx.set(reset, 0)
        assert not ctx.get(block.busy)
        player.slave.stopped = True

    simulate(block, main, player.feed, player.slave.run, player.tables, reset=reset)
