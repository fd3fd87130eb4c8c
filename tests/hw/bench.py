"""Driving a block alone: in Amaranth's simulator or, of vendors' cells, its Verilog with our models under Icarus."""

from __future__ import annotations

import random
import shutil
import subprocess

import pytest
from amaranth.hdl import ClockDomain, Module, Shape, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator

from systoliq.hw.cells import model_files, models_verilog
from systoliq.hw.verilog import emit_verilog


def simulate(component, *testbenches, reset=None, limit=20_000):
    """Run all testbenches to their ends; `reset`, a signal of theirs, resets the component."""
    m = Module()
    m.domains.sync = domain = ClockDomain()
    m.submodules.dut = component
    if reset is not None:
        m.d.comb += domain.rst.eq(reset)

    simulator = Simulator(m)
    simulator.add_clock(1e-6)
    for testbench in testbenches:
        simulator.add_testbench(testbench)
    steps = 0
    while simulator.advance():
        steps += 1
        assert steps < 4 * limit, f"not done after {limit} cycles"


async def wait(ctx, cycles):
    """Let `cycles` cycles pass, a reset among them or not."""
    for _ in range(cycles):
        await ctx.tick()


async def send(ctx, stream, payloads, rng: random.Random, chance=1.0):
    """Offer one payload after the other, each after a random wait."""
    for payload in payloads:
        while rng.random() > chance:
            await ctx.tick()
        ctx.set(stream.payload, payload)
        ctx.set(stream.valid, 1)
        ready = 0
        while not ready:
            *_, ready = await ctx.tick().sample(stream.ready)
        ctx.set(stream.valid, 0)


async def receive(ctx, stream, count, rng: random.Random, chance=1.0):
    """The next `count` payloads as bits, taken after random waits; what is offered must stay until it is taken."""
    taken, offered = [], None
    while len(taken) < count:
        ready = rng.random() <= chance
        ctx.set(stream.ready, ready)
        *_, valid, payload = await ctx.tick().sample(stream.valid, Value.cast(stream.payload))
        assert offered is None or (valid, payload) == (1, offered), "an offer was withdrawn or changed"
        offered = payload if valid and not ready else None
        if valid and ready:
            taken.append(payload)
    ctx.set(stream.ready, 0)
    return taken


def with_models(*cells):
    """Parameters for names of cells; those that need models need Icarus too."""
    icarus = [
        pytest.mark.simulator,
        pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus is not installed"),
    ]
    return [pytest.param(name, marks=icarus if model_files(name) else []) for name in cells]


def trace(component, stimulus, *, cells="portable", folder=None):
    """What each output shows at the end of each cycle. A line of `stimulus` names the inputs that change in a cycle;
    `rst` resets. Ports are plain members; what is unknown is None.
    """
    if model_files(cells):
        return icarus(component, stimulus, cells, folder)
    shown = []
    reset = Signal()
    ports = {"rst": reset, **{name: getattr(component, name) for name in component.signature.members}}
    outputs = [name for name, member in component.signature.members.items() if member.flow == Out]

    async def testbench(ctx):
        for line in stimulus:
            for name, value in line.items():
                ctx.set(ports[name], value)
            shown.append({name: ctx.get(ports[name]) for name in outputs})
            await ctx.tick()

    simulate(component, testbench, reset=reset, limit=len(stimulus) + 2)
    return shown


def traces(blocks, stimuli, *, cells="portable", folder=None):
    """`trace` of each block with its stimulus, all of one length; one design of all where Icarus runs them."""
    if not model_files(cells):
        return [trace(*each) for each in zip(blocks, stimuli, strict=True)]
    lines = [
        {f"{name}_{i}": value for i, line in enumerate(together) for name, value in line.items()}
        for together in zip(*stimuli, strict=True)
    ]
    shown = trace(_Together(blocks), lines, cells=cells, folder=folder)
    outputs = [[name for name, member in block.signature.members.items() if member.flow == Out] for block in blocks]
    return [[{name: line[f"{name}_{i}"] for name in names} for line in shown] for i, names in enumerate(outputs)]


class _Together(wiring.Component):
    """Blocks side by side: the port `name` of block i is `name_i`."""

    def __init__(self, blocks):
        self.blocks = blocks
        super().__init__(
            {
                f"{name}_{i}": member
                for i, block in enumerate(blocks)
                for name, member in block.signature.members.items()
            }
        )

    def elaborate(self, platform):
        m = Module()
        for i, block in enumerate(self.blocks):
            m.submodules[f"block_{i}"] = block
            for name, member in block.signature.members.items():
                ports = (getattr(block, name), getattr(self, f"{name}_{i}"))
                inner, outer = (Value.cast(port) for port in ports)
                m.d.comb += inner.eq(outer) if member.flow == In else outer.eq(inner)
        return m


def icarus(component, stimulus, cells, folder):
    """`trace` of the component's Verilog."""
    members = component.signature.members
    shapes = {name: member.shape for name, member in members.items()}
    width = {name: Shape.cast(shape).width for name, shape in shapes.items()} | {"rst": 1}
    inputs = [name for name, member in members.items() if member.flow == In and width[name]] + ["rst"]
    outputs = [name for name, member in members.items() if member.flow == Out]
    text = emit_verilog(component, "dut")
    now = {name: Value.cast(getattr(component, name)).init for name in inputs[:-1]} | {"rst": 0}
    lines = []
    for line in stimulus:
        now |= {name: _bits(shapes.get(name, 1), value) for name, value in line.items()}
        word = 0
        for name in inputs:
            word = word << width[name] | now[name] & (1 << width[name]) - 1
        lines.append(f"{word:x}")
    total = sum(width[name] for name in inputs)
    ports = [name for name in ["clk", *inputs, *outputs] if name not in ("clk", "rst") or f"input wire {name}" in text]
    bench = f"""\
module tb;
  reg clk = 0;
  {" ".join(f"reg [{width[name] - 1}:0] {name} = 0;" for name in inputs)}
  {" ".join(f"wire [{width[name] - 1}:0] {name};" for name in outputs)}
  reg [{total - 1}:0] s_ [0:{len(lines) - 1}];
  integer n_;
  dut dut({", ".join(f".{name}({name})" for name in ports)});
  initial begin
    $readmemh("stimulus", s_);
    for (n_ = 0; n_ < {len(lines)}; n_ = n_ + 1) begin
      {{{", ".join(inputs)}}} = s_[n_];
      #5 $display("{" ".join("%h" for _ in outputs)}", {", ".join(outputs)});
      clk = 1;
      #5 clk = 0;
    end
    $finish;
  end
endmodule
"""
    (folder / "stimulus").write_text("\n".join(lines))
    for name, content in text.files.items():
        (folder / name).write_bytes(content)
    for name, content in (("tb.v", bench), ("dut.v", text), ("cells.v", models_verilog(cells))):
        (folder / name).write_text(content)
    subprocess.run(["iverilog", "-g2005", "-s", "tb", "-o", "t", "tb.v", "dut.v", "cells.v"], cwd=folder, check=True)
    done = subprocess.run(["vvp", "t"], cwd=folder, capture_output=True, text=True, check=True)
    words = [line.split() for line in done.stdout.splitlines() if "$finish" not in line]
    assert len(words) == len(lines)
    return [{name: _value(shapes[name], word) for name, word in zip(outputs, line, strict=True)} for line in words]


def _bits(shape, value):
    return value if isinstance(value, int) else Value.cast(shape.const(value)).value


def _value(shape, word):
    if set(word) & set("xXzZ"):
        return None
    if hasattr(shape, "from_bits"):
        return shape.from_bits(int(word, 16))
    return wrapped(int(word, 16), Shape.cast(shape).width) if Shape.cast(shape).signed else int(word, 16)


def wrapped(value, bits):
    """`value` as a signed number of `bits` bits."""
    return (int(value) + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)


def corner(rng: random.Random, low, high):
    """A number of `low .. high`: often one of the ends or near 0."""
    if rng.random() < 0.4:
        return rng.choice([low, high, min(max(0, low), high), min(max(-1, low), high), min(max(1, low), high)])
    return rng.randint(low, high)


def corner_of(rng: random.Random, bits, *, signed=True):
    """A number of `bits` bits: see `corner`."""
    return corner(rng, -(1 << bits - 1), (1 << bits - 1) - 1) if signed else corner(rng, 0, (1 << bits) - 1)
