"""The plain Verilog testbench of a network: images in, results out, compared with golden's answer."""

from __future__ import annotations

from systoliq.hw.axi import axi_bits
from systoliq.sim.cosimulation.network import beat_bits, beat_lanes

from ...design.network.design import NetworkDesign
from ..fills import Fills
from ..frame import testbench
from ..resets import RESET_LENGTHS, Kind, Trial, stray_beats
from ..stops import Stops
from ..streams import PAUSES, Receiver, Sender
from ..text import calls, fill, literal
from .stimulus import NetworkStimulus, network_stimulus

__all__ = ["network_testbench"]

_STOP_CYCLES = 16_000  # of all stops of the receiver, about
_FILL_CYCLES = 16_000  # of stops that fill all buffers, about
_LEAST_FILLS, _MOST_FILLS = 3, 40
_SETTLES = 200  # cycles in which stages settle that wait for nothing but each other
_RESET_CYCLES = 45_000  # of all trials, about
_ERROR_CYCLES = 16  # from a misplaced tlast to the end of its trial, at least

_DECLARATIONS = """\
<<task>>

  reg [<<y_top>>:0] y_data [0:RESULTS-1];
  reg y_last [0:RESULTS-1];
  task y(input [<<y_top>>:0] data, input last);
    begin y_data[i] = data; y_last[i] = last; i = i + 1; end
  endtask

<<receiver>>
  localparam BEATS = <<beats>>;  // of an image's results
  integer image_end = 0;
  wire [31:0] y_at = phase == 3'd5 ? taken % FEW : taken;
  wire error;
  wire strays = resets && kind == 2'd<<stray>>;  // the results' tlast may follow A's
  reg strayed = 1'b0;  // a tlast came in the wrong place
  reg error_due = 1'b0;

  <<name>> dut (
    .clk(clk),
    .rst(rst),
    .s_axis_a_tdata(s_axis_a_tdata),
    .s_axis_a_tvalid(s_axis_a_tvalid),
    .s_axis_a_tready(s_axis_a_tready),
    .s_axis_a_tlast(s_axis_a_tlast),
    .m_axis_y_tdata(m_axis_y_tdata),
    .m_axis_y_tvalid(m_axis_y_tvalid),
    .m_axis_y_tready(m_axis_y_tready),
    .m_axis_y_tlast(m_axis_y_tlast),
    .error(error)
  );"""

_STEP = """\
<<receiver>>
      if ((^{m_axis_y_tvalid, s_axis_a_tready}) === 1'bx && !done) begin
        $display("FAIL: tvalid %b, tready %b: must be 0 or 1 (phase %0d)", m_axis_y_tvalid, s_axis_a_tready, phase);
        finish;
      end
      strayed <= strayed || (s_axis_a_tvalid && s_axis_a_tready && a_index == stray);
      error_due <= strayed;
      if (strays && since + 1 == trial_until[trial] && !error_due && !done) begin
        $display("FAIL: the misplaced tlast must be taken within %0d cycles (phase %0d)", trial_until[trial], phase);
        finish;
      end
      if (error !== error_due && !done) begin
        $display("FAIL: error must be %b, not %b: every tlast was in its place, or one was not (phase %0d)", error_due,
                 error, phase);
        finish;
      end
      if (m_axis_y_tvalid && m_axis_y_tready) begin
        if (taken < results) begin
          if ((m_axis_y_tdata !== y_data[y_at] || (m_axis_y_tlast !== y_last[y_at] && !strays)) && !done) begin
            $display("FAIL: image %0d beat %0d: expected %h tlast %b, got %h tlast %b (phase %0d)", taken / BEATS,
                     taken % BEATS, y_data[y_at], y_last[y_at], m_axis_y_tdata, m_axis_y_tlast, phase);
            finish;
          end
          checked <= checked + <<lanes>>;
          taken <= taken + 1;
        end else if (!done) begin
          $display("FAIL: more than %0d beats came (phase %0d)", results, phase);
          finish;
        end
        if (m_axis_y_tlast) image_end <= cycle;
        if (phase == 3'd0 && taken == RESULTS - 1 && cycle - image_end <<differs>> MODEL_CYCLES && !done) begin
          $display("FAIL: expected <<expected>> cycles from image to image, got %0d", MODEL_CYCLES, cycle - image_end);
          finish;
        end
      end"""


def network_testbench(design: NetworkDesign) -> str:
    """Return Verilog of module `<name>_tb`, which holds its stimulus and needs nothing else."""
    stimulus = network_stimulus(design)
    assembly = design.assembly
    lanes = beat_lanes(assembly, assembly.pipeline.output)
    a_width, width = (
        axi_bits(beat_bits(assembly, name)) for name in (assembly.pipeline.source, assembly.pipeline.output)
    )
    sender = Sender(
        "a", stimulus.a_beats, a_width, has_last=True, random_bit=3, few=stimulus.few_a_beats, strays=True, laps=True
    )
    receiver = Receiver({"tdata": width, "tlast": 1})
    expected = calls(f"y({literal(beat.word, width)}, {int(beat.last)});" for beat in stimulus.y_beats)
    quiet = assembly.image_cycles // 4 + 200
    return testbench(
        name=design.name,
        memories=design.verilog.files,
        story=_story(stimulus),
        senders=[sender],
        results=len(stimulus.y_beats),
        cycles=assembly.image_cycles,
        quiet=quiet,
        few=stimulus.few_y_beats,
        idle=assembly.image_cycles * (1 + len(assembly.nodes)) + PAUSES,
        trials=_trials(design, _fill_cycles(assembly.image_cycles, stimulus)),
        stops=_stops(design, stimulus),
        handover=None,
        rounds=1,
        outputs=[("m_axis_y_tvalid", 1)],
        moves="(m_axis_y_tvalid && m_axis_y_tready)",
        declarations=fill(
            _DECLARATIONS,
            task=sender.task,
            name=design.name,
            y_top=width - 1,
            beats=len(stimulus.y_beats) // stimulus.images,
            receiver=receiver.declarations,
            stray=Kind.STRAY.value,
        ),
        step=fill(
            _STEP,
            receiver=receiver.step,
            lanes=lanes,
            differs="!=" if assembly.exact else "<",
            expected="%0d" if assembly.exact else "at least %0d",
        ),
        reset=f"{receiver.reset}\n      strayed <= 1'b0;\n      error_due <= 1'b0;",
        contents=f"    i = 0;\n{expected}",
    )


def _story(stimulus: NetworkStimulus) -> str:
    sent = f"{stimulus.images} images are sent back to back, and all results are compared with the golden model's."
    if stimulus.images != stimulus.few:
        sent += f" Phases 2 and up have the first {stimulus.few} alone."
    return f"{sent} Phase 5 sends these again and again, so that the receiver's stops fill the buffers of the pipeline."


def _stops(design: NetworkDesign, stimulus: NetworkStimulus) -> Stops:
    """At half of the results, and at the last ones, for as long as fills all stages."""
    image = design.assembly.image_cycles
    cycles = _fill_cycles(image, stimulus)
    last = min(max(_STOP_CYCLES // cycles, 2), 8)
    results = stimulus.few_y_beats
    return Stops(
        cycles=cycles,
        late=sorted({results // 2, *range(1, last + 1)} & set(range(1, results))),
        fills=_fills(design, stimulus),
    )


def _fills(design: NetworkDesign, stimulus: NetworkStimulus) -> Fills:
    image, stages = design.assembly.image_cycles, len(design.assembly.nodes)
    rest = image * (1 if design.assembly.exact else 2) + _SETTLES
    return Fills(
        count=min(max(_FILL_CYCLES // (image + rest), _LEAST_FILLS), _MOST_FILLS),
        rest=rest,
        limit=rest * (stages + 1) * 8,
        a_image=design.unit_beats,
        y_image=len(stimulus.y_beats) // stimulus.images,
        buffers=design.assembly.pipeline.buffers,
    )


def _fill_cycles(image: int, stimulus: NetworkStimulus) -> int:
    """Cycles that bring enough images for a stopped receiver to stop all stages, at least in small networks."""
    return stimulus.few * image // 2 + image


def _trials(design: NetworkDesign, full: int) -> list[Trial]:
    """Resets of each length in all parts of an image, half of them under stalls, each so late that results of the first
    image after the one before were seen. Between them are resets after a misplaced tlast, and before them resets of
    stages that are `full` after a number of cycles.
    """
    image = design.assembly.image_cycles
    count = min(max(_RESET_CYCLES * 4 // (9 * image), 7), image)
    places = _strays(design.unit_beats)[: max(count // 6, 2)]
    strayed = [
        Trial(until=7 * image // 4 + _ERROR_CYCLES, cycles=RESET_LENGTHS[index % 3], kind=Kind.STRAY, stray=beat)
        for index, beat in enumerate(places)
    ]
    stopped = [Trial(until=full, cycles=cycles, kind=Kind.STOPPED) for cycles in RESET_LENGTHS]
    count -= min(len(strayed), count // 6)
    others = [
        Trial(
            until=7 * image // 4 + index * image // count,
            cycles=RESET_LENGTHS[index % 3],
            kind=Kind.STALLS if index % 4 > 1 else Kind.FULL_RATE,
        )
        for index in range(count)
    ]
    first = [*stopped, *strayed]
    pairs = [each for pair in zip(first, others, strict=False) for each in pair]
    return [*pairs, *first[len(others) :], *others[len(first) :]]


def _strays(beats: int) -> list[int]:
    """Beats of the first two images, of `beats` each, with which no tlast may come: the last but one, which is too
    early, the one after the last, which is too late, and then others.
    """
    if beats == 1:
        return []
    ends = [beats - 2, beats]
    return [*ends, *(beat for beat in stray_beats(beats) if beat < beats and beat not in ends)]
