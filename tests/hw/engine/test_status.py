"""The status: every command and event, in any order, against the rules of the register map."""

from __future__ import annotations

import random

import pytest

from systoliq.hw.engine.registers import ERRORS
from systoliq.hw.engine.status import Status

from ..bench import simulate, wait

QUEUE_FULL = ERRORS["QUEUE_FULL"][0]
FATAL = [code for code, _ in ERRORS.values() if code != QUEUE_FULL]


class Bench:
    def __init__(self, ctx, block):
        self.ctx, self.block = ctx, block

    async def pulse(self, **ports):
        """Set `ports` for a cycle."""
        for name, value in ports.items():
            self.ctx.set(getattr(self.block, name), value)
        await self.ctx.tick()
        for name in ports:
            self.ctx.set(getattr(self.block, name), 0)

    async def command(self, *names):
        """A write to CONTROL; gives the cycles after it in which the core was started and cleared."""
        await self.pulse(write=1, **dict.fromkeys(names, 1))
        started, cleared = [], []
        for cycle in range(1, 5):
            *_, start, clear = await self.ctx.tick().sample(self.block.core_start, self.block.core_clear)
            started += [cycle] * start
            cleared += [cycle] * clear
        return started, cleared

    @property
    def state(self):
        """(busy, done, error)."""
        return tuple(self.ctx.get(getattr(self.block, name)) for name in ("busy", "done", "error"))

    @property
    def jobs(self):
        return self.ctx.get(self.block.jobs)

    @property
    def queued(self):
        return self.ctx.get(self.block.queued)


def bench(scenario):
    block = Status()

    async def testbench(ctx):
        ctx.set(block.drained, 1)
        await wait(ctx, 2)
        await scenario(Bench(ctx, block))

    simulate(block, testbench)


async def finish(it, *, drains=3):
    it.ctx.set(it.block.drained, 0)
    await it.pulse(core_done=1)
    await wait(it.ctx, drains)
    assert it.state[0] == 1, "results leave"
    it.ctx.set(it.block.drained, 1)
    await wait(it.ctx, 3)


def test_job_runs_until_its_results_have_left():
    async def scenario(it):
        assert it.state == (0, 0, 0)
        assert await it.command("start") == ([3], [])
        assert it.state == (1, 0, 0)
        await finish(it)
        assert it.state == (0, 1, 0)
        await it.command("acknowledge")
        assert it.state == (0, 0, 0)
        await it.command("start")
        await finish(it)
        assert it.state == (0, 1, 0)
        assert await it.command("start") == ([3], [])  # forgets done
        assert it.state == (1, 0, 0)
        assert it.jobs == 2

    bench(scenario)


def test_queued_job_is_loaded_when_the_core_is_free_and_another_one_has_to_wait():
    async def scenario(it):
        await it.command("start")
        assert await it.command("start") == ([], [])
        assert it.state == (1, 0, 0)
        assert it.queued
        assert await it.command("start") == ([], [])
        assert it.state == (1, 0, QUEUE_FULL)
        await it.command("acknowledge")
        assert it.state == (1, 0, 0)
        it.ctx.set(it.block.drained, 0)
        await it.pulse(core_done=1)
        for load, start in ((1, 0), (0, 1), (0, 0)):  # though results of the first one leave
            assert (it.ctx.get(it.block.load), it.ctx.get(it.block.core_start)) == (load, start)
            assert it.ctx.get(it.block.more)
            await it.ctx.tick()
        assert not it.queued
        assert (it.state, it.jobs) == ((1, 0, 0), 0)
        it.ctx.set(it.block.drained, 1)
        await it.ctx.tick()
        assert (it.state, it.jobs) == ((1, 1, 0), 1)
        assert not it.ctx.get(it.block.more)
        await it.command("acknowledge")
        assert await it.command("start") == ([], [])
        assert it.state == (1, 0, 0)
        await finish(it)
        assert (it.state, it.jobs) == ((1, 1, 0), 2)  # the third one runs
        await finish(it)
        assert (it.state, it.jobs) == ((0, 1, 0), 3)

    bench(scenario)


def test_start_while_another_job_runs_forgets_no_done():
    async def scenario(it):
        await it.command("start")
        await it.command("start")
        await finish(it)
        assert it.state == (1, 1, 0)
        await it.command("start")
        assert it.state == (1, 1, 0)

    bench(scenario)


@pytest.mark.parametrize("code", FATAL)
def test_error_is_reported_when_the_job_before_has_ended(code):
    async def scenario(it):
        await it.command("start")
        await it.command("start")
        it.ctx.set(it.block.drained, 0)
        await it.pulse(core_done=1)
        await wait(it.ctx, 4)
        await it.pulse(core_error=code)
        await wait(it.ctx, 3)
        assert (it.state, it.jobs) == ((1, 0, 0), 0)
        it.ctx.set(it.block.drained, 1)
        await wait(it.ctx, 2)
        assert (it.state, it.jobs) == ((1, 1, code), 1)
        assert await it.command("start") == ([], [])  # behind the one that failed
        assert it.queued
        assert await it.command("clear") == ([], [1])
        assert (it.state, it.jobs, it.queued) == ((0, 0, 0), 0, 0)

    bench(scenario)


@pytest.mark.parametrize("code", FATAL)
def test_failed_job_runs_until_cleared(code):
    async def scenario(it):
        await it.command("start")
        await it.pulse(core_error=code)
        other = random.Random(code).choice(FATAL)
        await it.pulse(core_error=other)
        await it.pulse(core_done=1)
        assert await it.command("start") == ([], [])
        await it.command("acknowledge")
        assert it.state == (1, 0, code)  # the first error stays
        assert await it.command("clear") == ([], [1])
        assert it.state == (0, 0, 0)
        assert await it.command("start") == ([3], [])

    bench(scenario)


def test_full_queue_is_reported_until_acknowledged_and_disturbs_nothing():
    async def scenario(it):
        for _ in range(3):
            await it.command("start")
        assert it.state == (1, 0, QUEUE_FULL)
        await finish(it)
        await finish(it)
        assert (it.state, it.jobs) == ((0, 1, QUEUE_FULL), 2)
        await it.command("acknowledge")
        assert it.state == (0, 0, 0)
        for _ in range(3):
            await it.command("start")
        await it.pulse(core_error=FATAL[0])
        assert it.state == (1, 0, FATAL[0])

    bench(scenario)


def test_start_with_clear_finds_the_queue_full():
    async def scenario(it):
        assert await it.command("start", "clear") == ([], [1])
        assert it.state == (0, 0, QUEUE_FULL)
        await it.command("clear")
        assert it.state == (0, 0, 0)

    bench(scenario)


def test_clear_gives_up_all_jobs_and_the_next_one_waits_until_all_has_left():
    async def scenario(it):
        await it.command("start")
        await it.command("start")
        it.ctx.set(it.block.drained, 0)
        assert await it.command("clear") == ([], [1])
        assert it.state == (1, 0, 0)
        assert not it.queued
        assert await it.command("start") == ([], [])
        assert it.state == (1, 0, 0)
        assert it.queued
        it.ctx.set(it.block.drained, 1)
        await it.ctx.tick()
        await it.ctx.tick()
        assert it.ctx.get(it.block.core_start)
        assert (it.state, it.jobs) == ((1, 0, 0), 0)

    bench(scenario)


def test_bits_without_a_write_are_no_commands():
    async def scenario(it):
        await it.pulse(start=1, clear=1, acknowledge=1)
        for _ in range(4):
            assert not it.ctx.get(it.block.core_start | it.block.core_clear)
            await it.ctx.tick()
        assert it.state == (0, 0, 0)

    bench(scenario)
