"""Both ends of a design's streams in its testbench: senders and a receiver, both with random stalls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass

from .beats import Beat
from .text import calls, fill, literal

__all__ = ["PAUSES", "Receiver", "Sender"]

PAUSES = 2500
"""Cycles that nothing takes longer by random stalls: pauses of up to 255, one after the other."""

_PAUSE = """\
      if (<<s>>_pause != 8'd0) <<s>>_pause <= <<s>>_pause - 8'd1;
      else if (random[31:26] == 6'd0) <<s>>_pause <= random[25:18] >> random[17:15];
"""

_SENDER = """\
      <<s>>_index <= <<s>>_next;
      if (!s_axis_<<s>>_tvalid || s_axis_<<s>>_tready) begin
        if (<<s>>_next < <<end>><<waits>> && !(senders_stall && (random[<<bit>>+:2] != 2'd0<<paused>>))) begin
          s_axis_<<s>>_tvalid <= 1'b1;
          <<port>> <= <<s>>_data[<<at>>];<<last>>
        end else begin
          s_axis_<<s>>_tvalid <= 1'b0;
          <<port>> <= ~<<port>>;  // what comes without tvalid must not matter<<not_last>>
        end
      end"""

_FEW = """
  localparam <<S>>_FEW = <<few>>;  // beats of phases 2 and up
  wire [31:0] <<s>>_end = phase < 3'd2 ? <<S>>_BEATS : <<S>>_FEW;"""

_LAPS = """
  localparam <<S>>_FEW = <<few>>;  // beats of phases 2 and up; phase 5 has them again and again
  wire [31:0] <<s>>_end = phase < 3'd2 ? <<S>>_BEATS : phase == 3'd5 ? a_images * <<S>>_IMAGE : <<S>>_FEW;"""

_SENDER_DECLARATIONS = """\
  localparam <<S>>_BEATS = <<beats>>;
  reg [<<top>>:0] <<s>>_data [0:<<S>>_BEATS-1];<<last_memory>>
  reg [<<data_top>>:0] s_axis_<<s>>_tdata = <<data_width>>'d0;<<user_port>>
  reg s_axis_<<s>>_tvalid = 1'b0;
  wire s_axis_<<s>>_tready;<<last_port>>
  integer <<s>>_index = 0;<<pause>><<few>>
  wire [31:0] <<s>>_next = <<s>>_index + (s_axis_<<s>>_tvalid && s_axis_<<s>>_tready ? 32'd1 : 32'd0);"""


@dataclass(frozen=True)
class Sender:
    """The Verilog that sends `beats` on the stream s_axis_<letter>, `width` bits wide.

    `few` of them are sent in phases 2 and up, None where these have all, too. Its counter stops at `end`: a register of
    this name if beats are sent in pieces, else None. If `user_width` is not 0, the words hold `user_width` bits of
    tuser above tdata. With `pauses` stalls have some of up to 255 cycles, in which all that waits is used up. With
    `strays` the tlast of a beat is turned over: the one whose number plus `strays` is `stray`, a wire of the testbench.
    With `waits` the next beat waits for a wire <letter>_waits there. With `laps` the few beats are sent again and again
    in phase 5, as `Fills` says.
    """

    letter: str
    beats: Sequence[Beat]
    width: int
    _: KW_ONLY
    has_last: bool
    random_bit: int
    few: int | None = None
    end: str | None = None
    user_width: int = 0
    strays: int | None = None
    pauses: bool = False
    waits: bool = False
    laps: bool = False

    @property
    def _word_width(self) -> int:
        return self.width + self.user_width

    @property
    def _last(self) -> str:
        """The number of beats at which the counter stops, in Verilog."""
        return self.end or (f"{self.letter.upper()}_BEATS" if self.few is None else f"{self.letter}_end")

    @property
    def declarations(self) -> str:
        """Memories, ports and counters."""
        s, has_last = self.letter, self.has_last
        return fill(
            _SENDER_DECLARATIONS,
            s=s,
            S=s.upper(),
            beats=len(self.beats),
            top=self._word_width - 1,
            data_top=self.width - 1,
            data_width=self.width,
            user_port=f"\n  reg [{self.user_width - 1}:0] s_axis_{s}_tuser = {self.user_width}'d0;"
            if self.user_width
            else "",
            last_memory=f"\n  reg {s}_last [0:{s.upper()}_BEATS-1];" if has_last else "",
            pause=f"\n  reg [7:0] {s}_pause = 8'd0;" if self.pauses else "",
            few="" if self.few is None else fill(_LAPS if self.laps else _FEW, s=s, S=s.upper(), few=self.few),
            last_port=f"\n  reg s_axis_{s}_tlast = 1'b0;" if has_last else "",
        )

    @property
    def step(self) -> str:
        """Actions of a cycle."""
        s, has_last = self.letter, self.has_last
        stray = "" if self.strays is None else f" ^ ({self._index(f'{s}_next')} == stray)"
        pause = fill(_PAUSE, s=s) if self.pauses else ""
        at = f"phase == 3'd5 ? {s}_next % {s.upper()}_FEW : {s}_next" if self.laps else f"{s}_next"
        return pause + fill(
            _SENDER,
            s=s,
            paused=f" || {s}_pause != 8'd0" if self.pauses else "",
            port=f"{{s_axis_{s}_tuser, s_axis_{s}_tdata}}" if self.user_width else f"s_axis_{s}_tdata",
            end=self._last,
            at=at,
            waits=f" && !{s}_waits" if self.waits else "",
            bit=self.random_bit,
            last=f"\n          s_axis_{s}_tlast <= {s}_last[{at}]{stray};" if has_last else "",
            not_last=f"\n          s_axis_{s}_tlast <= !s_axis_{s}_tlast;" if has_last else "",
        )

    @property
    def taken(self) -> str:
        """True if a beat is taken."""
        return f"s_axis_{self.letter}_tvalid && s_axis_{self.letter}_tready"

    @property
    def strayed(self) -> str:
        """True if the beat whose tlast was turned over is taken."""
        return f"({self.taken} && {self._index(f'{self.letter}_index')} == stray)"

    def _index(self, name: str) -> str:
        """The beat that the counter `name` is at, as `stray` counts them."""
        return f"{name} + 32'd{self.strays}" if self.strays else name

    @property
    def in_reset(self) -> str:
        """Actions in reset, in which inputs may not matter."""
        s, bit = self.letter, self.random_bit
        last = f"\n      s_axis_{s}_tlast <= random[{bit + 1}];" if self.has_last else ""
        return f"      s_axis_{s}_tvalid <= in_reset != 3'd1 && random[{bit}];{last}\n      {self.again.strip()}"

    @property
    def reset(self) -> str:
        """Actions of an immediate stop."""
        return f"      s_axis_{self.letter}_tvalid <= 1'b0;\n      {self.again.strip()}"

    @property
    def again(self) -> str:
        """Actions of a restart."""
        return f"          {self.letter}_index <= 0;"

    @property
    def task(self) -> str:
        """The task that `contents` calls: one beat into the memories."""
        s = self.letter
        last = f", input last); begin {s}_last[i] = last;" if self.has_last else "); begin"
        return f"  task {s}(input [{self._word_width - 1}:0] data{last} {s}_data[i] = data; i = i + 1; end endtask"

    @property
    def contents(self) -> str:
        """The beats."""
        statements = (
            f"{self.letter}({literal(beat.word, self._word_width)}{f', {int(beat.last)}' if self.has_last else ''});"
            for beat in self.beats
        )
        return "    i = 0;\n" + calls(statements)


_RECEIVER_DECLARATIONS = """\
<<wires>>
  wire m_axis_<<y>>_tvalid;
  reg m_axis_<<y>>_tready = 1'b0;
  reg [7:0] <<p>>pause = 8'd0;
  wire [<<top>>:0] <<p>>offered = {<<names>>};
  reg <<p>>held = 1'b0;  // a beat was offered and not taken
  reg [<<top>>:0] <<p>>held_beat = <<width>>'d0;"""

_RECEIVER = """\
      m_axis_<<y>>_tready <= !receiver_stops && (!receiver_stalls || (<<p>>pause == 8'd0 && random[<<bit>>]));
      if (<<p>>pause != 8'd0) <<p>>pause <= <<p>>pause - 8'd1;
      else if (receiver_stalls && random[13:10] == 4'd<<when>>) <<p>>pause <= random[21:14] >> random[24:22];
      <<p>>held <= m_axis_<<y>>_tvalid && !m_axis_<<y>>_tready;
      <<p>>held_beat <= <<p>>offered;
      if (<<p>>held && {m_axis_<<y>>_tvalid, <<p>>offered} !== {1'b1, <<p>>held_beat} && !done) begin
        $display("FAIL: result %0d<<which>> changed while it was waiting for tready (phase %0d)", <<taken>>, phase);
        finish;
      end"""


class Receiver:
    """The Verilog that takes m_axis_<letter>, and checks that an offer stays until it is taken.

    `signals` are those that go with tvalid and tready, with their widths; `receiver_stops` in the testbench takes
    nothing. Results are counted in `taken`, or in <letter>_taken where `index` is the place among several outputs,
    which stall at different times.
    """

    def __init__(self, signals: Mapping[str, int], letter: str = "y", index: int | None = None) -> None:
        self._letter = letter
        self._index = index
        self._prefix = "" if index is None else f"{letter}_"
        self._signals = {f"m_axis_{letter}_{name}": width for name, width in signals.items()}

    @property
    def declarations(self) -> str:
        """Ports, and the previous offer."""
        width = sum(self._signals.values())
        return fill(
            _RECEIVER_DECLARATIONS,
            y=self._letter,
            p=self._prefix,
            wires="\n".join(
                f"  wire {f'[{bits - 1}:0] ' if bits > 1 else ''}{name};" for name, bits in self._signals.items()
            ),
            names=", ".join(reversed(self._signals)),
            top=width - 1,
            width=width,
        )

    @property
    def step(self) -> str:
        """Actions of a cycle."""
        index = self._index or 0
        return fill(
            _RECEIVER,
            y=self._letter,
            p=self._prefix,
            bit=9 + index % 20,
            when=index % 16,
            taken=f"{self._prefix}taken",
            which="" if self._index is None else f" of m_axis_{self._letter}",
        )

    @property
    def reset(self) -> str:
        """Actions of a reset."""
        bit = 9 + (self._index or 0) % 20
        return f"      m_axis_{self._letter}_tready <= random[{bit}];\n      {self._prefix}held <= 1'b0;"
