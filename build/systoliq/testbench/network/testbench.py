"""The plain Verilog testbench of a network: images in, results out, compared with golden's answer."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from systoliq.hw.axi import axi_bits
from systoliq.hw.network.assembly import Assembly
from systoliq.hw.network.operators import operator_of
from systoliq.sim.cosimulation.network import beat_bits, beat_lanes

from ...design.network.design import NetworkDesign
from ..fills import Fills
from ..frame import Frame
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
_RANDOM_BITS = (3, 5, 25, 27, 29, 7)  # of the senders' stalls, by the places of their inputs
_ERROR_CYCLES = 16  # from a misplaced tlast to the end of its trial, at least

_STRAYS = 24  # bits of the place of a beat, with which its input's number stands in that of a misplaced tlast

_OUTPUT = """\
  localparam <<Y>>_RESULTS = <<results>>;  // of this output
  localparam <<Y>>_FEW = <<few>>;
  localparam <<Y>>_BEATS = <<beats>>;  // of an image's results
  localparam <<Y>>_FIRST = <<first>>;  // cycles from the first beat of an image to the first result
  localparam <<Y>>_LAST = <<last>>;  // and to the last
  reg [<<top>>:0] <<y>>_data [0:<<Y>>_RESULTS-1];
  reg <<y>>_lasts [0:<<Y>>_RESULTS-1];
  task <<y>>(input [<<top>>:0] data, input last);
    begin <<y>>_data[i] = data; <<y>>_lasts[i] = last; i = i + 1; end
  endtask

<<receiver>>
  integer <<y>>_taken = 0;  // results of this output in this phase
  integer <<y>>_image_end = 0;
  integer <<y>>_first = 0;  // as measured
  integer <<y>>_last = 0;
  wire <<y>>_moves = m_axis_<<y>>_tvalid && m_axis_<<y>>_tready;
  wire [31:0] <<y>>_end = phase == 3'd0 ? <<Y>>_RESULTS : phase == 3'd5 ? a_images * <<Y>>_BEATS : <<Y>>_FEW;
  wire [31:0] <<y>>_at = phase == 3'd5 ? <<y>>_taken % <<Y>>_FEW : <<y>>_taken;
"""

_DECLARATIONS = """\
<<tasks>>

<<outputs>>
  wire error;
  wire strays = resets && kind == 2'd<<stray>>;  // the results' tlast may follow A's
  reg strayed = 1'b0;  // a tlast came in the wrong place
  reg error_due = 1'b0;
  wire [31:0] latency = cycle - first_cycle;  // since the first image began

  <<name>> dut (
    .clk(clk),
    .rst(rst),
<<connections>>
    .error(error)
  );"""

_STEP = """\
      if ((^{<<handshake>>}) === 1'bx && !done) begin
        $display("FAIL: tvalid %b, tready %b: must be 0 or 1 (phase %0d)", {<<valids>>}, {<<readies>>}, phase);
        finish;
      end
      if (phase == 3'd0 && <<first_taken>>) first_cycle <= cycle;
      strayed <= strayed || <<strayed>>;
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
      checked <= checked + <<checks>>;
      taken <= taken + <<takes>>;"""

_OUTPUT_STEP = """\
<<receiver>>
      if (<<y>>_moves) begin
        if (<<y>>_taken < <<y>>_end) begin
          if ((m_axis_<<y>>_tdata !== <<y>>_data[<<y>>_at] || (m_axis_<<y>>_tlast !== <<y>>_lasts[<<y>>_at] && !strays))
              && !done) begin
            $display("FAIL: image %0d beat %0d<<which>>: expected %h tlast %b, got %h tlast %b (phase %0d)",
                     <<y>>_taken / <<Y>>_BEATS, <<y>>_taken % <<Y>>_BEATS, <<y>>_data[<<y>>_at], <<y>>_lasts[<<y>>_at],
                     m_axis_<<y>>_tdata, m_axis_<<y>>_tlast, phase);
            finish;
          end
        end else if (!done) begin
          $display("FAIL: more than %0d beats<<which>> came (phase %0d)", <<y>>_end, phase);
          finish;
        end
        <<y>>_taken <= <<y>>_taken + 1;
        if (phase == 3'd0 && <<y>>_taken == 0) <<y>>_first <= latency;
        if (phase == 3'd0 && <<y>>_taken == <<Y>>_BEATS - 1) <<y>>_last <= latency;
        if (phase == 3'd0 && !done && ((<<y>>_taken == 0 && latency != <<Y>>_FIRST)
            || (<<y>>_taken == <<Y>>_BEATS - 1 && latency != <<Y>>_LAST))) begin
          $display("FAIL: expected result %0d of the first image<<which>> %0d cycles after it began, got it after %0d",
                   <<y>>_taken, <<y>>_taken == 0 ? <<Y>>_FIRST : <<Y>>_LAST, latency);
          finish;
        end<<pace>>
      end"""

_PACE = """
        if (m_axis_<<y>>_tlast) <<y>>_image_end <= cycle;
        if (phase == 3'd0 && <<y>>_taken == <<Y>>_RESULTS - 1 && cycle - <<y>>_image_end <<differs>> MODEL_CYCLES
            && !done) begin
          $display("FAIL: expected <<expected>> cycles from image to image<<which>>, got %0d", MODEL_CYCLES,
                   cycle - <<y>>_image_end);
          finish;
        end"""

_END = """
            $display("Latency<<which>>: the first result %0d cycles after the first beat of an image, the last %0d",
                     <<y>>_first, <<y>>_last);"""


def network_testbench(design: NetworkDesign) -> str:
    """Return Verilog of module `<name>_tb`, which holds its stimulus and needs nothing else."""
    stimulus = network_stimulus(design)
    assembly = design.assembly
    senders = [_sender(design, stimulus, index, letter) for index, letter in enumerate(assembly.inputs)]
    outputs = [_Output(design, stimulus, letter) for letter in assembly.outputs]
    quiet = assembly.image_cycles // 4 + 200
    valids = [f"m_axis_{letter}_tvalid" for letter in assembly.outputs]
    readies = [f"s_axis_{letter}_tready" for letter in assembly.inputs]
    resets = [each.receiver.reset for each in outputs]
    resets += [f"      {letter}_taken <= 0;" for letter in assembly.outputs]
    return Frame(
        name=design.name,
        memories=design.verilog.files,
        story=_story(stimulus),
        senders=senders,
        results=stimulus.results * stimulus.images,
        cycles=assembly.image_cycles,
        quiet=quiet,
        few=stimulus.results * stimulus.few,
        idle=assembly.image_cycles * (1 + len(assembly.nodes)) + PAUSES,
        trials=_trials(design, _fill_cycles(assembly, stimulus)),
        stops=_stops(design, stimulus),
        handover=None,
        rounds=1,
        outputs=[(name, 1) for name in valids],
        moves="(" + " || ".join(f"{letter}_moves" for letter in assembly.outputs) + ")",
        declarations=fill(
            _DECLARATIONS,
            tasks="\n".join(sender.task for sender in senders),
            outputs="\n".join(each.declarations for each in outputs),
            name=design.name,
            connections="\n".join(_connections(assembly)),
            stray=Kind.STRAY.value,
        ),
        step=fill(
            _STEP,
            handshake=", ".join((*valids, *readies)),
            valids=", ".join(valids),
            readies=", ".join(readies),
            first_taken=f"{senders[0].taken} && {senders[0].letter}_index == 0",
            strayed=" || ".join(sender.strayed for sender in senders),
            checks=" + ".join(f"({each.letter}_moves ? {each.lanes} : 0)" for each in outputs),
            takes=" + ".join(f"({each.letter}_moves ? 1 : 0)" for each in outputs),
        )
        + "\n"
        + "\n".join(each.step for each in outputs),
        reset="\n".join([*resets, "      strayed <= 1'b0;", "      error_due <= 1'b0;"]),
        again="\n".join(f"          {letter}_taken <= 0;" for letter in assembly.outputs),
        after_pass="\n".join(each.after_pass for each in outputs),
        contents="\n".join(each.contents for each in outputs),
    ).text


def _sender(design: NetworkDesign, stimulus: NetworkStimulus, index: int, letter: str) -> Sender:
    """The sender of the input with this place."""
    assembly, beats = design.assembly, stimulus.inputs[letter]
    return Sender(
        letter,
        beats,
        axi_bits(beat_bits(assembly, assembly.inputs[letter])),
        has_last=True,
        random_bit=_RANDOM_BITS[index % len(_RANDOM_BITS)],
        few=stimulus.each(beats) * stimulus.few,
        strays=index << _STRAYS,
        laps=True,
    )


def _connections(assembly: Assembly) -> Iterator[str]:
    streams = [
        *(f"s_axis_{letter}" for letter in assembly.inputs),
        *(f"m_axis_{letter}" for letter in assembly.outputs),
    ]
    for each in streams:
        for signal in ("tdata", "tvalid", "tready", "tlast"):
            yield f"    .{each}_{signal}({each}_{signal}),"


class _Output:
    """The Verilog that takes and checks the results of the output `letter`."""

    def __init__(self, design: NetworkDesign, stimulus: NetworkStimulus, letter: str) -> None:
        assembly = design.assembly
        stream = assembly.outputs[letter]
        several = len(assembly.outputs) > 1
        self.letter = letter
        self.lanes = beat_lanes(assembly, stream)
        self._beats, self._stimulus = stimulus.outputs[letter], stimulus
        self._width = axi_bits(beat_bits(assembly, stream))
        self._which = f" of m_axis_{letter}" if several else ""
        self._paced = len(assembly.inputs) == 1 and stream in _paced(assembly)
        self._exact = assembly.exact
        self._latency = assembly.latency[letter]
        index = list(assembly.outputs).index(letter) if several else None
        self.receiver = Receiver({"tdata": self._width, "tlast": 1}, letter, index)

    @property
    def declarations(self) -> str:
        """Expected results, the port and counters."""
        each = self._stimulus.each(self._beats)
        return fill(
            _OUTPUT,
            y=self.letter,
            Y=self.letter.upper(),
            results=len(self._beats),
            few=each * self._stimulus.few,
            beats=each,
            top=self._width - 1,
            first=self._latency.first,
            last=self._latency.last,
            receiver=self.receiver.declarations,
        )

    @property
    def step(self) -> str:
        """The statements of a cycle."""
        names = {"y": self.letter, "Y": self.letter.upper(), "which": self._which}
        differs, expected = ("!=", "%0d") if self._exact else ("<", "at least %0d")
        pace = fill(_PACE, differs=differs, expected=expected, **names) if self._paced else ""
        return fill(_OUTPUT_STEP, receiver=self.receiver.step, pace=pace, **names)

    @property
    def after_pass(self) -> str:
        """After PASS: the latency as measured."""
        return fill(_END, y=self.letter, which=self._which)

    @property
    def contents(self) -> str:
        """The expected results."""
        beats = (f"{self.letter}({literal(beat.word, self._width)}, {int(beat.last)});" for beat in self._beats)
        return "    i = 0;\n" + calls(beats)


def _paced(assembly: Assembly) -> set[str]:
    """The streams behind a slowest stage, whose images come at its pace."""
    slowest = {
        node.output.name
        for node in assembly.nodes
        if operator_of(node).image_cycles(assembly.parallelism[node.name]) == assembly.image_cycles
    }
    for joint in assembly.pipeline.joints:
        if slowest & set(joint.inputs):
            slowest.add(joint.name)
    return slowest


def _story(stimulus: NetworkStimulus) -> str:
    sent = f"{stimulus.images} images are sent back to back, and all results are compared with the golden model's."
    if stimulus.images != stimulus.few:
        sent += f" Phases 2 and up have the first {stimulus.few} alone."
    return f"{sent} Phase 5 sends these again and again, so that the receiver's stops fill the buffers of the pipeline."


def _stops(design: NetworkDesign, stimulus: NetworkStimulus) -> Stops:
    """At half of the results, and at the last ones, for as long as fills all stages."""
    cycles = _fill_cycles(design.assembly, stimulus)
    last = min(max(_STOP_CYCLES // cycles, 2), 8)
    results = stimulus.results * stimulus.few
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
        inputs={letter: stimulus.each(beats) for letter, beats in stimulus.inputs.items()},
        y_image=stimulus.results,
        buffers=design.assembly.pipeline.buffers,
    )


def _fill_cycles(assembly: Assembly, stimulus: NetworkStimulus) -> int:
    """Cycles that bring enough images for a stopped receiver to stop all stages, at least in small networks."""
    image = assembly.image_cycles
    return image + max(stimulus.few * image // 2, _latency(assembly))


def _latency(assembly: Assembly) -> int:
    """Cycles from the first beat of an image to its last result, of any output."""
    return max(each.last for each in assembly.latency.values())


def _trials(design: NetworkDesign, full: int) -> list[Trial]:
    """Resets of each length in all parts of an image, half of them under stalls, each so late that results of the first
    image after the one before were seen. Where a result takes more cycles than images do, there are also later ones,
    until each stage has something to forget. Between them are resets after a misplaced tlast, and before them resets
    of stages that are `full` after a number of cycles.
    """
    image = design.assembly.image_cycles
    first_reset = 7 * image // 4
    span = image + max(_latency(design.assembly) - first_reset, 0)
    count = min(max(2 * _RESET_CYCLES // (2 * first_reset + span), 7), span * len(RESET_LENGTHS))
    places = _places(design.assembly)
    places = places[: max(count // 6, 2 * len(design.assembly.inputs))]
    strayed = [
        Trial(until=first_reset + _ERROR_CYCLES, cycles=RESET_LENGTHS[index % 3], kind=Kind.STRAY, stray=beat)
        for index, beat in enumerate(places)
    ]
    stopped = [Trial(until=full, cycles=cycles, kind=Kind.STOPPED) for cycles in RESET_LENGTHS]
    count -= min(len(strayed), count // 6)
    others = [
        Trial(
            until=first_reset + index * span // count,
            cycles=RESET_LENGTHS[index % 3],
            kind=Kind.STALLS if index % 4 > 1 else Kind.FULL_RATE,
        )
        for index in range(count)
    ]
    head = [*stopped, *strayed]
    pairs = [each for pair in zip(head, others, strict=False) for each in pair]
    return [*pairs, *head[len(others) :], *others[len(head) :]]


def _places(assembly: Assembly) -> list[int]:
    """Beats with which no tlast may come, each with the number of its input, for all inputs in turn.

    Where there are several inputs, an input takes the beats that its FIFO holds, whatever the others do.
    """
    inputs = zip(assembly.image_beats, assembly.pipeline.inputs, strict=True)
    found = [
        [(number << _STRAYS) + beat for beat in _strays(beats) if not inlet.waiting or beat <= inlet.waiting]
        for number, (beats, inlet) in enumerate(inputs)
    ]
    return [beat for row in itertools.zip_longest(*found) for beat in row if beat is not None]


def _strays(beats: int) -> list[int]:
    """Beats of the first two images, of `beats` each, with which no tlast may come: the last but one, which is too
    early, the one after the last, which is too late, and then others.
    """
    if beats == 1:
        return []
    ends = [beats - 2, beats]
    return [*ends, *(beat for beat in stray_beats(beats) if beat < beats and beat not in ends)]
