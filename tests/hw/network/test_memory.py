"""Memories: blocks of each family."""

from __future__ import annotations

import pytest

from systoliq.hw.network.memory import Memory
from systoliq.synth.families import FAMILIES


def test_blocks_of_a_memory():
    """DP16KD: 1024 x 18, 2048 x 9, 4096 x 4 and so on, as Lattice's TN1264 has it."""
    blocks = {(1024, 18): 1, (1024, 19): 2, (1025, 9): 1, (2048, 10): 2, (4096, 9): 3, (16384, 8): 8, (65, 1): 1}
    assert {key: Memory(*key).blocks("ecp5") for key in blocks} == blocks
    assert [Memory(words, 17).blocks("ecp5") for words in (32, 33)] == [0, 1]
    assert [Memory(64, bits).blocks("ecp5") for bits in (16, 17)] == [0, 1]
    assert [Memory(words, 65, constant=True).blocks("ecp5-lut") for words in (64, 65)] == [0, 2]
    assert Memory(1024, 18, count=5).blocks("ecp5") == 5


# Written memories: words, bits, and the blocks that Yosys takes; SB_RAM40_4K, 256 x 16 and so on; PDP16K, 512 x 36;
# CC_BRAM_20K, 512 x 40.
INFERRED = {
    "ice40": {(256, 16): 1, (256, 17): 2, (512, 8): 1, (640, 8): 2, (2048, 2): 1, (4096, 2): 2, (4, 10): 0},
    "nexus": {(512, 36): 1, (512, 37): 2, (1024, 18): 1, (4096, 8): 2, (16, 36): 0},
    "gatemate": {(512, 40): 1, (512, 41): 2, (2048, 10): 1, (8192, 8): 4, (4, 10): 0},
}


@pytest.mark.parametrize("family", INFERRED)
def test_blocks_that_yosys_infers(family):
    memories, blocks = FAMILIES[family].sizes.memories, INFERRED[family]
    assert {key: memories.of(*key, constant=False) for key in blocks} == blocks


def test_blocks_of_constant_words():
    """Both ports of a DP16KD read: 512 x 36; 2,560 = 2,048 + 512 words; what 640 and 768 words have beyond 512 shares a
    block of 512; a few bits in lookup tables.
    """
    blocks = {(512, 36): 1, (512, 72): 2, (1024, 36): 2, (2560, 36): 5, (640, 144): 5, (768, 72): 3, (192, 48): 1,
              (192, 60): 2, (256, 8): 0, (16384, 8): 8}  # fmt: skip
    assert {key: Memory(*key, constant=True).blocks("ecp5") for key in blocks} == blocks
    assert Memory(768, 72, constant=True, count=2).blocks("ecp5") == 6
