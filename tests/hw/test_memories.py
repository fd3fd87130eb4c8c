"""Block RAM and delay line, portable and of DP16KD cells by our model, against what was written."""

from __future__ import annotations

import random
import shutil
import subprocess

import pytest

from systoliq.hw.block_ram import BlockRam
from systoliq.hw.cells import models_verilog
from systoliq.hw.delay_line import DelayLine
from systoliq.hw.verilog import emit_verilog

pytestmark = [
    pytest.mark.simulator,
    pytest.mark.skipif(shutil.which("iverilog") is None, reason="Icarus is not installed"),
]

CYCLES = 600


def icarus(folder, bench, *texts):
    """The words that the testbench prints, one a line; -1 where one is unknown."""
    files = []
    for index, text in enumerate((bench, *texts)):
        files.append(folder / f"{index}.v")
        files[-1].write_text(text)
    subprocess.run(["iverilog", "-g2005", "-s", "tb", "-o", "t", *files], cwd=folder, check=True)
    done = subprocess.run(["vvp", "t"], cwd=folder, capture_output=True, text=True, check=True)
    return [-1 if "x" in word else int(word, 16) for word in done.stdout.split()]


def bench(ports, stimulus):
    """Drive `ports` (name: bits), a line of `stimulus` a cycle, and print what `dut` shows before each edge."""
    bits = sum(ports.values())
    memory = "".join(f"s[{i}] = {bits}'h{line:x};" for i, line in enumerate(stimulus))
    names = ", ".join(reversed(ports))
    return f"""\
module tb;
  reg clk = 0;
  reg rst = 1;
  {"".join(f"reg [{width - 1}:0] {name} = 0;" for name, width in ports.items())}
  reg [{bits - 1}:0] s [0:{len(stimulus) - 1}];
  wire [255:0] shown;
  integer i;
  `DUT
  initial begin
    {memory}
    for (i = 0; i < {len(stimulus)}; i = i + 1) begin
      {{{names}}} = s[i];
      #5 $display("%h", shown);
      clk = 1;
      #5 clk = 0;
      rst = 0;
    end
    $finish;
  end
endmodule
"""


@pytest.mark.parametrize("cells", ["portable", "ecp5"])
@pytest.mark.parametrize(("width", "depth"), [(70, 64), (32, 1024), (20, 2048), (7, 4096), (3, 16384), (40, 16)])
def test_block_ram(tmp_path, cells, width, depth):
    generator = random.Random(width)
    address_bits = (depth - 1).bit_length()
    ports = {
        "write": 1,
        "write_address": address_bits,
        "write_data": width,
        "read": 1,
        "read_address": address_bits,
        "show": 1,
    }
    places = generator.sample(range(depth), 12)
    assert BlockRam.latency_of(cells) == 2
    memory, inner, outer, words, stimulus = {}, None, None, [], []
    for _ in range(CYCLES):
        write, read = generator.random() < 0.5, generator.random() < 0.7
        place, data, where = generator.choice(places), generator.getrandbits(width), generator.choice(places)
        read = read and not (write and place == where)
        show = generator.random() < 0.8
        words.append(outer)
        outer = inner if show else outer
        inner = memory.get(where) if read else inner
        if write:
            memory[place] = data
        line = 0
        for value, bits in reversed(list(zip((write, place, data, read, where, show), ports.values(), strict=True))):
            line = line << bits | int(value)
        stimulus.append(line)
    connections = ", ".join(f".{name}({name})" for name in ports)
    text = bench(ports, stimulus).replace(
        "`DUT", f"ram dut(.clk(clk), {connections}, .read_data(shown[{width - 1}:0]));"
    )
    text = text.replace('"%h", shown)', f'"%h", shown[{width - 1}:0])')
    found = icarus(
        tmp_path, text, emit_verilog(BlockRam(width, depth=depth, cells=cells), "ram"), models_verilog(cells)
    )
    assert len(found) == CYCLES
    compared = [(a, b) for a, b in zip(found, words, strict=True) if b is not None]
    assert len(compared) > CYCLES / 2
    assert all(a == b for a, b in compared)


@pytest.mark.parametrize("cells", ["portable", "ecp5"])
@pytest.mark.parametrize("cycles", [2, 3, 15, 32, 33, 80])
def test_delay_line(tmp_path, cells, cycles):
    generator = random.Random(cycles)
    stimulus = [generator.getrandbits(9) for _ in range(CYCLES)]
    text = bench({"i_": 9}, stimulus).replace("`DUT", "line dut(.clk(clk), .rst(rst), .i(i_), .o(shown[8:0]));")
    text = text.replace('"%h", shown)', '"%h", shown[8:0])')
    found = icarus(
        tmp_path, text, emit_verilog(DelayLine(9, cycles=cycles, cells=cells), "line"), models_verilog(cells)
    )
    assert found[cycles + 1 :] == stimulus[1:-cycles]


def test_a_delay_line_has_a_least_length():
    with pytest.raises(ValueError, match="cycles must be at least 2, not 1"):
        DelayLine(9, cycles=1, cells="portable")
