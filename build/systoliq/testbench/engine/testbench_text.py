"""Text of the engine's testbench: its phases, the steps of its program, and the Verilog that takes them."""

from __future__ import annotations

__all__ = ["BODY", "PHASES", "STEPS"]

PHASES = """\
// Phase 0: everything at full rate; BUSY_CYCLES must be what the cycle model says.
// Phase 1: random stalls everywhere.
// Phase 2: only the senders stall, those of addresses and data to registers too.
// Phase 3: only the receivers stall, those of answers from registers too."""

STEPS = (
    ("WRITE", "y to the register at x; bresp must be z[1:0], and wstrb is ~z[7:4]"),
    ("READ", "the register at x, whose bits z must be those of y"),
    ("MEASURE", "read x: busy cycles (z = 1) or stalls of Y (z = 2) as counted here; y where nothing stalls"),
    ("POLL", "read the register at x until its bits y are 0"),
    ("SEND_A", "words x to y - 1, when those before are gone"),
    ("SEND_B", "likewise"),
    ("TAKE", "bytes x to y - 1 must come on m_axis_y: those of job z"),
    ("REACH", "wait until byte x - 1 was taken, and where y = 1 a beat is offered"),
    ("INTERRUPT", "wait for it"),
    ("DROP", "whatever comes on m_axis_y from now on does not matter, up to the next last beat alone where x = 1"),
    ("STOP", "stop sending"),
    (
        "RESET",
        "for x cycles, y cycles after a read and half a start (z[0]: a whole one) came; z[1]: again and again",
    ),
    ("PAUSE", "for x cycles, and y more in each phase; where z = 1 no word of A or B may be taken"),
    ("AGAIN", "begin the next phase, in phase x and later ones"),
    ("HOLD", "the receiver takes nothing (x = 1), or goes on (0); no answer is taken for y cycles"),
    ("STUCK", "wait until a word of A was not taken for x cycles"),
)

BODY = """\
  localparam LAST_PHASE = 3;
  localparam TIME_OUT = <<time_out>>;  // cycles that a step may take
  localparam KEEP = <<keep>>;  // bytes of a beat of Y
  wire senders_stall = phase == 3'd1 || phase == 3'd2;
  wire receiver_stalls = phase == 3'd1 || phase == 3'd3;

<<driver_program>>
  wire writes = what == WRITE || what == RESET;
  wire reads = what == READ || what == MEASURE || what == POLL || what == RESET;
  reg receiver_stops = 1'b0;
  integer stuck = 0;  // cycles in which a word of A is not taken

  // Counted as the engine does: cycles from the first word of A or B to the last beat of Y, and those Y waited in.
  reg counting = 1'b0;
  integer busy_cycles = 0;
  integer y_stalls = 0;
  wire begins = (s_axis_a_tvalid && s_axis_a_tready) || (s_axis_b_tvalid && s_axis_b_tready);
  reg ended;

<<declarations>>
  integer a_end = 0;
  integer b_end = 0;
<<tasks>>

  // What must come on m_axis_y: bytes, the first in the lowest bits.
  localparam BYTES = <<bytes>>;
  reg [7:0] y_bytes [0:BYTES-1];
  task b32(input [255:0] bytes);
    integer at;
    begin for (at = 0; at < 32; at = at + 1) y_bytes[i+at] = bytes[8*at+:8]; i = i + 32; end
  endtask
  integer job = 0;
  integer job_first = 0;
  integer job_end = 0;
  reg ignoring = 1'b0;
  reg to_last = 1'b0;  // it does not matter up to the next last beat
  reg behind = 1'b0;  // the next job waits for that
  reg open = 1'b0;  // a beat of a job was taken, its last one was not
  reg closed = 1'b0;  // the job's last beat was taken
  integer place;
  integer count;

<<wires>>
<<driver_declarations>>

  <<name>> dut (
<<connections>>
  );

  task check;  // the beat that is taken in this cycle
    begin
      if ((m_axis_y_tkeep & (m_axis_y_tkeep + {{KEEP-1{1'b0}}, 1'b1})) !== {KEEP{1'b0}} && !done) begin
        $display("FAIL: job %0d: tkeep %b must mark the lowest bytes (phase %0d)", job, m_axis_y_tkeep, phase);
        finish;
      end
      count = 0;
      for (place = 0; place < KEEP; place = place + 1)
        if (m_axis_y_tkeep[place]) begin
          if (taken + count < job_end && m_axis_y_tdata[8*place+:8] !== y_bytes[taken+count] && !done) begin
            $display("FAIL: job %0d byte %0d: expected %0d, got %0d (phase %0d)", job, taken + count - job_first,
                     y_bytes[taken+count], m_axis_y_tdata[8*place+:8], phase);
            finish;
          end
          count = count + 1;
        end else if (m_axis_y_tdata[8*place+:8] !== 8'd0 && !done) begin
          $display("FAIL: job %0d: byte %0d of a beat does not count and must be 0, got %0d (phase %0d)", job, place,
                   m_axis_y_tdata[8*place+:8], phase);
          finish;
        end
      if (taken + count > job_end && !done) begin
        $display("FAIL: job %0d: more than %0d bytes came (phase %0d)", job, job_end - job_first, phase);
        finish;
      end
      if (m_axis_y_tlast !== (taken + count == job_end) && !done) begin
        $display("FAIL: job %0d byte %0d: expected tlast %b, got %b (phase %0d)", job, taken - job_first,
                 taken + count == job_end, m_axis_y_tlast, phase);
        finish;
      end
      checked <= checked + count;
      taken <= taken + count;
    end
  endtask

  task check_frame;  // the beat that is taken in this cycle, whether it matters or not
    begin
      if (closed && !done) begin
        $display("FAIL: job %0d: a beat came after the last one (phase %0d)", job, phase);
        finish;
      end
      open <= !m_axis_y_tlast;
      closed <= m_axis_y_tlast && !to_last;
      if (to_last && m_axis_y_tlast) begin
        to_last <= 1'b0;
        behind <= 1'b0;
        ignoring <= 1'b0;
      end
    end
  endtask

  task check_end;  // of the job before
    if (open && !to_last && !done) begin
      $display("FAIL: job %0d: no beat was the last one (phase %0d)", job, phase);
      finish;
    end else if (taken != job_end && !ignoring && !done) begin
      $display("FAIL: job %0d: expected %0d bytes, got %0d (phase %0d)", job, job_end - job_first, taken - job_first,
               phase);
      finish;
    end
  endtask

  task check_read;  // the answer that is taken in this cycle
    if ((s_axi_ctrl_rresp !== 2'd0 || (s_axi_ctrl_rdata & mask) !== (y & mask)) && !done) begin
      $display("FAIL: step %0d: register %h: expected %h in the bits %h, got %h with rresp %0d (phase %0d)", step, x, y,
               mask, s_axi_ctrl_rdata, s_axi_ctrl_rresp, phase);
      finish;
    end
  endtask
  wire [31:0] mask = step_what[step] == READ ? step_z[step]
                   : step_what[step] == MEASURE && phase == 3'd0 && y != 0 ? 32'hffffffff : 32'd0;

  task check_count;  // that is read in this cycle
    if (step_z[step] != 0 && s_axi_ctrl_rdata !== (step_z[step] == 1 ? busy_cycles : y_stalls) && !done) begin
      $display("FAIL: step %0d: register %h: expected %0d, got %0d (phase %0d)", step, x,
               step_z[step] == 1 ? busy_cycles : y_stalls, s_axi_ctrl_rdata, phase);
      finish;
    end
  endtask

  always @(posedge clk) begin
    random <= xorshift(random);
    cycle <= cycle + 1;
    if (in_reset != 3'd0) begin
      in_reset <= in_reset - 3'd1;
      rst <= in_reset != 3'd1;
      taken <= job_end;
      ignoring <= 1'b0;
      to_last <= 1'b0;
      behind <= 1'b0;
      open <= 1'b0;
      closed <= 1'b0;
      receiver_stops <= 1'b0;
      a_end <= 0;
      b_end <= 0;
<<driver_in_reset>>
      counting <= 1'b0;
<<reset>>
    end else begin
<<step>>
      if ((^{<<control>>}) === 1'bx && !done) begin
        $display("FAIL: step %0d: a valid, a ready or irq is neither 0 nor 1 (phase %0d)", step, phase);
        finish;
      end
      if (m_axis_y_tvalid && m_axis_y_tready) check_frame;
      if (begins && behind && !done) begin
        $display("FAIL: job %0d: it began before the one that was cleared was over (phase %0d)", job, phase);
        finish;
      end
      if (m_axis_y_tvalid && m_axis_y_tready && !ignoring) check;
      stuck <= s_axis_a_tvalid && !s_axis_a_tready ? stuck + 1 : 0;
      counting <= (counting || begins) && !(m_axis_y_tvalid && m_axis_y_tready && m_axis_y_tlast);
      if (counting || begins) busy_cycles <= busy_cycles + 1;
      if (m_axis_y_tvalid && !m_axis_y_tready) y_stalls <= y_stalls + 1;

<<driver_channels>>

      ended = 1'b0;
      case (step_what[step])
<<driver_write>>
        READ, MEASURE, POLL: begin
          if (s_axi_ctrl_rvalid && s_axi_ctrl_rready) begin
            check_read;
            if (step_what[step] == MEASURE) check_count;
            ended = step_what[step] != POLL || (s_axi_ctrl_rdata & y) === 32'd0;
            if (!ended) ar_step <= 0;
          end
        end
        SEND_A:
          if (a_next == a_end) begin
            a_index <= x;
            a_end <= y;
            ended = 1'b1;
          end
        SEND_B:
          if (b_next == b_end) begin
            b_index <= x;
            b_end <= y;
            ended = 1'b1;
          end
        TAKE: begin
          check_end;
          job <= step_z[step];
          job_first <= x;
          taken <= x;
          job_end <= y;
          ignoring <= to_last;
          behind <= to_last;
          closed <= 1'b0;
          counting <= 1'b0;
          busy_cycles <= 0;
          y_stalls <= 0;
          ended = 1'b1;
        end
        REACH: ended = taken >= x && (y == 0 || m_axis_y_tvalid);
        INTERRUPT: ended = irq;
        DROP: begin
          ignoring <= 1'b1;
          to_last <= x[0];
          ended = 1'b1;
        end
        STOP: begin
<<stop>>
          a_end <= 0;
          b_end <= 0;
          ended = 1'b1;
        end
        RESET: begin
          if (waited == 0 && y != 0 || step_z[step][1]) begin  // again and again, the last one with the reset
            s_axi_ctrl_araddr <= <<control_register>>;
            s_axi_ctrl_arvalid <= 1'b1;
            s_axi_ctrl_awaddr <= <<control_register>>;
            s_axi_ctrl_awvalid <= 1'b1;
            s_axi_ctrl_wdata <= 32'd1;  // start
            s_axi_ctrl_wvalid <= step_z[step][0];
          end
          ended = waited == y;
          if (ended) begin
            rst <= 1'b1;
            in_reset <= x[2:0];
          end
        end
        PAUSE: begin
          ended = waited == x + y * phase;
          if (step_z[step] != 0 && begins && !done) begin
            $display("FAIL: step %0d: a word was taken of a job that is refused (phase %0d)", step, phase);
            finish;
          end
        end
        HOLD: begin
          receiver_stops <= x[0];
          answers_wait <= y;
          ended = 1'b1;
        end
        STUCK: ended = stuck == x;
        default: begin  // AGAIN
          ended = 1'b1;
          if ({29'd0, phase} >= x) phase <= phase + 3'd1;
          check_end;
          if (phase == LAST_PHASE && !done) begin
            $display("PASS: %0d bytes of Y in %0d cycles", checked, cycle);
            passed = 1'b1;
            finish;
          end
        end
      endcase
      waited <= ended ? 0 : waited + 1;
      if (ended) step <= what == AGAIN && {29'd0, phase} >= x ? 0 : step + 1;
      if (waited > TIME_OUT && !done) begin
        $display("FAIL: no end of step %0d after %0d cycles: job %0d, %0d of %0d bytes (phase %0d)", step, waited, job,
                 taken - job_first, job_end - job_first, phase);
        finish;
      end
    end
  end

  initial begin
<<contents>>
  end"""
