"""The driver in a testbench: its program, a step after the other, and the AXI4-Lite port by which it takes them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .text import fill

__all__ = ["Step", "driver_parts", "port_nets", "put_step"]

Step = tuple[str, str]
"""A kind of step: its name, and its action with x, y and z."""

_BEGINS = {"s_axi_ctrl_wstrb": "4'hf"}  # initial values other than 0
_PROGRAM = """\
  // The program, a step after the other.
<<names>>
  localparam STEPS = <<steps>>;
  reg [3:0] step_what [0:STEPS-1];
  reg [31:0] step_x [0:STEPS-1];
  reg [31:0] step_y [0:STEPS-1];
  reg [31:0] step_z [0:STEPS-1];
  task p(input [3:0] what, input [31:0] x, input [31:0] y, input [31:0] z);
    begin step_what[i] = what; step_x[i] = x; step_y[i] = y; step_z[i] = z; i = i + 1; end
  endtask
  integer step = 0;
  wire [31:0] x = step_x[step];
  wire [31:0] y = step_y[step];
  integer waited = 0;  // cycles of this step
  wire [3:0] what = step_what[step];"""

_DECLARATIONS = """\
  wire follows = step_what[step+1] == what && (what == WRITE || what == READ);  // the next step is of the same kind
  integer aw_step = 0;  // the first step whose address, or data, may be offered next
  integer w_step = 0;
  integer ar_step = 0;
  integer at;
  reg answered = 1'b0;  // an answer was offered and not taken: to a write, to a read
  reg read_held = 1'b0;
  integer answers_wait = 0;  // cycles in which no answer is taken
  reg [1:0] answer = 2'd0;
  reg [33:0] tale = 34'd0;"""

_IN_RESET = """\
      s_axi_ctrl_awvalid <= in_reset != 3'd1 && random[5];
      s_axi_ctrl_wvalid <= in_reset != 3'd1 && random[6];
      s_axi_ctrl_arvalid <= in_reset != 3'd1 && random[7];
      answered <= 1'b0;
      read_held <= 1'b0;"""

_CHANNELS = """\
      // An answer comes to what was asked alone, and stays until it is taken.
      answered <= s_axi_ctrl_bvalid && !s_axi_ctrl_bready;
      answer <= s_axi_ctrl_bresp;
      read_held <= s_axi_ctrl_rvalid && !s_axi_ctrl_rready;
      tale <= {s_axi_ctrl_rresp, s_axi_ctrl_rdata};
      if (((s_axi_ctrl_bvalid && !writes) || (answered && {s_axi_ctrl_bvalid, s_axi_ctrl_bresp} !== {1'b1, answer})
           || (s_axi_ctrl_rvalid && !reads)
           || (read_held && {s_axi_ctrl_rvalid, s_axi_ctrl_rresp, s_axi_ctrl_rdata} !== {1'b1, tale})) && !done) begin
        $display("FAIL: step %0d: an answer changed while it was waiting, or came without a question (phase %0d)", step,
                 phase);
        finish;
      end

      // Address and data of a write come in any order, those of the next write or read as soon as these are taken.
<<offers>>
      if (answers_wait != 0) answers_wait <= answers_wait - 1;
      s_axi_ctrl_bready <= (!receiver_stalls || random[23]) && answers_wait == 0;
      s_axi_ctrl_rready <= (!receiver_stalls || random[29]) && answers_wait == 0;"""

_OFFER = """\
      at = <<channel>>_step > step ? <<channel>>_step : step;
      if (!<<asks>>) <<channel>>_step <= 0;
      if (!s_axi_ctrl_<<channel>>valid || s_axi_ctrl_<<channel>>ready) begin
        s_axi_ctrl_<<channel>>valid <= 1'b0;
        if (<<asks>> && at <= step + follows && (!senders_stall || random[<<bit>>])) begin
          s_axi_ctrl_<<channel>>valid <= 1'b1;
          <<payload>>
          <<channel>>_step <= at + 1;
        end
      end"""

_WRITE = """\
        WRITE: begin
          ended = s_axi_ctrl_bvalid && s_axi_ctrl_bready;
          if (ended && s_axi_ctrl_bresp !== step_z[step][1:0] && !done) begin
            $display("FAIL: step %0d: register %h: expected bresp %0d, got %0d (phase %0d)", step, x, step_z[step][1:0],
                     s_axi_ctrl_bresp, phase);
            finish;
          end
        end"""


def driver_parts(kinds: Sequence[Step], steps: int, address_bits: int) -> dict[str, str]:
    """Parts of a testbench's text by name: `driver_` program, declarations, in_reset, channels and write.

    The body says with `senders_stall` and `receiver_stalls` who pauses, with `writes` and `reads` which steps the port
    answers to, and counts `waited`; a step WRITE is here. Where a read is to be asked again, the body lets it with
    `ar_step <= 0`; what it puts on the bus itself, in a step RESET, comes before what is here.
    """
    names = "\n".join(f"  localparam {name} = 4'd{i};  // {text}" for i, (name, text) in enumerate(kinds))
    top = address_bits - 1
    offers = (
        ("aw", 25, "(what == WRITE)", f"s_axi_ctrl_awaddr <= step_x[at][{top}:0];"),
        ("w", 27, "(what == WRITE)", "{s_axi_ctrl_wstrb, s_axi_ctrl_wdata} <= {~step_z[at][7:4], step_y[at]};"),
        ("ar", 24, "(reads && what != RESET)", f"s_axi_ctrl_araddr <= step_x[at][{top}:0];"),
    )
    return {
        "driver_program": fill(_PROGRAM, names=names, steps=steps),
        "driver_declarations": _DECLARATIONS,
        "driver_in_reset": _IN_RESET,
        "driver_channels": fill(_CHANNELS, offers="\n".join(_offer(*offer) for offer in offers)),
        "driver_write": _WRITE,
    }


def _offer(channel: str, bit: int, asks: str, payload: str) -> str:
    """How what a step `asks` for is offered on a channel; `bit` of the random ones says when, where senders stall."""
    return fill(_OFFER, channel=channel, bit=bit, asks=asks, payload=payload)


def port_nets(ports: Iterable[dict[str, Any]]) -> list[str]:
    """Declarations of the nets of `ports`: wires for outputs, registers for inputs, constants where nothing changes."""
    constants = {"s_axi_ctrl_awprot": "3'd0", "s_axi_ctrl_arprot": "3'd0"}
    nets = []
    for port in ports:
        name, width = port["name"], port["width"]
        bits = f"[{width - 1}:0] " if width > 1 else ""
        if port["direction"] == "output":
            nets.append(f"  wire {bits}{name};")
        elif name in constants:
            nets.append(f"  wire {bits}{name} = {constants[name]};")
        else:
            begins = _BEGINS.get(name, f"{width}'d0")
            nets.append(f"  reg {bits}{name} = {begins};")
    return nets


def put_step(what: str, x: int = 0, y: int = 0, z: int = 0) -> str:
    """The statement that puts a step into the program; x, y and z are taken modulo 2^32."""
    values = (value & 0xFFFFFFFF for value in (x, y, z))
    texts = (f"'h{value:x}" if value > 9 else str(value) for value in values)
    return f"p({what}, {', '.join(texts)});"
