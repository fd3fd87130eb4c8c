"""The harness of a bulk run: a Verilog module around the design that moves beats from and to files.

Python's part is to start a run and to wait for its end; the beats, and the pauses, are files that the host wrote.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from systoliq.hw import BareArray, Dense
from systoliq.hw.axi import axi_bits

from .exchange import PATTERN_CYCLES

__all__ = ["TOP", "Ports", "Tap", "harness_verilog"]

TOP = "harness"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Ports:
    """The streams of a design, by the letters in their names, with their data bits: `inputs` are `s_axis_<letter>`,
    `outputs` are `m_axis_<letter>`.

    `sums` is the number of columns of a bare array, whose only output has no stream, and 0 for others. `user_bits` is
    the width of A's tuser, which is above the data in the beats.
    """

    inputs: Mapping[str, int]
    outputs: Mapping[str, int]
    sums: int = 0
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
        return cls(inputs={"a": axi_bits(a_bits)}, outputs={"y": axi_bits(y_bits)}, user_bits=user_bits)

    @classmethod
    def of_array(cls, array: BareArray) -> Ports:
        """The ports of `systoliq.hw.AxiBareArray`."""
        config = array.config
        return cls(
            inputs={
                "a": axi_bits(config.rows * config.depth * config.a.bits),
                "b": axi_bits(config.cols * config.depth * config.b.bits),
            },
            outputs={"y": config.cols * config.word_bits},
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

    It runs while `run` is 1: the inputs, by their places, have their beats from `input_<place>.bin`, each a byte of
    `last` and the data, most significant byte first. Results go to `output_<place>.bin`, in little-endian words of 32
    bits, followed by `last` or the sums' valid bits, filled up to 32 bits too. Where a bit of `stalled` is set, inputs
    first, the stream pauses in the cycles marked in `<stream>_pauses.bin`, `PATTERN_CYCLES` bits, most significant
    first. `done` rises `linger` cycles after `expected` results of all outputs came, or after `limit` cycles. `error`
    is the design's.

    Beats of each of `taps` go to its file, as little-endian words of 32 bits, filled up with zeros.

    `own_clock`: the clock is made here, which costs Icarus less than VPI; Verilator needs it from outside.
    """
    flag_bits = -(-max(ports.sums, 1) // 32) * 32
    fields = {
        "top": TOP,
        "design": design,
        "cycles_bits": PATTERN_CYCLES.bit_length() - 1,
        "pattern_bits": PATTERN_CYCLES,
        "clock_port": "" if own_clock else "input clk,",
        "clock": "reg clk = 0;\n  always #5 clk = ~clk;" if own_clock else "",
        "flag_bits": flag_bits,
        "sums": ports.sums,
        "top_stalled": len(ports.inputs) + len(ports.outputs) - 1,
        "begins": " || ".join(
            f"(input_{index}_valid && input_{index}_ready)"
            for index, letter in enumerate(ports.inputs)
            if letter != "b"
        ),
    }
    sources, connections = _sources(ports, fields)
    sink = _SUMS if ports.sums else _AXI
    sinks = [
        {
            "name": f"output_{index}",
            "letter": letter,
            "index": len(ports.inputs) + index,
            "bits": bits,
            "pad": f"{-bits % 32}'d0, " if bits % 32 else "",
            **fields,
        }
        for index, (letter, bits) in enumerate(ports.outputs.items())
    ]
    came = " + ".join(sink["came"].format(**each) for each in sinks)
    return _HARNESS.format(
        **fields,
        declarations="".join(_SOURCE_DECLARATIONS.format(**source) for source in sources)
        + "".join(_TAP_DECLARATIONS.format(index=index) for index in range(len(taps))),
        opening="".join(_OPENING.format(**stream) for stream in (*sources, *sinks))
        + "".join(_SOURCE_OPENING.format(**source) for source in sources)
        + "".join(_SINK_OPENING.format(**each) for each in sinks)
        + "".join(_TAP_OPENING.format(index=index, file=tap.file) for index, tap in enumerate(taps)),
        moving="".join(_SOURCE_MOVING.format(**source) for source in sources),
        clearing="".join(_SOURCE_CLEARING.format(**source) for source in sources)
        + "".join(_SINK_CLEARING.format(**each) for each in sinks),
        closing="".join(f"        $fclose({each['name']}_file);\n" for each in sinks),
        connections="\n".join(connections),
        sink_declarations="".join(sink["declarations"].format(**each) for each in sinks),
        sink_moving="".join(sink["moving"].format(**each) for each in sinks) + _RECEIVED.format(came=came),
        sink_connections=",\n".join(sink["connections"].format(**each) for each in sinks),
        error="" if ports.sums else ",\n    .error(error)",
        taps="".join(
            _TAP.format(index=index, net=f"under_test.{tap.net}", pad=-tap.bits % 32 or 32)
            for index, tap in enumerate(taps)
        ),
    )


def _sources(ports: Ports, fields: Mapping[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """The fields of each input, and how the design's inputs are connected; those of a bare array's B have no tlast."""
    sources, connections = [], []
    for index, (letter, data_bits) in enumerate(ports.inputs.items()):
        name = f"input_{index}"
        bits = data_bits + (ports.user_bits if letter == "a" else 0)
        sources.append({"name": name, "bits": bits, "bytes": bits // 8 + 1, "index": index, **fields})
        connections.append(_CONNECTION.format(name=name, letter=letter, bits=data_bits))
        if letter != "b":
            connections.append(f"    .s_axis_{letter}_tlast({name}[{bits}]),")
        if bits > data_bits:
            connections.append(f"    .s_axis_{letter}_tuser({name}[{bits} - 1:{data_bits}]),")
    return sources, connections


_HARNESS = """
module {top}(
  {clock_port}
  input rst,
  input run,
  input [31:0] expected,
  input [31:0] limit,
  input [31:0] linger,
  input [{top_stalled}:0] stalled,
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
  integer count = 0;
  integer pauses_file = 0;
  wire moving = running && !done;
  wire closing = moving && lingered == linger;
{declarations}{sink_declarations}  assign out_flags = output_0_flags;
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
{clearing}    end else if (!running) begin
      running <= 1;
{opening}    end else if (!done) begin
      cycle <= cycle + 1;
      if (({begins}) && first_cycle == NEVER)
        first_cycle <= cycle;
{moving}{sink_moving}      if (received >= expected)
        lingered <= lingered + 1;
      if (lingered == linger || cycle == limit) begin
        done <= 1;
{closing}      end
    end
  end
  {design} under_test(
    .clk(clk),
    .rst(rst),
{connections}
{sink_connections}{error}
  );
{taps}endmodule
"""

_TAP_DECLARATIONS = """\
  integer tap_{index} = 0;
"""

_TAP = """\
  wire tap_{index}_moves = moving && {net}_valid && {net}_ready;
  always @(posedge clk) begin
    if (tap_{index}_moves)
      $fwrite(tap_{index}, "%u", {{{pad}'d0, {net}_data}});
    if (closing)
      $fclose(tap_{index});
  end
"""

_TAP_OPENING = """\
      tap_{index} = $fopen("{file}", "wb");
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
"""

_SINK_OPENING = """\
      {name}_file = $fopen("{name}.bin", "wb");
"""

_SINK_CLEARING = """\
      {name}_ready <= 0;
      {name}_waiting <= 0;
"""

_RECEIVED = """\
      received <= received + {came};
"""

_OPENING = """\
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
    .s_axis_{letter}_tdata({name}[{bits} - 1:0]),
    .s_axis_{letter}_tvalid({name}_valid),
    .s_axis_{letter}_tready({name}_ready),"""

_AXI = {
    "declarations": """\
  integer {name}_file = 0;
  reg [{pattern_bits} - 1:0] {name}_pauses = 0;
  reg {name}_ready = 0;
  reg {name}_waiting = 0;
  reg [{bits}:0] {name}_waited = 0;
  wire {name}_valid, {name}_last;
  wire [{flag_bits} - 1:0] {name}_flags = {name}_last;
  wire [{bits} - 1:0] {name};
""",
    "came": "({name}_valid && {name}_ready ? 32'd1 : 32'd0)",
    "moving": """\
      {name}_ready <= !(stalled[{index}] && {name}_pauses[cycle[{cycles_bits} - 1:0]]);
      {name}_waiting <= {name}_valid && !{name}_ready;
      {name}_waited <= {{{name}_last, {name}}};
      if ({name}_waiting && !({name}_valid && {name}_waited == {{{name}_last, {name}}}))
        broken <= broken + 1;
      if ({name}_valid && {name}_ready) begin
        $fwrite({name}_file, "%u", {{{name}_flags, {pad}{name}}});
        last_cycle <= cycle;
      end
""",
    "connections": """\
    .m_axis_{letter}_tdata({name}),
    .m_axis_{letter}_tvalid({name}_valid),
    .m_axis_{letter}_tready({name}_ready),
    .m_axis_{letter}_tlast({name}_last)""",
}

_SUMS = {
    "declarations": """\
  integer {name}_file = 0;
  reg [{pattern_bits} - 1:0] {name}_pauses = 0;
  reg {name}_ready = 0;
  reg {name}_waiting = 0;
  wire [{sums} - 1:0] {name}_valid;
  wire [{bits} - 1:0] {name};
  wire [{flag_bits} - 1:0] {name}_flags = {name}_valid;
  assign error = 0;
""",
    "came": "({name}_valid[{sums} - 1] ? 32'd1 : 32'd0)",
    "moving": """\
      if ({name}_valid != 0) begin
        $fwrite({name}_file, "%u", {{{name}_flags, {pad}{name}}});
        last_cycle <= cycle;
      end
""",
    "connections": """\
    .sums({name}),
    .sums_valid({name}_valid)""",
}
