"""`systoliq verify` of packages whose memories' contents are in files: each forgery is refused with its reason."""

from __future__ import annotations

import json
import shutil

import pytest

from systoliq.package import make_package
from systoliq.verify import verify_package
from systoliq.verify.expression import UnreadableError
from systoliq.verify.memories import MemoryFiles

from ..package.big import FILES, big_design
from .sealing import seal


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("memories") / "out"
    make_package(big_design()).write(folder)
    return folder


@pytest.fixture
def package(written, tmp_path):
    shutil.copytree(written, tmp_path / "out")
    return tmp_path / "out"


def edit(path, old, new, *, count=1):
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new, count))


def forget(folder, *names):
    """Leave files out of the certificate's list."""
    path = folder / "certificate.json"
    content = json.loads(path.read_text())
    content["files"] = {name: digest for name, digest in content["files"].items() if name not in names}
    path.write_text(json.dumps(content))


def line(folder, number):
    """The place of a line of the first file, and what it holds."""
    content = (folder / FILES[0]).read_bytes()
    return content, 3 * number, content[3 * number : 3 * number + 3]


def put(folder, number, new):
    content, at, old = line(folder, number)
    assert len(new) == len(old) == 3
    assert new != old
    (folder / FILES[0]).write_bytes(content[:at] + new + content[at + 3 :])


def another_digit(folder):
    _, _, old = line(folder, 5)
    put(folder, 5, (b"1" if old[:1] != b"1" else b"2") + old[1:])


def cut(folder):
    (folder / FILES[0]).write_bytes(line(folder, 0)[0][:-3])


def one_word_more(folder):
    (folder / FILES[0]).write_bytes(line(folder, 0)[0] + b"00\n")


def names(folder, name):
    edit(folder / "big.v", f'"{FILES[0]}"'.encode(), f'"{name}"'.encode())


def outside(folder):
    shutil.copy(folder / FILES[0], folder.parent / "outside.mem")
    names(folder, "../outside.mem")


def not_listed(folder):
    (folder / FILES[0]).rename(folder / "other.mem")
    names(folder, "other.mem")
    forget(folder, FILES[0])


def unread(folder):
    shutil.copy(folder / FILES[0], folder / "more.mem")
    path = folder / "certificate.json"
    content = json.loads(path.read_text())
    content["files"]["more.mem"] = ""
    path.write_text(json.dumps(content))


def set_again(folder):
    read = f'$readmemh("{FILES[0]}", memory);'.encode()
    edit(folder / "big.v", read, read + b"\n  initial begin\n    memory[0] = 8'h00;\n  end")


def set_before(folder):
    read = f'initial $readmemh("{FILES[0]}", memory);'.encode()
    edit(folder / "big.v", read, b"initial begin\n    memory[0] = 8'h00;\n  end\n  " + read)


MUST = f"{FILES[0]}: must hold 1056 lines of 2 hexadecimal digits, 3168 bytes, not"
FORGERIES = {
    "another digit": (another_digit, "big.v: the weight memory has b[5, 0] - zero point = "),
    "cut": (cut, f"{MUST} 3165"),
    "one word more": (one_word_more, f"{MUST} 3171"),
    "gone": (lambda folder: (folder / FILES[0]).unlink(), f"{FILES[0]}: is missing"),
    "no digit": (lambda folder: put(folder, 7, b"0g\n"), f"{FILES[0]}: line 8 must be 2 hexadecimal digits"),
    "unknown": (lambda folder: put(folder, 7, b"xx\n"), f"{FILES[0]}: line 8 must be 2 hexadecimal digits"),
    "capital": (lambda folder: put(folder, 7, b"0A\n"), f"{FILES[0]}: line 8 must be 2 hexadecimal digits"),
    "an address": (lambda folder: put(folder, 0, b"@0\n"), f"{FILES[0]}: line 1 must be 2 hexadecimal digits"),
    "a comment": (lambda folder: put(folder, 0, b"//\n"), f"{FILES[0]}: line 1 must be 2 hexadecimal digits"),
    "lines run together": (lambda folder: put(folder, 3, b"000"), f"{FILES[0]}: line 4 must be 2 hexadecimal digits"),
    "outside the package": (outside, "$readmemh must name a file NAME.mem in the package, not '../outside.mem'"),
    "an absolute path": (lambda folder: names(folder, "/etc/hosts"), "$readmemh must name a file NAME.mem"),
    "no memory file": (lambda folder: names(folder, "big.json"), "$readmemh must name a file NAME.mem"),
    "another's file": (lambda folder: names(folder, FILES[1]), f"{FILES[1]}: two memories read it"),
    "not listed": (not_listed, "other.mem: is not listed in certificate.json"),
    "read by none": (unread, "more.mem: no module of big.v reads it"),
    "set again": (set_again, "memory[0] is set twice, or is not a word of a memory"),
    "set before": (set_before, "memory is set twice, or is no memory from 0 up"),
    "from the other end": (
        lambda folder: edit(folder / "big.v", b"memory [0:1055]", b"memory [1055:0]"),
        "memory is set twice, or is no memory from 0 up",
    ),
    "a shorter memory": (
        lambda folder: edit(folder / "big.v", b"memory [0:1055]", b"memory [0:1054]"),
        f"{FILES[0]}: must hold 1055 lines",
    ),
    "binary digits": (lambda folder: edit(folder / "big.v", b"$readmemh", b"$readmemb"), "$readmemb does not occur"),
    "a range": (lambda folder: edit(folder / "big.v", b", memory);", b", memory, 0, 9);"), "')' was expected"),
}  # fmt: skip


def test_accepts_what_emit_wrote(package):
    report = verify_package(package)
    assert (report.passed, report.reasons) == (True, ())


@pytest.mark.sampled(4)
@pytest.mark.parametrize("what", FORGERIES)
def test_refuses_a_forgery_with_all_digests_made_new(what, package):
    forge, reason = FORGERIES[what]
    forge(package)
    if what != "gone":
        seal(package)
    report = verify_package(package)
    assert not report.passed
    assert any(reason in each for each in report.reasons), report.reasons


def test_refuses_another_byte_with_the_old_digests(package):
    another_digit(package)
    assert f"{FILES[0]}: sha256 is not the one in certificate.json" in verify_package(package).reasons


@pytest.mark.parametrize(("width", "text"), [(5, b"1f\n0a\n"), (8, b"ff\n0a\n"), (9, b"1ff\n00a\n"), (130, None)])
def test_words_of_every_width(tmp_path, width, text):
    words = [(1 << width) - 1, 10]
    digits = -(-width // 4)
    text = text or "".join(f"{word:0{digits}x}\n" for word in words).encode()
    (tmp_path / "a.mem").write_bytes(text)
    found = MemoryFiles(tmp_path).words("a.mem", 2, width)
    assert found.tolist() == words
    assert found.dtype == object
    if width % 4:
        (tmp_path / "a.mem").write_bytes(b"8" + text[1:])
        with pytest.raises(UnreadableError, match=f"line 1 must be {digits} hexadecimal digits of a word of {width}"):
            MemoryFiles(tmp_path).words("a.mem", 2, width)


def test_no_more_is_read_than_the_words_take(tmp_path):
    with (tmp_path / "a.mem").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(UnreadableError, match="6 bytes, not 1099511627776"):
        MemoryFiles(tmp_path).words("a.mem", 2, 8)
