"""Contents of large read-only memories: their file, and the module that reads it, as Icarus does."""

from __future__ import annotations

import random

import numpy as np
import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from systoliq.hw.hierarchy import place
from systoliq.hw.rom import INLINE, Rom
from systoliq.hw.rom_file import hexadecimal
from systoliq.hw.verilog import Verilog, emit_verilog, files_of

from .bench import icarus


class Placed(wiring.Component):
    """Roms side by side, as a parent places them."""

    def __init__(self, *roms):
        self.roms = roms
        words = {f"word_{i}": Out(len(rom.word)) for i, rom in enumerate(roms)}
        super().__init__({"address": In(roms[0].address.shape()), **words})

    def elaborate(self, platform):
        m = Module()
        for i, rom in enumerate(self.roms):
            m.submodules[f"rom_{i}"] = place(rom, platform)
            m.d.comb += [rom.address.eq(self.address), getattr(self, f"word_{i}").eq(rom.word)]
        return m


def words_of(count, width):
    rng = random.Random(width)
    return [0, (1 << width) - 1, *(rng.getrandbits(width) for _ in range(count - 2))]


@pytest.mark.parametrize("width", [1, 3, 4, 5, 8, 9, 64, 65, 130])
def test_a_line_of_digits_for_each_word(width):
    words = words_of(40, width)
    rom = Rom(words, width, cells="portable", kind="rom")
    assert hexadecimal(rom.words, width).decode() == "".join(f"{word:0{-(-width // 4)}x}\n" for word in words)


@pytest.mark.simulator
@pytest.mark.parametrize(("cells", "count"), [("portable", 1200), ("ice40", 5000), ("ecp5", 16385)])
def test_icarus_shows_the_word_at_every_kind_of_address(tmp_path, cells, count):
    contents = [words_of(count, width) for width in (7, 70)]
    roms = [Rom(words, width, cells=cells, kind=f"r{width}") for words, width in zip(contents, (7, 70), strict=True)]
    rng = random.Random(count)
    order = [
        count - 1,
        0,
        *(1 << bit for bit in range((count - 1).bit_length())),
        *(rng.randrange(count) for _ in "0" * 40),
    ]
    shown = icarus(Placed(*roms), [{"address": address} for address in order], "portable", tmp_path)
    assert sorted(file.name for file in tmp_path.glob("*.mem")) == ["dut_r7.mem", "dut_r70.mem"]
    latency = 1 if cells == "ice40" else 2
    assert {rom.latency for rom in roms} == {latency}
    for cycle in range(latency, len(order)):
        wanted = {f"word_{i}": words[order[cycle - latency]] for i, words in enumerate(contents)}
        assert {name: shown[cycle][name] for name in wanted} == wanted, cycle


def test_as_many_as_before_stand_in_the_text():
    few, many = (Placed(Rom(words_of(n, 8), 8, cells="portable", kind="rom")) for n in (INLINE // 8, INLINE // 8 + 1))
    inline, apart = emit_verilog(few, "top"), emit_verilog(many, "top")
    assert not inline.files
    assert inline.count("    memory[") == INLINE // 8
    assert apart.count("memory[") == 1
    assert apart.files == {"top_rom.mem": b"".join(b"%02x\n" % word for word in words_of(INLINE // 8 + 1, 8))}
    assert 'initial $readmemh("top_rom.mem", memory);' in apart


def test_memories_of_one_kind_are_one_module_with_one_file():
    text = emit_verilog(Placed(*(Rom(words_of(2000, 8), 8, cells="portable", kind="rom") for _ in range(3))), "top")
    assert text.count("module top_rom(") == 1
    assert list(text.files) == ["top_rom.mem"]
    other = [Rom(words_of(2000, 8)[::step], 8, cells="portable", kind="rom") for step in (1, -1)]
    with pytest.raises(RuntimeError, match="kind must be another one for other hardware"):
        emit_verilog(Placed(*other), "top")


def test_files_stay_with_a_text_that_is_added_to():
    text = Verilog("module a; endmodule\n", {"a.mem": b"0\n"})
    text += "module b; endmodule\n"
    assert files_of(text) == {"a.mem": b"0\n"}
    assert files_of(text.replace("b", "c")) == {}
    assert np.array_equal(Rom(words_of(9, 70), 70, cells="portable", kind="rom").words[1], [255] * 8 + [63])
