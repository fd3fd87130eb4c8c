"""The harness of a bulk run: a Verilog module around the design that moves beats from and to files.

Python's part is to start a run and to wait for its end; the beats, and the pauses, are files that the host wrote.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from systoliq.hw import BareArray, Dense
from systoliq.hw.axi import axi_bits

from .exchange import PATTERN_CYCLES

__all__ = ["TOP", "Ports", "Tap", "harness_verilog"]

TOP = "harness"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ports:
    """The streams of a design: sources by letter with their data bits, and what takes the results.

    `sums` is the number of columns of a bare array, and 0 for a layer, which has `m_axis_y`. `user_bits` is the width
    of A's tuser, which is above the data in the beats.
    """

    a_bits: int
    b_bits: int
    out_bits: int
    sums: int
    user_bits: int = 0

    @classmethod
    def of_dense(cls, dense: Dense) -> Ports:
        """The ports of `systoliq.hw.AxiDense`."""
        config = dense.config
        a_bits, y_bits = (
            config.rows * config.depth * dense.layer.a_format.bits,
            dense.schedule.lanes * dense.requantization.output.bits,
        )
        user_bits = axi_bits(dense.zero_point_bits)
        return cls(a_bits=axi_bits(a_bits), b_bits=0, out_bits=axi_bits(y_bits), sums=0, user_bits=user_bits)

    @classmethod
    def of_array(cls, array: BareArray) -> Ports:
        """The ports of `systoliq.hw.AxiBareArray`."""
        config = array.config
        return cls(
            a_bits=axi_bits(config.rows * config.depth * config.a.bits),
            b_bits=axi_bits(config.cols * config.depth * config.b.bits),
            out_bits=config.cols * config.word_bits,
            sums=config.cols,
        )


@dataclasses.dataclass(frozen=True, kw_only=True)
class Tap:
    """A stream inside of the design, whose beats go to `file`: `<net>_valid`, `_ready` and `_data` of `bits`."""

    net: str
    bits: int
    file: str


def harness_verilog(design: str, ports: Ports, *, own_clock: bool, taps: Sequence[Tap] = ()) -> str:
    """Verilog of module `harness` around module `design`.

    It runs while `run` is 1: from `a.bin` (and `b.bin`) come beats, each a byte of `last` and the data, most
    significant byte first, and to `out.bin` go the results, in little-endian words of 32 bits, followed by `last` or
    the sums' valid bits, filled up to 32 bits too. Where a bit of `stalled` (0: a, 1: b, 2: the results) is set, the
    stream pauses in the cycles marked in `a_pauses.bin`, `b_pauses.bin` or `out_pauses.bin`, `PATTERN_CYCLES` bits
    each, most significant first. `done` rises `linger` cycles after `expected` results came, or after `limit` cycles.
    `error` is a layer's.

    Beats of each of `taps` go to its file, as little-endian words of 32 bits, filled up with zeros.

    `own_clock`: the clock is made here, which costs Icarus less than VPI; Verilator needs it from outside.
    """
    sources = ["a", "b"] if ports.sums else ["a"]
    out_bits = -(-ports.out_bits // 32) * 32
    flag_bits = -(-max(ports.sums, 1) // 32) * 32
    sink = _SUMS if ports.sums else _AXI
    fields = {
        "top": TOP,
        "design": design,
        "cycles_bits": PATTERN_CYCLES.bit_length() - 1,
        "pattern_bits": PATTERN_CYCLES,
        "clock_port": "" if own_clock else "input clk,",
        "clock": "reg clk = 0;\n  always #5 clk = ~clk;" if own_clock else "",
        "out_bits": ports.out_bits,
        "flag_bits": flag_bits,
        "pad": f"{out_bits - ports.out_bits}'d0, " if out_bits > ports.out_bits else "",
        "sums": ports.sums,
    }
    connections = [
        _CONNECTION.format(name=name, bits=each) for name, each in (("a", ports.a_bits), ("b", ports.b_bits))
    ]
    bits = {"a": ports.a_bits + ports.user_bits, "b": ports.b_bits}
    connections = [*connections[: len(sources)], f"    .s_axis_a_tlast(a[{bits['a']}]),"]
    if ports.user_bits:
        connections.append(f"    .s_axis_a_tuser(a[{bits['a']} - 1:{ports.a_bits}]),")
    per_source = [
        {"name": name, "bits": bits[name], "bytes": bits[name] // 8 + 1, "index": index, **fields}
        for index, name in enumerate(sources)
    ]
    return _HARNESS.format(
        **fields,
        declarations="".join(_SOURCE_DECLARATIONS.format(**source) for source in per_source),
        opening="".join(_SOURCE_OPENING.format(**source) for source in per_source),
        moving="".join(_SOURCE_MOVING.format(**source) for source in per_source),
        clearing="".join(_SOURCE_CLEARING.format(**source) for source in per_source),
        connections="\n".join(connections),
        sink_declarations=sink["declarations"].format(**fields),
        sink_moving=sink["moving"].format(**fields),
        sink_connections=sink["connections"].format(**fields),
        taps="".join(
            _TAP.format(index=index, net=f"under_test.{tap.net}", file=tap.file, pad=-tap.bits % 32 or 32)
            for index, tap in enumerate(taps)
        ),
    )


_HARNESS = """
module {top}(
  {clock_port}
  input rst,
  input run,
  input [31:0] expected,
  input [31:0] limit,
  input [31:0] linger,
  input [2:0] stalled,
  output reg done,
  output reg [31:0] cycle,
  output reg [31:0] first_cycle,
  output reg [31:0] last_cycle,
  output reg [31:0] broken,
  output error,
  output [{flag_bits} - 1:0] out_flags
);
  {clock}
  localparam NEVER = 32'hffffffff;
  reg running = 0;
  reg [31:0] received = 0;
  reg [31:0] lingered = 0;
  integer out_file = 0;
  integer count = 0;
  integer pauses_file = 0;
{declarations}{sink_declarations}
  initial begin
    done = 0;
    cycle = 0;
    first_cycle = NEVER;
    last_cycle = NEVER;
    broken = 0;
  end
  always @(posedge clk) begin
    if (rst || !run) begin
      running <= 0;
      done <= 0;
      cycle <= 0;
      first_cycle <= NEVER;
      last_cycle <= NEVER;
      received <= 0;
      lingered <= 0;
      broken <= 0;
      out_ready <= 0;
      waiting <= 0;
{clearing}    end else if (!running) begin
      running <= 1;
      out_file = $fopen("out.bin", "wb");
      if (stalled[2]) begin
        pauses_file = $fopen("out_pauses.bin", "rb");
        count = $fread(out_pauses, pauses_file);
        $fclose(pauses_file);
      end
{opening}    end else if (!done) begin
      cycle <= cycle + 1;
      if (a_valid && a_ready && first_cycle == NEVER)
        first_cycle <= cycle;
{moving}{sink_moving}      if (received >= expected)
        lingered <= lingered + 1;
      if (lingered == linger || cycle == limit) begin
        done <= 1;
        $fclose(out_file);
      end
    end
  end
  {design} under_test(
    .clk(clk),
    .rst(rst),
{connections}
{sink_connections}
  );
{taps}endmodule
"""

_TAP = """\
  integer tap_{index} = 0;
  always @(posedge clk) begin
    if (run && !rst && !running)
      tap_{index} = $fopen("{file}", "wb");
    else if (running && !done && {net}_valid && {net}_ready)
      $fwrite(tap_{index}, "%u", {{{pad}'d0, {net}_data}});
    if (running && !done && lingered == linger)
      $fclose(tap_{index});
  end
"""

_SOURCE_DECLARATIONS = """\
  integer {name}_file = 0;
  reg [{bits} + 7:0] {name} = 0;
  reg [{bits} + 7:0] {name}_next = 0;
  reg [{pattern_bits} - 1:0] {name}_pauses = 0;
  reg {name}_valid = 0;
  wire {name}_ready;
"""

_SOURCE_CLEARING = """\
      {name}_valid <= 0;
"""

_SOURCE_OPENING = """\
      {name}_file = $fopen("{name}.bin", "rb");
      if (stalled[{index}]) begin
        pauses_file = $fopen("{name}_pauses.bin", "rb");
        count = $fread({name}_pauses, pauses_file);
        $fclose(pauses_file);
      end
"""

_SOURCE_MOVING = """\
      if (!{name}_valid || {name}_ready) begin
        if (stalled[{index}] && {name}_pauses[cycle[{cycles_bits} - 1:0]])
          {name}_valid <= 0;
        else begin
          count = $fread({name}_next, {name}_file);
          {name} <= {name}_next;
          {name}_valid <= count == {bytes};
        end
      end
"""

_CONNECTION = """\
    .s_axis_{name}_tdata({name}[{bits} - 1:0]),
    .s_axis_{name}_tvalid({name}_valid),
    .s_axis_{name}_tready({name}_ready),"""

_AXI = {
    "declarations": """\
  reg [{pattern_bits} - 1:0] out_pauses = 0;
  reg out_ready = 0;
  reg waiting = 0;
  reg [{out_bits}:0] waited = 0;
  wire out_valid, out_last;
  wire [{out_bits} - 1:0] out;
  assign out_flags = out_last;
""",
    "moving": """\
      out_ready <= !(stalled[2] && out_pauses[cycle[{cycles_bits} - 1:0]]);
      waiting <= out_valid && !out_ready;
      waited <= {{out_last, out}};
      if (waiting && !(out_valid && waited == {{out_last, out}}))
        broken <= broken + 1;
      if (out_valid && out_ready) begin
        $fwrite(out_file, "%u", {{out_flags, {pad}out}});
        last_cycle <= cycle;
        received <= received + 1;
      end
""",
    "connections": """\
    .m_axis_y_tdata(out),
    .m_axis_y_tvalid(out_valid),
    .m_axis_y_tready(out_ready),
    .m_axis_y_tlast(out_last),
    .error(error)""",
}

_SUMS = {
    "declarations": """\
  reg [{pattern_bits} - 1:0] out_pauses = 0;
  reg out_ready = 0;
  reg waiting = 0;
  wire [{sums} - 1:0] out_valid;
  wire [{out_bits} - 1:0] out;
  assign out_flags = out_valid;
  assign error = 0;
""",
    "moving": """\
      if (out_valid != 0) begin
        $fwrite(out_file, "%u", {{out_flags, {pad}out}});
        last_cycle <= cycle;
        if (out_valid[{sums} - 1])
          received <= received + 1;
      end
""",
    "connections": """\
    .sums(out),
    .sums_valid(out_valid)""",
}
