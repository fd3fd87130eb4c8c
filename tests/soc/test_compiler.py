"""The program that is loaded: the segments of an ELF file at their addresses, as objcopy gives them."""

from __future__ import annotations

import importlib.util
import struct
import subprocess
import sys

import pytest

from systoliq.soc import compiler


def elf(*segments):
    """A 32-bit little-endian ELF file with these segments: type, physical address, content."""
    headers, content, at = b"", b"", 52 + 32 * len(segments)
    for kind, address, text in segments:
        headers += struct.pack("<8I", kind, at + len(content), 0x8000_0000, address, len(text), len(text) + 8, 5, 4)
        content += text
    head = struct.pack("<16s2H5I6H", b"\x7fELF\1\1\1", 2, 243, 1, 0, 52, 0, 0, 52, 32, len(segments), 40, 0, 0)
    return head + headers + content


@pytest.mark.parametrize(
    ("segments", "loaded"),
    [
        ([(1, 0, b"abcd")], b"abcd"),
        ([(1, 0, b"abcd"), (1, 8, b"ef")], b"abcd\0\0\0\0ef"),
        ([(1, 4, b"ef"), (1, 0, b"abcd")], b"abcdef"),
        ([(1, 0, b"abcd"), (1, 64, b"")], b"abcd"),  # memory that begins as zeros
        ([(1, 0, b"abcd"), (0x6474E551, 32, b"stack")], b"abcd"),  # a segment of another type
    ],
)
def test_segments_are_at_their_addresses(segments, loaded):
    assert compiler._loaded(elf(*segments)) == loaded


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("ziglang") is None, reason="pip install 'systoliq[soc]'")
def test_objcopy_gives_the_same(tmp_path, monkeypatch):
    given = []
    monkeypatch.setattr(compiler, "_loaded", lambda content: given.append(content) or b"")
    parts = ". = 0; .text : { KEEP(*(.text*)) } . = 256; .data : { KEEP(*(.data*)) } .bss : { *(.bss*) }"
    link = f"ENTRY(start) SECTIONS {{ {parts} }}"
    text = "int a = 7, b; void start(void) { for (;;) { b += a; a ^= b; } }"
    compiler.compile_firmware({"link.ld": link, "a.c": text}, ["a.c"])
    monkeypatch.undo()
    (content,) = given
    (tmp_path / "a.elf").write_bytes(content)
    subprocess.run([sys.executable, *compiler.OBJCOPY, "a.elf", "a.bin"], cwd=tmp_path, check=True)
    assert compiler._loaded(content) == (tmp_path / "a.bin").read_bytes()
