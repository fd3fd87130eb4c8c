"""Memory in a testbench, behind AXI4 ports that read it and one that writes it: the rules of the bus are checked.

All share the registers `memory [0:WORDS-1]`, of <bus_bytes> bytes each. While `memory_stalls` is 1 they pause; words
from `broken_from` to before `broken_to`, and those beyond the memory, are answered with an error.
"""

from __future__ import annotations

from systoliq.hw.dma.axi4 import BURST_BEATS, INCR

from .text import fill

__all__ = ["MemoryReader", "MemoryWriter"]

_PLACES = 8  # bursts that a port may have under way
_OPEN = 6  # open bursts at which ready falls: one more comes before the other side sees it

_BURSTS = """\
      if (<<p>>_a<<c>>valid && <<p>>_a<<c>>ready) begin
        <<p>>_at[<<p>>_asked[2:0]] <= <<p>>_a<<c>>addr / BUS_BYTES;
        <<p>>_size[<<p>>_asked[2:0]] <= <<p>>_a<<c>>len;
        <<p>>_asked <= <<p>>_asked + 4'd1;
        if ((<<p>>_a<<c>>len >= <<beats>> || <<p>>_a<<c>>burst !== 2'd<<incr>> || (1 << <<p>>_a<<c>>size) != BUS_BYTES
             || <<p>>_a<<c>>addr % BUS_BYTES != 0 || <<p>>_a<<c>>id !== 1'b0
             || <<p>>_a<<c>>addr % 4096 + ({24'd0, <<p>>_a<<c>>len} + 1) * BUS_BYTES > 4096) && !done) begin
          $display("FAIL: <<p>>: a burst of %0d beats at %h is not one of whole beats within 4 KiB (phase %0d)",
                   {24'd0, <<p>>_a<<c>>len} + 1, <<p>>_a<<c>>addr, phase);
          finish;
        end
      end
      <<p>>_a<<c>>ready <= <<p>>_open < 4'd<<open>> && !(memory_stalls && random[<<bit>>+:2] != 2'd0);
      <<p>>_offered <= <<p>>_a<<c>>valid && !<<p>>_a<<c>>ready;
      <<p>>_offer <= {<<p>>_a<<c>>addr, <<p>>_a<<c>>len};
      if (((<<p>>_offered && {<<p>>_a<<c>>valid, <<p>>_a<<c>>addr, <<p>>_a<<c>>len} !== {1'b1, <<p>>_offer})
           || (^{<<checked>>}) === 1'bx) && !done) begin
        $display("FAIL: <<p>>: a burst changed while it was waiting, or is neither 0 nor 1 (phase %0d)", phase);
        finish;
      end"""

_DECLARATIONS = """\
  // Behind <<p>>: bursts that came, and how far the first of them is.
  reg [31:0] <<p>>_at [0:<<places>>-1];
  reg [7:0] <<p>>_size [0:<<places>>-1];
  reg [3:0] <<p>>_asked = 4'd0;
  reg [3:0] <<p>>_done = 4'd0;
  reg [7:0] <<p>>_beat = 8'd0;
  reg <<p>>_offered = 1'b0;
  reg [39:0] <<p>>_offer = 40'd0;
  wire [31:0] <<p>>_word = <<p>>_at[<<p>>_done[2:0]] + {24'd0, <<p>>_beat};
  wire <<p>>_last = <<p>>_beat == <<p>>_size[<<p>>_done[2:0]];
  wire <<p>>_fails = <<p>>_word >= WORDS || (<<p>>_word >= broken_from && <<p>>_word < broken_to);"""

_READER = """
      if (!<<p>>_rvalid || <<p>>_rready) begin
        <<p>>_rvalid <= <<p>>_asked != <<p>>_done && !(memory_stalls && random[<<data_bit>>+:2] != 2'd0);
        <<p>>_rdata <= ~<<p>>_rdata;  // what comes without rvalid must not matter
        if (<<p>>_asked != <<p>>_done && !(memory_stalls && random[<<data_bit>>+:2] != 2'd0)) begin
          <<p>>_rdata <= memory[<<p>>_word];
          <<p>>_rresp <= <<p>>_fails ? 2'd2 : 2'd0;
          <<p>>_rlast <= <<p>>_last;
          <<p>>_beat <= <<p>>_last ? 8'd0 : <<p>>_beat + 8'd1;
          if (<<p>>_last) <<p>>_done <= <<p>>_done + 4'd1;
        end
      end"""

_WRITER_DECLARATIONS = """
  reg [3:0] <<p>>_answered = 4'd0;
  reg <<p>>_failed [0:<<places>>-1];  // a beat of the burst did
  reg <<p>>_fault = 1'b0;
  reg <<p>>_takes = 1'b0;
  wire <<p>>_wready = <<p>>_takes && <<p>>_asked != <<p>>_done;
  reg [8*BUS_BYTES-1:0] <<p>>_merged;"""

_WRITER = """
      <<p>>_takes <= !(memory_stalls && random[<<data_bit>>+:2] != 2'd0);
      if (<<p>>_wvalid && <<p>>_wready) begin
        <<p>>_merged = memory[<<p>>_word];
        for (place = 0; place < BUS_BYTES; place = place + 1)
          if (<<p>>_wstrb[place]) <<p>>_merged[8*place+:8] = <<p>>_wdata[8*place+:8];
        if (!<<p>>_fails) memory[<<p>>_word] = <<p>>_merged;
        <<p>>_failed[<<p>>_done[2:0]] <= <<p>>_fails || <<p>>_fault;
        <<p>>_fault <= (<<p>>_fails || <<p>>_fault) && !<<p>>_last;
        <<p>>_beat <= <<p>>_last ? 8'd0 : <<p>>_beat + 8'd1;
        if (<<p>>_last) <<p>>_done <= <<p>>_done + 4'd1;
        if (<<p>>_wlast !== <<p>>_last && !done) begin
          $display("FAIL: <<p>>: beat %0d of a burst of %0d: expected wlast %b, got %b (phase %0d)", <<p>>_beat,
                   {24'd0, <<p>>_size[<<p>>_done[2:0]]} + 1, <<p>>_last, <<p>>_wlast, phase);
          finish;
        end
      end
      if (!<<p>>_bvalid || <<p>>_bready) begin
        <<p>>_bvalid <= <<p>>_answered != <<p>>_done && !(memory_stalls && random[<<answer_bit>>+:2] != 2'd0);
        <<p>>_bresp <= <<p>>_failed[<<p>>_answered[2:0]] ? 2'd2 : 2'd0;
        if (<<p>>_answered != <<p>>_done && !(memory_stalls && random[<<answer_bit>>+:2] != 2'd0))
          <<p>>_answered <= <<p>>_answered + 4'd1;
      end"""


class MemoryReader:
    """The Verilog behind the AXI4 master port `prefix` that reads; `random_bit` says which random bits it pauses by."""

    def __init__(self, prefix: str, *, random_bit: int) -> None:
        self.prefix = prefix
        self._bit = random_bit

    @property
    def declarations(self) -> str:
        """Registers in addition to the port's."""
        return fill(_DECLARATIONS, p=self.prefix, places=_PLACES)

    @property
    def in_reset(self) -> str:
        """Nothing is under way."""
        return _cleared(self.prefix, "arready", "rvalid")

    @property
    def step(self) -> str:
        """A cycle."""
        p = self.prefix
        checked = f"{p}_arvalid, {p}_rready"
        asked = _bursts(p, "r", self._bit, f"({p}_asked - {p}_done)", checked)
        return asked + fill(_READER, p=p, data_bit=(self._bit + 9) % 30)


class MemoryWriter:
    """The Verilog behind the AXI4 master port `prefix` that writes; `random_bit` as for `MemoryReader`."""

    def __init__(self, prefix: str, *, random_bit: int) -> None:
        self.prefix = prefix
        self._bit = random_bit

    @property
    def declarations(self) -> str:
        """Registers in addition to the port's, and its wready."""
        return fill(_DECLARATIONS + _WRITER_DECLARATIONS, p=self.prefix, places=_PLACES)

    @property
    def in_reset(self) -> str:
        """Nothing is under way."""
        p = self.prefix
        more = [f"      {p}_answered <= 4'd0;", f"      {p}_fault <= 1'b0;", f"      {p}_takes <= 1'b0;"]
        return "\n".join([_cleared(p, "awready", "bvalid"), *more])

    @property
    def step(self) -> str:
        """A cycle."""
        p = self.prefix
        checked = f"{p}_awvalid, {p}_wvalid, {p}_bready"
        asked = _bursts(p, "w", self._bit, f"({p}_asked - {p}_answered)", checked)
        return asked + fill(_WRITER, p=p, data_bit=(self._bit + 9) % 30, answer_bit=(self._bit + 17) % 30)


def _bursts(prefix: str, channel: str, bit: int, under_way: str, checked: str) -> str:
    """Bursts are taken, and must be as they should be."""
    text = _BURSTS.replace("<<p>>_open <", f"{under_way} <")
    return fill(text, p=prefix, c=channel, beats=BURST_BEATS, incr=INCR, open=_OPEN, bit=bit, checked=checked)


def _cleared(prefix: str, *valid: str) -> str:
    names = [*((name, "1'b0") for name in (*valid, "offered")), *((name, "4'd0") for name in ("asked", "done"))]
    return "\n".join(f"      {prefix}_{name} <= {value};" for name, value in [*names, ("beat", "8'd0")])
