"""Memories: blocks of each family."""

from __future__ import annotations

from systoliq.hw.network.memory import Memory


def test_blocks_of_a_memory():
    """DP16KD: 1024 x 18, 2048 x 9, 4096 x 4 and so on, as Lattice's TN1264 has it; SB_RAM40_4K: 256 x 16 ..."""
    blocks = {(1024, 18): 1, (1024, 19): 2, (1025, 9): 1, (2048, 10): 2, (4096, 9): 3, (16384, 8): 8, (33, 1): 1}
    assert {key: Memory(*key).blocks("ecp5") for key in blocks} == blocks
    assert [Memory(words, 8).blocks("ecp5") for words in (32, 33)] == [0, 1]
    assert [Memory(words, 8, constant=True).blocks("ecp5-lut") for words in (64, 65)] == [0, 1]
    blocks = {(256, 16): 1, (256, 17): 2, (512, 8): 1, (640, 8): 2, (2048, 2): 1, (4096, 2): 2, (4, 10): 0}
    assert {key: Memory(*key).blocks("ice40") for key in blocks} == blocks
    assert Memory(1024, 18, count=5).blocks("ecp5") == 5
