"""The program of the engine's testbench: the driver's sequence for each job, errors, clears and resets.

A step is a statement that puts it into the testbench's program: `p(WHAT, x, y, z);`, see `engine_testbench`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from systoliq.hw.engine import ERRORS, EngineConfig
from systoliq.hw.engine.config import LARGEST
from systoliq.hw.engine.registers import Register

from ..driver import put_step as _p
from .job_steps import ALL
from .queue_steps import COUNTERS, QueueSteps
from .stimulus import LONG, NEAR_TIES, ROWS, SHORT, WIDE, Ahead, EngineJob
from .wrong_shapes import wrong_shapes

__all__ = ["EngineProgram"]

_SLVERR = 2
_NOWHERE = 0x40  # an address with nothing behind it
_RESETS = (1, 1, 2, 1, 3)  # cycles of resets, one after the other
_ON_BUS = ((0, 0), (0, 3), (1, 1), (2, 3), (3, 0), (4, 2), (5, 1), (1, 3), (2, 1), (3, 1), (4, 1), (5, 3))
"""Requests before a reset: for how many cycles, and 1 for a whole write, 2 for one after the other."""
_AFTER = 8  # cycles after a job in which it may be interrupted, too
_MOST = 64  # interruptions of a job
_FEW = 4
_LONG_WAIT = 24  # cycles: more than a wait that sign-off calls long
_PHASES = 4
_MOST_WORDS = 2048  # that are sent to fill a buffer
_STUCK = 8  # times as long as a tile's drain: then nothing moves any more


class EngineProgram(QueueSteps):
    """The program for `jobs`; the last two are for errors, clears and resets. `constants` are what (register, field)
    reads as.
    """

    def __init__(
        self, config: EngineConfig, jobs: Sequence[EngineJob], constants: Mapping[tuple[str, str], int]
    ) -> None:
        super().__init__(config, jobs)
        self._constants = constants
        # The job with wrong streams; its ends, repeated with the other tlast.
        self._odd = next(
            index for index, job in enumerate(jobs) if len(job.a_beats) > 1 and (len(job.b_beats) > 1 or index > 2)
        )
        self._turned: dict[tuple[str, int], int] = {}
        for beats, stream in ((self.a_beats, "a_beats"), (self.b_beats, "b_beats")):
            start, stop = self.starts[stream][self._odd : self._odd + 2]
            for at in {start, max(start, stop - 2), stop - 1}:
                self._turned[stream, at] = len(beats)
                beats.append(replace(beats[at], last=not beats[at].last))

    def steps(self) -> Iterator[str]:
        """All of it, once for each phase; the later ones have less of it."""
        drains, last = len(self.jobs) - 2, len(self.jobs) - 1
        named = {job.title: index for index, job in enumerate(self.jobs)}
        near_ties = [index for index, job in enumerate(self.jobs) if job.title == NEAR_TIES]
        for index, job in enumerate(self.jobs):
            if index not in near_ties[1:] and job.ahead is None:
                yield from self.whole(index)
        yield from self._twice(drains)
        yield from self._wrong(self._odd, self._of_streams())
        for ahead in "ab":
            yield from self.queued(drains, last, ahead)
        yield from self.rewritten(named[SHORT])
        yield from self._interrupted(drains, clears=_FEW, resets=_FEW)
        yield _pause(200)  # in which nothing more may come
        yield _p("AGAIN", 2)
        yield from self._registers()
        yield from self._wrong(last, self._of_settings())
        yield from self._held_to_the_end(named[WIDE])
        yield from self._begun_after_a_clear(named[WIDE], named[SHORT])
        yield from self._refused_behind(0)
        yield from self.with_last_entries(named.get(ROWS, last))
        yield from self._backed_up(named[LONG])
        yield from self._begun_with_many_rows(named[LONG])
        yield from self._interrupted(self._odd, clears=_FEW, resets=_FEW)
        yield _p("AGAIN", 1)
        for index in near_ties[1:]:  # without stalls: their purpose does not depend on them
            yield from self.whole(index)
        for index, job in enumerate(self.jobs):
            if job.ahead is not None:
                yield from self._with_more(index, job.ahead)
        times = min(self.jobs[named[SHORT]].cycles + _AFTER, _MOST)
        yield from self._interrupted(named[SHORT], clears=times, resets=times)
        yield _pause(200)
        yield _p("AGAIN")

    def _wrong(self, index: int, errors: Iterator[Iterator[str]]) -> Iterator[str]:
        """Errors, each followed by a complete job; tables that they need are this job's."""
        yield from self.whole(index)
        for error in errors:
            yield from error
            yield from self.settings(index)
            yield from self.again(index)

    def _registers(self) -> Iterator[str]:
        """Constant registers are read, written registers are read back, and other addresses are refused."""
        for register in self.map.registers:
            fields = {field.name for field in register.fields}
            held = {name: value for (of, name), value in self._constants.items() if of == register.name}
            if fields == held.keys():
                step = self.map.write(register.name, "", **held)
                yield _p("READ", step.address, step.value, ALL)
                yield _p("WRITE", step.address, ~step.value & ALL)
                yield _p("READ", step.address, step.value, ALL)
            elif register.access == "rw":
                mask = sum(field.mask for field in register.fields)
                for value in (ALL, 0x5A5A5A5A, 0):
                    yield _p("WRITE", register.offset, value)
                    yield _p("READ", register.offset, value & mask, ALL)
        yield from self._waiting()
        yield _p("WRITE", _NOWHERE, ALL, _SLVERR)
        kept = self.map.write("M", "", m=1)
        yield _p("WRITE", kept.address, kept.value)
        for missing in (0b0001, 0b0010, 0b0100, 0b1000, 0b1111):  # bytes
            yield _p("WRITE", kept.address, ALL, _SLVERR | missing << 4)
            yield _p("READ", kept.address, kept.value, ALL)

    def _waiting(self) -> Iterator[str]:
        """Answers are not taken for long, so that the next requests wait, too."""
        register = self.map.write("M", "", m=1)
        for what, mask in (("WRITE", 0), ("READ", ALL)):
            yield _p("HOLD", 0, _LONG_WAIT)
            for _ in range(2):
                yield _p(what, register.address, register.value, mask)

    def _with_more(self, index: int, ahead: Ahead) -> Iterator[str]:
        """A job whose first words are sent again and again before all of them."""
        before, after = self.split(index)
        yield from self.carried_out(index, [step for step in before if step.action != "send"])
        firsts = [self.starts[stream][index] for stream in ("a_beats", "b_beats")]
        for _ in range(ahead.times):
            yield _p("SEND_A", firsts[0], firsts[0] + ahead.a_words)
            yield _p("SEND_B", firsts[1], firsts[1] + ahead.b_words)
        yield self.stream("SEND_A", "a_beats", index)
        yield self.stream("SEND_B", "b_beats", index)
        yield from self.carried_out(index, after, held=True)

    def _begun(self, index: int) -> Iterator[str]:
        yield from self.carried_out(index, self.split(index)[0])

    def _twice(self, index: int) -> Iterator[str]:
        """A job and at once another: its operands wait already, and nothing is written but the start."""
        before, after = self.split(index)
        yield from self.carried_out(index, before)
        yield self.stream("SEND_A", "a_beats", index)
        yield self.stream("SEND_B", "b_beats", index)
        yield from self.carried_out(index, after)
        yield self.stream("TAKE", "y_bytes", index)
        yield self.write("CONTROL", start=1)
        yield from self.carried_out(index, after)

    def _of_settings(self) -> Iterator[Iterator[str]]:
        """A job for each error in settings; correct settings are the last job's."""
        for error, shape in wrong_shapes(self.config):
            yield self._refused(error, shape)
        yield from self._full(self.config.dataflow == "weight-stationary")

    def _of_streams(self) -> Iterator[Iterator[str]]:
        """A job for each word that ends a stream wrongly."""
        for stream in ("a_beats", "b_beats"):
            yield from (self._ended(stream, at) for of, at in sorted(self._turned) if of == stream)

    def _full(self, stationary: bool) -> Iterator[Iterator[str]]:
        """A job with an operand that exceeds its buffer; all its words may be equal."""
        config = self.config
        name = "a" if stationary else "b"
        words = (config.a_words if stationary else config.b_words) + 1
        m = min(config.max_rows, words) if stationary else config.rows + 1
        k = config.depth * (config.rows * -(-words // m) if stationary else words)
        n = config.cols + stationary
        if k > LARGEST or words > _MOST_WORDS or n > config.max_columns:
            return
        shape = {"m": m, "k": k, "n": n}
        yield self._too_large(f"{name.upper()}_TOO_LARGE", f"{name}_beats", words, shape)

    def _too_large(self, error: str, stream: str, words: int, shape: Mapping[str, int]) -> Iterator[str]:
        """The error comes when the buffer is full; a job's words without its last one are sent until then."""
        start, stop = max(pairwise(self.starts[stream]), key=lambda ends: ends[1] - ends[0])
        yield from self.settings(-1, **{"m": 1, "k": 1, "n": 1, **shape})
        if not self.config.float8:
            yield self.write("FORMAT")  # without zero points of rows, which could be too many
        yield self.write("CONTROL", start=1)
        for _ in range(-(-words // (stop - 1 - start))):
            yield _p(f"SEND_{stream[0].upper()}", start, stop - 1)
        yield from self._failed(error)

    def _refused(self, error: str, shape: Mapping[str, int]) -> Iterator[str]:
        """A job that is wrong as a whole, which takes no word."""
        yield from self._asked_for(error, shape)
        for letter in "ab":
            start = self.starts[f"{letter}_beats"][-2]
            yield _p(f"SEND_{letter.upper()}", start, start + 1)
        yield _p("PAUSE", 2 * _AFTER, 0, 1)
        yield from self._failed(error)

    def _asked_for(self, error: str, shape: Mapping[str, int]) -> Iterator[str]:
        """The start of a job whose `shape`, or the rows that have zero points, is an `error`."""
        yield from self.settings(-1, **{"m": 1, "k": 1, "n": 1, **shape})
        if error == "TOO_MANY_ROWS":
            yield self.write("FORMAT", row_zero_points=1)
        yield self.write("CONTROL", start=1)

    def _ended(self, stream: str, at: int) -> Iterator[str]:
        """A job whose operand ends with the word `at`, or does not where that is its last."""
        letter, index = stream[0], self._odd
        start, stop = self.starts[stream][index : index + 2]
        turned = self._turned[stream, at]
        for step in self.started(index):
            if not step.startswith(f"p(SEND_{letter.upper()},"):
                yield step
        yield _p(f"SEND_{letter.upper()}", start, at)
        yield _p(f"SEND_{letter.upper()}", turned, turned + 1)
        yield from self._failed(f"{letter.upper()}_ENDED_{'LATE' if at == stop - 1 else 'EARLY'}")

    def _failed(self, error: str) -> Iterator[str]:
        """An error is reported in spite of writes, and the driver recovers from it."""
        code = ERRORS[error][0]
        yield _p("INTERRUPT")
        yield self.status(error=code, busy=1)
        yield self.write("CONTROL", start=1, acknowledge=1)
        yield self.status(error=code, busy=1, queued=1)
        yield from self.cleared()

    def _backed_up(self, index: int) -> Iterator[str]:
        """A job whose receiver stops until all else does, once before its first beat and once later."""
        job = self.jobs[index]
        before, after = self.split(index)
        yield _p("HOLD", 1)
        yield from self.carried_out(index, before)
        for until in (len(job.y_bytes) // 16, None):
            if job.backs_up and until is not None:
                yield _p("STUCK", _STUCK * self.config.drain_cycles)
            else:
                yield _pause(2 * job.cycles)
            yield _p("HOLD", 0)
            if until is not None:
                yield _p("REACH", self.starts["y_bytes"][index] + until)
                yield _p("HOLD", 1)
        yield from self.carried_out(index, after, held=True)

    def _held_to_the_end(self, index: int) -> Iterator[str]:
        """A job whose receiver stops before the last beats: with each number of them left."""
        job, end = self.jobs[index], self.starts["y_bytes"][index + 1]
        beat = 4 * self.config.lanes
        before, after = self.split(index)
        for left in range(len(job.y_bytes) // beat):
            yield from self.carried_out(index, before)
            yield _p("REACH", end - (left + 1) * beat)
            yield _p("HOLD", 1)
            yield _pause(job.cycles)
            yield _p("HOLD", 0)
            yield from self.carried_out(index, after, held=True)

    def _begun_after_a_clear(self, cleared: int, index: int) -> Iterator[str]:
        """A job that is begun while a cleared job still has a beat to send, which is not taken."""
        before, after = self.split(index)
        yield _p("HOLD", 1)
        yield from self._begun(cleared)
        yield _p("REACH", self.starts["y_bytes"][cleared], 1)
        yield _p("DROP", 1)
        yield self.write("CONTROL", clear=1)
        yield _p("STOP")
        yield from self.carried_out(index, before)
        yield _pause(self.jobs[index].cycles)
        yield _p("HOLD", 0)
        yield from self.carried_out(index, [step for step in after if step.name not in COUNTERS])  # of both jobs

    def _refused_behind(self, index: int) -> Iterator[str]:
        """A job whose results are not taken, followed by all kinds of invalid jobs: errors come after the results."""
        before, _ = self.split(index)
        queued = self.map.write("STATUS", queued=1)
        yield self.write("CONTROL", clear=1)
        for error, shape in wrong_shapes(self.config):
            yield _p("HOLD", 1)
            yield from self.carried_out(index, before)
            yield from self._asked_for(error, shape)
            yield _p("POLL", queued.address, queued.value)
            yield _pause(_AFTER)
            yield self.status(busy=1, jobs=0)
            yield _p("HOLD", 0)
            yield _p("REACH", self.starts["y_bytes"][index + 1])
            yield _pause(_AFTER)
            yield self.status(busy=1, done=1, error=ERRORS[error][0], jobs=1)
            yield from self.cleared()

    def _begun_with_many_rows(self, index: int) -> Iterator[str]:
        """A job whose M has 16 bits, given up soon; none where weights stay, as a table has all rows there."""
        if self.config.dataflow == "weight-stationary":
            return
        m = LARGEST // 2 + 1 + 2 * self.config.rows + 1  # soon, only 15 of its bits are left
        start, stop = self.starts["a_beats"][index : index + 2]
        first, end = self.starts["y_bytes"][index : index + 2]
        yield from self.settings(index, m=m)
        yield _p("TAKE", first, end + 1, index)  # it does not end there
        yield self.write("CONTROL", start=1)
        yield self.stream("SEND_B", "b_beats", index)
        yield _p("SEND_A", start, stop - 1)
        yield _p("REACH", (first + end) // 2)
        yield self.status(busy=1)
        yield from self.cleared()
        yield from self.settings(index)
        yield from self.again(index)

    def _interrupted(self, index: int, *, clears: int, resets: int) -> Iterator[str]:
        """A job, cleared so often and reset so often, each time a little later, in each phase in other cycles; after
        each it comes whole. Requests are on the bus before some resets, and make none of them later: if there are as
        many resets as cycles, there is one in each. The first reset comes after a whole job.
        """
        cycles = self.jobs[index].cycles + _AFTER
        yield from self.whole(index)
        for turn in range(clears):
            yield from self.started(index)
            yield _pause(turn * cycles // clears, cycles // clears // _PHASES)
            yield from self.cleared()
            yield from self.again(index)
        for turn in range(resets):
            on_bus, requests = _ON_BUS[turn % len(_ON_BUS)]
            if turn:
                yield from self.started(index)
                yield _pause(max(turn * cycles // resets - on_bus, 0), cycles // resets // _PHASES)
            yield _p("RESET", _RESETS[turn % len(_RESETS)], on_bus, requests)
            yield self.status(jobs=0)
            if not turn:
                yield from (_p("READ", each.offset, 0, ALL) for each in self.map.registers if self._begins_at_0(each))
            yield from self.whole(index)

    @staticmethod
    def _begins_at_0(register: Register) -> bool:
        return register.access == "rw" or register.name in COUNTERS


def _pause(cycles: int, more: int = 0) -> str:
    return _p("PAUSE", cycles, more)
