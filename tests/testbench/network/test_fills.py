"""The testbench of a network fills its buffers and misplaces a tlast: it finds faults that show only then."""

from __future__ import annotations

import re
import subprocess
from unittest import mock

import pytest

from systoliq.design import NetworkDesign, NetworkOptions
from systoliq.design.digits_cnn import digits_cnn
from systoliq.sim.tools import find, missing_text
from systoliq.testbench import testbench_of
from systoliq.testbench.network import stimulus, testbench

from ...hw.network import small_networks as small
from ...hw.network.faults import mutate

pytestmark = [
    pytest.mark.skipif(not find("icarus").found, reason=missing_text(find("icarus"))),
    pytest.mark.simulator,
]


@pytest.fixture(scope="module")
def design():
    """A network of which every buffer fills: two FIFOs before an addition, three window buffers."""
    return residual()


@pytest.fixture(scope="module")
def short(design):
    """Its testbench with fewer images at full rate and fewer resets: what fills buffers is all there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stimulus, "_CYCLES", 2_000)
        patch.setattr(testbench, "_RESET_CYCLES", 1_000)
        patch.setattr(testbench, "_STOP_CYCLES", 1_000)
        return testbench_of(residual())


def residual():
    """With fewer multipliers the way through the convolution is full before the shortcut's FIFO: see `NEVER_FULL`."""
    return NetworkDesign(small.residual(), NetworkOptions(multipliers=38), name="network")


@pytest.fixture(scope="module")
def little():
    """The Verilog of a network whose images take 108 cycles instead of 720, and its testbench, as short."""
    net = small.Builder((2, 4, 3))
    trunk = net.convolution(2, (3, 3), pads=(1, 1, 1, 1))
    net.convolution(2, (3, 3), pads=(1, 1, 1, 1))
    net.add(net.last, trunk)
    net.maximum((2, 2), strides=(2, 1))
    design = NetworkDesign(net.network(), NetworkOptions(multipliers=20), name="network")
    with (
        mock.patch.object(stimulus, "_CYCLES", 1_000),
        mock.patch.multiple(testbench, _RESET_CYCLES=500, _STOP_CYCLES=500, _FILL_CYCLES=4_000),
    ):
        return str(design.verilog), testbench_of(design)


def printed(bench, verilog, folder, *options):
    (folder / "network.v").write_text(verilog)
    (folder / "network_tb.v").write_text(bench)
    command = ["iverilog", "-g2005", *options, "-o", "t", "network.v", "network_tb.v"]
    subprocess.run(command, cwd=folder, check=True)
    return subprocess.run(["vvp", "t"], cwd=folder, capture_output=True, text=True, check=True, timeout=600).stdout


def one_more(match):
    """A sized hexadecimal literal and one more."""
    return f"{match[1]}{int(match[2], 16) + 1:0{len(match[2])}x}"


def one_less(match):
    return f"{match[1]}{int(match[2], 16) - 1:0{len(match[2])}x}"


def room(module, text, change):
    """The module with another initial room: in a declaration and behind the reset, which are the same number."""
    found = re.search(rf"^module network_{module}\(.*?^endmodule$", text, re.MULTILINE | re.DOTALL)
    register = re.search(r"reg \[\d+:0\] (room(?:_earlier)?) = (\d+'h)([0-9a-f]+);", found[0])
    source = re.search(rf"{register[1]} <= (\w+);", found[0])[1]
    begins = re.escape(register[2] + register[3])
    changed = re.sub(rf"(reg .* {register[1]} = \d+'h)([0-9a-f]+)(?=;)", change, found[0])
    changed, count = re.subn(
        rf"(assign {source} = rst \? {begins[: -len(register[3])]})({register[3]})", change, changed
    )
    assert count == 1
    return text[: found.start()] + changed + text[found.end() :]


def never_full(bench, verilog, folder):
    """Buffers that the testbench reports as never full."""
    out = printed(bench, verilog, folder)
    assert out.startswith("PASS"), out
    return re.findall(r"^Note: (.*) was never full$", out, re.MULTILINE)


FIFOS = ("fifo_64x9", "fifo_128x9")
WINDOWS = ("s0_convolution0_window", "s1_convolution1_window", "s3_maxpool3_window")
FAULTS = {
    **{f"{module}: a place too many": (room, module, one_more) for module in (*FIFOS, *WINDOWS)},
    **{f"{fifo}: overwrites when full": (mutate, fifo, r"(assign room_next = ).*;", r"\g<1>1'h1;") for fifo in FIFOS},
    **{
        f"{fifo}: ready stays low when full": (mutate, fifo, r"(assign room_next = )fetched", r"\g<1>1'h0")
        for fifo in FIFOS
    },
    **{
        f"{window}: overwrites when full": (mutate, window, r"(assign opens = \w+ & ).*;", r"\g<1>1'h1;")
        for window in WINDOWS
    },
    **{
        f"{window}: frees a line more for each row": (
            mutate, window, r"(= room \+ freed);", r"\1 + ended;"
        )
        for window in WINDOWS
    },
    "error stays 0": (mutate, "last_check", r"(assign procmux_1_Y = \w+ \? )1'h1", r"\g<1>1'h0"),
    "error is always 1": (mutate, "last_check", r"1'h0 : procmux_3_Y", "1'h1 : 1'h1"),
    "error is not reset": (mutate, "last_check", r"rst \? 1'h0 : procmux_3_Y", "procmux_3_Y"),
    "error does not stay": (mutate, "last_check", r"(assign procmux_3_Y = \w+ \? \w+ : )error", r"\g<1>1'h0"),
    "error comes for every tlast but the first beat's": (mutate, "last_check", r"(beat != \d+'h)\w+", r"\g<1>0"),
}  # fmt: skip


def faulty(verilog, change, module, *how):
    return room(module, verilog, *how) if change is room else mutate(verilog, module, *how)


LITTLE = {
    "a place too many": (room, "fifo_32x9", one_more),
    "overwrites when full": (mutate, "fifo_32x9", r"(assign room_next = ).*;", r"\g<1>1'h1;"),
    "error stays 0": FAULTS["error stays 0"],
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("fault", LITTLE)
def test_faults_of_a_little_network_are_found(fault, little, tmp_path):
    verilog, bench = little
    assert printed(bench, faulty(verilog, *LITTLE[fault]), tmp_path).startswith("FAIL")


@pytest.mark.slow
def test_the_network_of_the_faults_fills_its_buffers(design, short, tmp_path):
    assert never_full(short, str(design.verilog), tmp_path) == []


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_found(fault, design, short, tmp_path):
    assert printed(short, faulty(str(design.verilog), *FAULTS[fault]), tmp_path).startswith("FAIL")


NEVER_FULL = {
    "residual": ["the FIFO before input 1 of s2_addition2"],
    "separable": [],
    "forked": [
        "the window buffer of s1_convolution1",
        "the FIFO before input 0 of s3_addition3",
        "the FIFO before input 1 of s3_addition3",
    ],
    "joined": [
        "the window buffer of s0_convolution0",
        "the FIFO before input 0 of s2_multiplication2",
        "the FIFO before input 1 of s2_multiplication2",
    ],
    "hourglass": ["the window buffer of s1_maxpool1", "the window buffer of s2_convolution2"],
    "gated": ["the window buffer of s1_wholeaverage1"],
}
"""Buffers beside another way from the same fork, which is full before them: as measured, of all networks here.

The depth of a FIFO is a power of two. In the residual network, the way through the convolution is full when 127 beats
are in the shortcut's FIFO, which holds 130; all other buffers refuse a beat then.
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", NEVER_FULL)
def test_all_other_buffers_are_full(name, tmp_path):
    design = NetworkDesign(small.NETWORKS[name](), NetworkOptions(multipliers=20), name="network")
    assert never_full(testbench_of(design), str(design.verilog), tmp_path) == NEVER_FULL[name]


@pytest.mark.slow
def test_digits_cnn_fills_its_buffers(tmp_path):
    design = NetworkDesign(digits_cnn()[0], NetworkOptions(multipliers=20), name="network")
    assert never_full(testbench_of(design), str(design.verilog), tmp_path) == []


def test_a_netlist_needs_no_hierarchy(little, tmp_path):
    """The macro leaves out each name below the top module."""
    (tmp_path / "tb.v").write_text(little[1])
    command = ["iverilog", "-g2005", "-E", "-o", "out.v", "tb.v"]
    for options, looks in (([], True), (["-DNETLIST"], False)):
        subprocess.run([*command, *options], cwd=tmp_path, check=True)
        assert ("dut.pipeline" in (tmp_path / "out.v").read_text()) is looks


@pytest.mark.parametrize("side", [1, 2])
def test_images_of_few_beats(side, tmp_path):
    """Of one beat no tlast is misplaced."""
    net = small.Builder((1, side, side))
    net.table()
    design = NetworkDesign(net.network(), NetworkOptions(multipliers=2), name="network")
    bench = testbench_of(design)
    assert ("after a tlast in the wrong place" in bench.replace("\n// ", " ")) == (side > 1)
    assert never_full(bench, str(design.verilog), tmp_path) == []
