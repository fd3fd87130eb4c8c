"""Text of the testbench of a DMA engine: its phases, the steps of its program, and their Verilog."""

from __future__ import annotations

__all__ = ["BODY", "PHASES", "STEPS"]

PHASES = """\
// Phase 0: everything at full rate.
// Phase 1: random stalls everywhere.
// Phase 2: only memory stalls.
// Phase 3: only the port of the registers does."""

STEPS = (
    ("WRITE", "y to the register at x; bresp must be z"),
    ("READ", "the register at x, whose bits z must be those of y"),
    ("POLL", "read the register at x until its bits y are z"),
    ("INTERRUPT", "wait for it"),
    (
        "CHECK",
        "memory: results in words x to y - 1 (z = 0: whatever they are), all else as it was; as it was from then",
    ),
    ("BREAK", "words x to y - 1 of memory are answered with an error"),
    ("RESET", "for x cycles"),
    ("PAUSE", "for x cycles, and y more in each phase"),
    ("AGAIN", "begin the next phase, in phase x and later ones"),
)

BODY = """\
  localparam LAST_PHASE = 3;
  localparam TIME_OUT = <<time_out>>;  // cycles that a step may take
  localparam BUS_BYTES = <<bus_bytes>>;
  localparam WORDS = <<words>>;  // of memory
  wire memory_stalls = phase == 3'd1 || phase == 3'd2;
  wire senders_stall = phase == 3'd1 || phase == 3'd3;
  wire receiver_stalls = senders_stall;

<<driver_program>>
  wire writes = what == WRITE;
  wire reads = what == READ || what == POLL;
  reg ended;
  integer place;

  // Memory: as it is, as it was in the beginning, and with all results.
  reg [8*BUS_BYTES-1:0] memory [0:WORDS-1];
  reg [8*BUS_BYTES-1:0] first [0:WORDS-1];
  reg [8*BUS_BYTES-1:0] wanted [0:WORDS-1];
  task m(input [8*BUS_BYTES-1:0] word);
    begin memory[i] = word; first[i] = word; wanted[i] = word; i = i + 1; end
  endtask
  task y_word(input [31:0] at, input [8*BUS_BYTES-1:0] word);
    wanted[at] = word;
  endtask
  reg [31:0] broken_from = 32'd0;
  reg [31:0] broken_to = 32'd0;

<<wires>>
<<driver_declarations>>
<<declarations>>

  <<name>> dut (
<<connections>>
  );

  task check_memory(input [31:0] from, input [31:0] to, input strict);
    for (i = 0; i < WORDS; i = i + 1) begin
      if ((i < from || i >= to || strict) && memory[i] !== (i >= from && i < to ? wanted[i] : first[i]) && !done) begin
        $display("FAIL: step %0d: bytes from %h on: expected %h, got %h (phase %0d)", step, i * BUS_BYTES,
                 i >= from && i < to ? wanted[i] : first[i], memory[i], phase);
        finish;
      end
      if (strict && i >= from && i < to) checked = checked + BUS_BYTES;
      memory[i] = first[i];
    end
  endtask

  always @(posedge clk) begin
    random <= xorshift(random);
    cycle <= cycle + 1;
    if (in_reset != 3'd0) begin
      in_reset <= in_reset - 3'd1;
      rst <= in_reset != 3'd1;
<<driver_in_reset>>
<<in_reset>>
    end else begin
      if ((^{<<control>>}) === 1'bx && !done) begin
        $display("FAIL: step %0d: a valid, a ready or irq is neither 0 nor 1 (phase %0d)", step, phase);
        finish;
      end
<<step>>

<<driver_channels>>

      ended = 1'b0;
      case (what)
<<driver_write>>
        READ, POLL: begin
          if (s_axi_ctrl_rvalid && s_axi_ctrl_rready) begin
            ended = what == READ || (s_axi_ctrl_rdata & y) === step_z[step];
            if (!ended) ar_step <= 0;
            if ((s_axi_ctrl_rresp !== 2'd0 || (what == READ && ((s_axi_ctrl_rdata ^ y) & step_z[step]) !== 32'd0))
                && !done) begin
              $display("FAIL: step %0d: register %h: expected %h in the bits %h, got %h with rresp %0d (phase %0d)",
                       step, x, y, step_z[step], s_axi_ctrl_rdata, s_axi_ctrl_rresp, phase);
              finish;
            end
          end
        end
        INTERRUPT: ended = irq;
        CHECK: begin
          check_memory(x, y, step_z[step] != 0);
          ended = 1'b1;
        end
        BREAK: begin
          broken_from <= x;
          broken_to <= y;
          ended = 1'b1;
        end
        RESET: begin
          rst <= 1'b1;
          in_reset <= x[2:0];
          ended = 1'b1;
        end
        PAUSE: ended = waited == x + y * phase;
        default: begin  // AGAIN
          ended = 1'b1;
          if ({29'd0, phase} >= x) phase <= phase + 3'd1;
          if (phase == LAST_PHASE && !done) begin
            $display("PASS: %0d bytes of memory in %0d cycles", checked, cycle);
            passed = 1'b1;
            finish;
          end
        end
      endcase
      waited <= ended ? 0 : waited + 1;
      if (ended) step <= what == AGAIN && {29'd0, phase} >= x ? 0 : step + 1;
      if (waited > TIME_OUT && !done) begin
        $display("FAIL: no end of step %0d after %0d cycles (phase %0d)", step, waited, phase);
        finish;
      end
    end
  end

  initial begin
<<contents>>
  end"""
