"""The protocol in Python: any content comes back, and what is broken is not taken for a frame."""

from __future__ import annotations

import binascii

import pytest
from hypothesis import given
from hypothesis import strategies as st

from systoliq.hw.link.framing import ESCAPE, FLAG, Deframer, FrameError, encode, request

contents = st.binary(min_size=2, max_size=60) | st.lists(
    st.sampled_from([FLAG, ESCAPE, 0x5E, 0x5D, 0]), min_size=2
).map(bytes)


@given(contents, st.integers(1, 7), st.binary(max_size=9))
def test_frames_come_back_in_any_pieces_after_any_noise(content, piece, noise):
    line = noise + encode(content) + encode(b"ab")
    found = []
    deframer = Deframer(1000)
    for start in range(0, len(line), piece):
        found += deframer.feed(line[start : start + piece])
    whole = [each for each in found if not isinstance(each, FrameError)]
    assert whole == [content, b"ab"]
    assert len(found) - len(whole) <= 1 + noise.count(FLAG)


def test_a_frame_on_the_line_is_as_rfc_1662_says():
    # 0x7E and 0x7D are escaped, the check is CRC-32/ISO-HDLC, low byte first: 0xCBF43926 is its published check value.
    assert encode(b"123456789") == b"~123456789" + bytes([0x26, 0x39, 0xF4, 0xCB]) + b"~"
    content = b"\x7e\x7d\x20"
    check = binascii.crc32(content).to_bytes(4, "little")
    assert encode(content).startswith(b"\x7e\x7d\x5e\x7d\x5d\x20" + check[:1])
    assert request(5, 1, b"xy") == encode(b"\x05\x01xy")


@given(contents, st.data())
def test_a_broken_frame_is_none(content, data):
    line = bytearray(encode(content))
    at = data.draw(st.integers(1, len(line) - 2))
    line[at] ^= data.draw(st.integers(1, 255))
    assert content not in [each for each in Deframer(1000).feed(bytes(line)) if isinstance(each, bytes)]
    cut = encode(content)
    cut = cut[:at] + cut[at + 1 :]
    assert content not in [each for each in Deframer(1000).feed(cut) if isinstance(each, bytes)]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (b"~ab~", "a frame must have at least 6 bytes, not 2"),
        (b"~abcdef\x7d~", "a frame was aborted"),
        (b"~abcdefgh~", "a frame's check is wrong"),
        (b"~" + b"a" * 40 + b"~", "a frame must have at most 20 bytes, and has more"),
    ],
)
def test_what_is_wrong_is_named(line, text):
    (found,) = Deframer(20).feed(line)
    assert str(found) == text
    assert list(Deframer(20).feed(b"~~~~")) == []
