"""What can go wrong at the engine's registers and streams; runs inside the simulator, started by test_faults.

The folder named by SYSTOLIQ_FAULTS holds two jobs with their right answers, and where things are in the registers.
"""

from __future__ import annotations

import os
import pickle
import random
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import RisingEdge
from cocotbext.axi import AxiResp

from systoliq.sim.engine_bench import Bench, pauses, watch
from systoliq.sim.engine_exchange import Work

CASE = pickle.loads((Path(os.environ["SYSTOLIQ_FAULTS"]) / "case.pickle").read_bytes())
ADDRESS: dict[str, int] = CASE["address"]
START, CLEAR, ACKNOWLEDGE = (CASE["command"][name] for name in ("start", "clear", "acknowledge"))
BUSY, DONE, QUEUED, ERROR, JOBS = (CASE["status"][name] for name in ("busy", "done", "queued", "error", "jobs"))
JOB = JOBS & -JOBS  # STATUS of an engine that rests after one job
ON_DONE, ON_ERROR = (CASE["interrupt"][name] for name in ("on_done", "on_error"))
CODES: dict[str, int] = CASE["errors"]


def code(status: int) -> int:
    return (status & ERROR) // (ERROR & -ERROR)


async def begin(bench: Bench, work: Work, *, start: bool = True, interrupt: int = 3) -> None:
    """The driver's steps up to the start, with an interrupt mask of our own."""
    for action, name, address, value, data in work.steps:
        if action == "write" and name == "CONTROL":
            break
        if action in ("write", "fill"):
            await bench.write(address, interrupt if name == "INTERRUPT" else value if action == "write" else data)
        elif action == "send":
            bench.send(name, work.words[0][name])
    if start:
        await bench.write(ADDRESS["CONTROL"], START)


def taken(bench: Bench) -> bytes:
    """The results of the frame that came."""
    frame = bench.sink.recv_nowait(compact=False)
    return bytes(byte for byte, keep in zip(frame.tdata, frame.tkeep, strict=True) if keep)


async def ended(bench: Bench, jobs: int) -> None:
    """Wait until so many jobs have ended."""
    for _ in range(500):
        if await bench.read(ADDRESS["STATUS"]) & JOBS == jobs * JOB:
            return
    raise AssertionError(f"fewer than {jobs} jobs ended")


async def check(bench: Bench, index: int = 0) -> None:
    """A whole job, with the right answer."""
    outcome = await bench.run(CASE["work"][index])
    assert not outcome.timed_out
    assert code(outcome.registers["STATUS"]) == 0
    assert outcome.y == CASE["y"][index]
    assert outcome.registers["BUSY_CYCLES"] == CASE["cycles"][index]


@cocotb.test
async def queue_full(dut: Any) -> None:
    """A third start is told and does nothing; the registers are the next job's, and held once that is queued."""
    bench = await Bench.start(dut)
    work = CASE["work"][0]
    await begin(bench, work, interrupt=ON_DONE)
    for name, words in work.words[0].items():
        bench.send(name, words)
    m = await bench.read(ADDRESS["M"])
    await bench.write(ADDRESS["M"], 0)  # the job that runs has its own
    await bench.write(ADDRESS["M"], m)
    bench.sink.pause = True
    await bench.write(ADDRESS["CONTROL"], START)
    await bench.write(ADDRESS["M"], 1)
    assert await bench.read(ADDRESS["M"]) == m
    await bench.write(ADDRESS["CONTROL"], START)
    status = await bench.read(ADDRESS["STATUS"])
    assert code(status) == CODES["QUEUE_FULL"], hex(status)
    assert status & BUSY
    assert status & QUEUED
    bench.sink.pause = False
    await ended(bench, 1)
    assert dut.irq.value
    await ended(bench, 2)
    status = await bench.read(ADDRESS["STATUS"])
    assert code(status) == CODES["QUEUE_FULL"]
    assert status & DONE
    assert not status & (BUSY | QUEUED)
    await bench.cycles(2)
    assert [taken(bench), taken(bench)] == [CASE["y"][0]] * 2
    await bench.write(ADDRESS["CONTROL"], ACKNOWLEDGE)
    assert await bench.read(ADDRESS["STATUS"]) == 2 * JOB
    await check(bench, 1)


@cocotb.test
async def start_again_after_an_error(dut: Any) -> None:
    """A failed job stays failed, whatever is started on top of it, until it is cleared."""
    bench = await Bench.start(dut)
    await bench.write(ADDRESS["M"], 0)
    for _ in range(2):
        await bench.write(ADDRESS["CONTROL"], START)
        await bench.cycles(8)  # in which the job's shape is checked
        assert code(await bench.read(ADDRESS["STATUS"])) == CODES["ILLEGAL_SHAPE"]
    await bench.write(ADDRESS["CONTROL"], ACKNOWLEDGE)
    assert code(await bench.read(ADDRESS["STATUS"])) == CODES["ILLEGAL_SHAPE"]
    bench.send("a", [1, 2, 3])
    await bench.cycles(10)
    assert not dut.s_axis_a_tready.value
    await bench.write(ADDRESS["CONTROL"], CLEAR)
    bench.forget()
    assert await bench.read(ADDRESS["STATUS"]) == 0
    await check(bench)


@cocotb.test
async def interrupts(dut: Any) -> None:
    """Raised by what INTERRUPT names, and only by that; acknowledge and clear end it."""
    bench = await Bench.start(dut)
    for mask, fails, raised in [
        (0, False, False),
        (ON_ERROR, False, False),
        (ON_DONE, False, True),
        (0, True, False),
        (ON_DONE, True, False),
        (ON_ERROR, True, True),
    ]:
        work = CASE["work"][0]
        await begin(bench, work, start=not fails, interrupt=mask)
        if fails:
            await bench.write(ADDRESS["K"], 0)
            await bench.write(ADDRESS["CONTROL"], START)
        for _ in range(100):
            status = await bench.read(ADDRESS["STATUS"])
            if status & (DONE | ERROR):
                break
        assert bool(status & DONE) is not fails
        assert bool(dut.irq.value) is raised, (mask, fails)
        await bench.write(ADDRESS["CONTROL"], CLEAR if fails else ACKNOWLEDGE)
        bench.forget()
        assert not await bench.read(ADDRESS["STATUS"]) & ~JOBS  # the first access after a command sees what it did
        assert not dut.irq.value


@cocotb.test
async def reset_and_clear_at_any_cycle(dut: Any) -> None:
    """Neither leaves anything behind: the next job is right to the cycle."""
    bench = await Bench.start(dut)
    generator = random.Random(1)
    cycles = CASE["cycles"][0]
    for index, after in enumerate(generator.sample(range(cycles + 10), 24)):
        bench.stall((0, 0, 0.4 * (index % 3)), index)
        await begin(bench, CASE["work"][index % 2])
        await bench.cycles(after)
        if index % 2:
            await bench.reset(generator.randrange(1, 4))
        else:
            assert await bench.recover(CASE["work"][0])
        await check(bench, index // 2 % 2)


async def follow_frames(dut: Any, frame: dict[str, bool]) -> None:
    """Keep ``frame["open"]``: whether a beat of Y was taken, and its frame's last was not."""
    while True:
        await RisingEdge(dut.clk)
        if dut.m_axis_y_tvalid.value and dut.m_axis_y_tready.value:
            frame["open"] = not dut.m_axis_y_tlast.value


@cocotb.test
async def clear_with_y_stalled(dut: Any) -> None:
    """Whenever the clear comes, no offer of Y is taken back and every frame ends; the next job is right."""
    bench = await Bench.start(dut)
    generator = random.Random(2)
    violations: list[str] = []
    frame = {"open": False}
    cocotb.start_soon(watch(dut, violations))
    cocotb.start_soon(follow_frames(dut, frame))
    cycles = CASE["cycles"][0]
    for index, after in enumerate(generator.sample(range(cycles // 2, 2 * cycles), 20)):
        bench.stall((0, 0, (0.5, 0.8, 0.95)[index % 3]), index)
        await begin(bench, CASE["work"][index % 2])
        await bench.cycles(after)
        await bench.write(ADDRESS["CONTROL"], CLEAR)
        assert await bench.poll(ADDRESS["STATUS"], BUSY, 10000)
        assert not dut.m_axis_y_tvalid.value
        assert not frame["open"]
        assert await bench.read(ADDRESS["STATUS"]) == 0
        bench.forget()
        await check(bench, index // 2 % 2)
    assert not violations, violations


@cocotb.test
async def start_during_clear(dut: Any) -> None:
    """While a frame waits for its end a start is queued, its settings with it, and a clear drops it again."""
    bench = await Bench.start(dut)
    bench.sink.pause = True
    work = CASE["work"][0]
    await begin(bench, work)
    while not dut.m_axis_y_tvalid.value:
        await bench.cycles(1)
    m = await bench.read(ADDRESS["M"])
    for command in (CLEAR, START, CLEAR | START, CLEAR | START | ACKNOWLEDGE, START):
        await bench.write(ADDRESS["CONTROL"], command)
        queued = command == START
        await bench.write(ADDRESS["M"], 0)
        assert await bench.read(ADDRESS["M"]) == (m if queued else 0)
        await bench.write(ADDRESS["M"], m)
        status = await bench.read(ADDRESS["STATUS"])
        assert status & BUSY
        assert bool(status & QUEUED) is queued
        assert code(status) == (CODES["QUEUE_FULL"] if command & CLEAR and command & START else 0), command
        assert dut.m_axis_y_tvalid.value
        await bench.write(ADDRESS["CONTROL"], ACKNOWLEDGE)
    for name in ("a", "b"):
        bench.sources[name].clear()
        bench.sources[name].assert_reset()
        bench.send(name, work.words[0][name])
    bench.sink.pause = False
    await ended(bench, 1)
    await bench.cycles(2)
    frame = bench.sink.recv_nowait(compact=False)
    assert all(frame.tkeep)
    assert taken(bench) == CASE["y"][0]
    assert bench.sink.empty()
    await bench.write(ADDRESS["CONTROL"], ACKNOWLEDGE)
    await check(bench)
    await bench.write(ADDRESS["CONTROL"], CLEAR)  # no frame is open: over at once
    assert await bench.read(ADDRESS["STATUS"]) == 0


@cocotb.test
async def acknowledge_loses_no_error(dut: Any) -> None:
    """A fatal code stays until clear, also where its start came together with an acknowledge or a clear."""
    bench = await Bench.start(dut)
    await bench.write(ADDRESS["M"], 0)
    for command in (START | ACKNOWLEDGE, START, ACKNOWLEDGE, START | ACKNOWLEDGE):
        await bench.write(ADDRESS["CONTROL"], command)
        await bench.cycles(8)  # in which the job's shape is checked
        assert code(await bench.read(ADDRESS["STATUS"])) == CODES["ILLEGAL_SHAPE"]
    await bench.write(ADDRESS["CONTROL"], CLEAR | START)  # the start came too early, and does nothing else
    assert await bench.read(ADDRESS["STATUS"]) == CODES["QUEUE_FULL"] * (ERROR & -ERROR)
    await bench.write(ADDRESS["CONTROL"], ACKNOWLEDGE)
    assert await bench.read(ADDRESS["STATUS"]) == 0
    await check(bench)


@cocotb.test
async def tables_beyond_their_end(dut: Any) -> None:
    """Entries that a table does not have answer SLVERR, and are not those of another place."""
    bench = await Bench.start(dut)
    work = CASE["work"][0]
    await begin(bench, work, start=False)
    for address in CASE["beyond"]:
        answer = await bench.control.write(address, b"\x55" * 4)
        assert answer.resp == AxiResp.SLVERR, hex(address)
    for address in CASE["within"]:
        await bench.write(address, 0)  # the last entries of the tables, which this job has no use for
    await bench.write(ADDRESS["CONTROL"], START)
    assert await bench.interrupt(work.limit)
    await bench.cycles(2)
    assert taken(bench) == CASE["y"][0]
    await bench.write(ADDRESS["CONTROL"], ACKNOWLEDGE)
    await check(bench, 1)


async def count_cycles(dut: Any, counted: list[int]) -> None:
    """Append the cycles from the first word of A or B that is taken to the last beat of Y."""
    cycles = 0
    while True:
        await RisingEdge(dut.clk)
        words = ((dut.s_axis_a_tvalid, dut.s_axis_a_tready), (dut.s_axis_b_tvalid, dut.s_axis_b_tready))
        cycles += bool(cycles) or any(valid.value and ready.value for valid, ready in words)
        if dut.m_axis_y_tvalid.value and dut.m_axis_y_tready.value and dut.m_axis_y_tlast.value:
            counted.append(cycles)
            cycles = 0


@cocotb.test
async def busy_from_the_first_word(dut: Any) -> None:
    """Of whichever operand it is: BUSY_CYCLES counts the wait for the other."""
    bench = await Bench.start(dut)
    counted: list[int] = []
    cocotb.start_soon(count_cycles(dut, counted))
    for late in ("a", "b"):
        bench.sources[late].pause = True
        await begin(bench, CASE["work"][0])
        await bench.cycles(40)
        bench.sources[late].pause = False
        await ended(bench, 1)
        await bench.cycles(4)
        assert taken(bench) == CASE["y"][0]
        assert await bench.read(ADDRESS["BUSY_CYCLES"]) == counted.pop() > CASE["cycles"][0]
        await bench.write(ADDRESS["CONTROL"], CLEAR)


@cocotb.test
async def writes_while_busy(dut: Any) -> None:
    """Settings, and entries that a job does not use, can be written in any cycle of it, and it takes no notice."""
    bench = await Bench.start(dut)
    entries = [*CASE["within"], *(ADDRESS[name] for name in CASE["writable"] if name != "INTERRUPT")]
    for phase in range(6):
        work = CASE["work"][phase % 2]
        bench.stall((0, 0, 0.5 * (phase > 3)), phase)
        await begin(bench, work, start=False)
        await bench.write(ADDRESS["CONTROL"], START)
        await bench.cycles(phase)
        generator = random.Random(phase)
        written = 0
        while not dut.irq.value:
            await bench.write(generator.choice(entries), generator.getrandbits(32))
            written += 1
        assert written > 10
        await bench.cycles(4)
        assert taken(bench) == CASE["y"][phase % 2]
        if phase < 4:
            assert await bench.read(ADDRESS["BUSY_CYCLES"]) == CASE["cycles"][phase % 2]
        await bench.write(ADDRESS["CONTROL"], ACKNOWLEDGE)


@cocotb.test
async def registers(dut: Any) -> None:
    """Identification reads back, settings keep what is written, and addresses that do not exist say so."""
    bench = await Bench.start(dut)
    for name, value in CASE["constants"].items():
        assert await bench.read(ADDRESS[name]) == value, name
        await bench.write(ADDRESS[name], 0xFFFFFFFF)  # ignored
        assert await bench.read(ADDRESS[name]) == value, name
    for name, mask in CASE["writable"].items():
        for value in (0xFFFFFFFF, 0x5A5A5A5A, 0):
            await bench.write(ADDRESS[name], value)
            assert await bench.read(ADDRESS[name]) == value & mask, name
    await bench.write(ADDRESS["M"], 0x1234)
    for address in CASE["nowhere"]:
        assert (await bench.control.write(address, bytes(4))).resp == AxiResp.SLVERR
        assert (await bench.control.read(address, 4)).resp == AxiResp.SLVERR
    assert (await bench.control.write(ADDRESS["M"], b"\xff")).resp == AxiResp.SLVERR  # less than a word
    assert await bench.read(ADDRESS["M"]) == 0x1234
    # Address and data in any order and at any distance, answers taken late.
    write, read = bench.control.write_if, bench.control.read_if
    for index, channel in enumerate((write.aw_channel, write.w_channel, write.b_channel, read.ar_channel)):
        channel.set_pause_generator(pauses(0.6, index))
    for value in range(40):
        await bench.write(ADDRESS["N"], value)
        assert await bench.read(ADDRESS["N"]) == value
