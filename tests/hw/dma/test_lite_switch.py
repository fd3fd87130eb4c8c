"""The switch: each transfer of both masters reaches its slave once, and its answer comes back, whatever stalls."""

from __future__ import annotations

import itertools
import random

import pytest

from systoliq.hw.dma.lite_switch import LiteSwitch

from ..bench import simulate, wait
from .lite import Slave, transfer

BITS = 8
HIGH = 1 << (BITS - 1)


@pytest.mark.parametrize("chance", [1.0, 0.5])
def test_transfers_of_two_masters(chance):
    block, rng = LiteSwitch(BITS), random.Random(1)
    slaves = [Slave(block, f"s{i}", {4 * n: 100 * i + n for n in range(16)}, rng, chance) for i in range(2)]
    done = []

    def master(index):
        async def run(ctx):
            own = random.Random(index)
            kept = {at + high: 100 * (high > 0) + at // 4 for high in (0, HIGH) for at in range(0, 64, 4)}
            for _ in range(60):
                await wait(ctx, own.choice([0, 0, 3]))
                address = own.choice([0, HIGH]) + 4 * (own.randrange(8) + 8 * index)
                if own.random() < 0.1:
                    address = own.choice([0, HIGH]) + 68
                known = address in kept
                if own.random() < 0.5:
                    word = own.getrandbits(32)
                    _, response = await transfer(ctx, block, f"m{index}", address, word)
                    if known:
                        kept[address] = word
                else:
                    data, response = await transfer(ctx, block, f"m{index}", address)
                    assert not known or data == kept[address]
                assert response == (0 if known else 2)
            done.append(index)
            if len(done) == 2:
                for slave in slaves:
                    slave.stopped = True

        return run

    simulate(block, master(0), master(1), slaves[0].run, slaves[1].run)
    assert len(slaves[0].log) + len(slaves[1].log) == 120


def test_two_masters_and_two_slaves():
    assert {name.partition("_")[0] for name in LiteSwitch(BITS).signature.members} == {"m0", "m1", "s0", "s1"}


def test_masters_take_turns():
    block, rng, order = LiteSwitch(BITS), random.Random(1), []
    slave = Slave(block, "s0", {0: 0}, rng)

    def master(index):
        async def run(ctx):
            for count in range(10):
                await transfer(ctx, block, f"m{index}", 0, index)
                order.append(index)
                if count == 9 and len(order) == 20:
                    slave.stopped = True

        return run

    simulate(block, master(0), master(1), slave.run)
    assert sum(before != after for before, after in itertools.pairwise(order)) >= 17
