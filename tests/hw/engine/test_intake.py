"""The intake: when a job's words are let in, when it begins, and when its error shows."""

from __future__ import annotations

import pytest

from systoliq.hw.engine import ERRORS, EngineConfig
from systoliq.hw.engine.intake import BEGIN_LATENCY, Intake
from systoliq.hw.engine.output_stationary import OutputStationary
from systoliq.hw.engine.weight_stationary import WeightStationary

from ..bench import simulate

CONFIG = EngineConfig(rows=2, cols=2, lanes=1, a_words=4, b_words=4, max_columns=4, max_rows=4)
DATAFLOWS = {"output-stationary": OutputStationary, "weight-stationary": WeightStationary}
RIGHT = {"m": 3, "k": 2, "n": 3}


class Bench:
    """An intake with loaders that the test ends."""

    def __init__(self, ctx, block):
        self.ctx, self.block = ctx, block
        self.seen = []  # (load, begin, error) of each cycle

    async def cycles(self, count, **ports):
        """Some cycles with these ports, which are 0 after them."""
        for name, value in ports.items():
            self.ctx.set(getattr(self.block, name), value)
        for _ in range(count):
            *_, load, begin, error = await self.ctx.tick().sample(self.block.load, self.block.begin, self.block.error)
            self.seen.append((load, begin, error))
            if load:
                self.ctx.set(self.block.loading, 3)
        for name in ports:
            self.ctx.set(getattr(self.block, name), 0)

    async def offer(self, count, **lengths):
        """Offer a job for some cycles."""
        for name, value in lengths.items():
            self.ctx.set(self.block.next[name], value)
        await self.cycles(count, offer=1)

    async def run(self):
        """Offer a job that is right, start it, and end its loaders."""
        await self.offer(1, **RIGHT)
        await self.cycles(1, start=1)
        await self.cycles(9)
        self.ctx.set(self.block.loading, 0)
        self.seen.clear()

    def when(self, index):
        """The cycles in which one of `seen` was not 0."""
        return [cycle for cycle, each in enumerate(self.seen) if each[index]]


def bench(scenario, dataflow="output-stationary"):
    config = CONFIG.replace(dataflow=dataflow)
    block = Intake(config, DATAFLOWS[dataflow])

    async def testbench(ctx):
        await scenario(Bench(ctx, block))

    simulate(block, testbench)


def test_a_job_at_rest_is_loaded_and_begins_together():
    async def scenario(it):
        await it.offer(1, **RIGHT)
        await it.cycles(1, start=1)
        await it.cycles(9)
        assert it.when(0) == it.when(1) == [5]
        assert not it.when(2)

    bench(scenario)


def test_the_next_job_is_loaded_while_one_runs_and_begins_after_its_start():
    async def scenario(it):
        await it.run()
        await it.offer(12, m=1, k=1, n=1)
        assert it.when(0) == [6]
        assert not it.when(1)
        assert it.ctx.get(it.block.lengths.m) == 1
        await it.cycles(1, start=1)
        await it.cycles(5)
        assert it.when(0) == [6]
        assert it.when(1) == [12 + BEGIN_LATENCY]

    bench(scenario)


def test_the_next_job_waits_for_the_last_word_of_the_one_that_runs():
    async def scenario(it):
        await it.run()
        it.ctx.set(it.block.loading, 2)  # B
        await it.offer(12, m=1, k=1, n=1)
        assert not it.when(0)
        assert it.ctx.get(it.block.lengths.m) == RIGHT["m"]
        it.ctx.set(it.block.loading, 0)
        await it.offer(12, m=1, k=1, n=1)
        assert it.when(0) == [12 + 6]

    bench(scenario)


WRONG = {
    "no rows": ({"m": 0}, "ILLEGAL_SHAPE", "ILLEGAL_SHAPE"),
    "no depth": ({"k": 0}, "ILLEGAL_SHAPE", "ILLEGAL_SHAPE"),
    "no columns": ({"n": 0}, "ILLEGAL_SHAPE", "ILLEGAL_SHAPE"),
    "columns": ({"n": 5}, "TOO_MANY_COLUMNS", "TOO_MANY_COLUMNS"),
    "a group of A": ({"k": 5}, "A_TOO_LARGE", None),
    "one tile of columns": ({"k": 5, "n": 2}, None, None),
    "rows": ({"m": 5}, None, "TOO_MANY_ROWS"),
    "rows with zero points": ({"m": 5, "row_zero_points": 1}, "TOO_MANY_ROWS", "TOO_MANY_ROWS"),
}


@pytest.mark.parametrize("dataflow", DATAFLOWS)
@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_job_is_refused_after_its_start(name, dataflow):
    lengths, *errors = WRONG[name]
    error = errors[list(DATAFLOWS).index(dataflow)]

    async def scenario(it):
        await it.run()
        await it.offer(12, **(RIGHT | lengths))
        assert not it.when(1)
        assert not it.when(2)
        assert bool(it.when(0)) == (error is None)
        await it.cycles(1, start=1)
        await it.cycles(4)
        if error is None:
            assert it.when(1)
        else:
            assert not it.when(1)
            assert [each[2] for each in it.seen if each[2]] == [ERRORS[error][0]]
            assert it.ctx.get(it.block.failed)

    bench(scenario, dataflow)


@pytest.mark.parametrize(
    ("port", "value", "error"),
    [
        ("early", 1, "A_ENDED_EARLY"),
        ("late", 1, "A_ENDED_LATE"),
        ("early", 2, "B_ENDED_EARLY"),
        ("late", 2, "B_ENDED_LATE"),
    ],
)
def test_a_stream_that_ends_wrongly_fails_its_own_job(port, value, error):
    async def scenario(it):
        await it.run()
        await it.offer(8, **RIGHT)
        await it.cycles(1, **{port: value}, offer=1)
        await it.cycles(6, offer=1)
        assert it.ctx.get(it.block.halt)
        assert not it.when(2)
        await it.cycles(1, start=1)
        await it.cycles(3)
        assert [each[2] for each in it.seen if each[2]] == [ERRORS[error][0]]

    bench(scenario)


@pytest.mark.parametrize(("m", "words", "fails"), [(3, 4, True), (3, 3, False), (2, 9, False)])
def test_b_that_is_read_again_must_fit(m, words, fails):
    async def scenario(it):
        await it.offer(1, m=m, k=8, n=2)
        await it.cycles(1, start=1)
        await it.cycles(6)
        await it.cycles(words, put=1)
        await it.cycles(5)
        found = [each[2] for each in it.seen if each[2]]
        assert found == ([ERRORS["B_TOO_LARGE"][0]] if fails else [])

    bench(scenario)
