"""Archives that say more than they hold, or hold more than they say: one line, and nothing of that size is made."""

from __future__ import annotations

import hashlib
import io
import os
import resource
import zipfile

import numpy as np
import pytest

from systoliq.golden.archive import _MOST_WRITTEN, _npy_bytes, npz_bytes, read_array, read_arrays
from systoliq.golden.limits import ARCHIVE_ARRAYS, ARCHIVE_BYTES

GIANT = 1 << 40


def npy(array) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def header(text: str, version: bytes = b"\1\0") -> bytes:
    return b"\x93NUMPY" + version + len(text).to_bytes(2 if version == b"\1\0" else 4, "little") + text.encode()


def said(descr: str = "'|i1'", order: str = "False", shape: str = "(2,)") -> bytes:
    return header(f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}")


def archive(path, *members: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as file:
        for name, content in members:
            file.writestr(name, content)
    return path


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_arrays_of_every_plain_kind_are_read(save, tmp_path):
    written = {
        "a": np.arange(6, dtype=np.int8).reshape(2, 3), "b": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "c": np.float32(0.5), "d": np.array("uint8"), "e": np.empty((0, 4), np.uint16), "f": np.arange(3, dtype=">i4"),
        "g": np.zeros(2, [("code", "u1")]), "h": np.array([True]), "i": np.array([1j], np.complex64),
    }  # fmt: skip
    save(tmp_path / "a.npz", **written)
    found = read_arrays(tmp_path / "a.npz")
    assert list(found) == list(written)
    for name, array in written.items():
        np.testing.assert_array_equal(found[name], array, strict=True)
    np.save(tmp_path / "a.npy", written["b"])
    np.testing.assert_array_equal(read_array(tmp_path / "a.npy"), written["b"], strict=True)


WRITTEN = {
    "a": np.arange(6, dtype=np.int8).reshape(2, 3), "nodes/0/b": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "c": np.float32(0.5), "d": np.array(b"{}"), "e": np.empty((0, 4), np.uint16), "f": np.arange(3, dtype=">i4"),
    "g": np.zeros(2, [("e4m3fn", "u1")]), "größe": np.array([True]), "i": np.array("uint8"),
}  # fmt: skip


def test_what_is_written_is_read_by_all(tmp_path):
    path = tmp_path / "a.npz"
    path.write_bytes(npz_bytes(WRITTEN))
    with zipfile.ZipFile(path) as file:
        assert file.testzip() is None
        assert [info.external_attr >> 16 for info in file.infolist()] == [0o100644] * len(WRITTEN)
    with np.load(path, allow_pickle=False) as loaded:
        for found in (read_arrays(path), dict(loaded)):
            assert list(found) == list(WRITTEN)
            for name, array in WRITTEN.items():
                expected = np.asarray(array)
                assert found[name].dtype == expected.dtype.newbyteorder("<")
                np.testing.assert_array_equal(found[name], expected)


def test_written_bytes_depend_on_no_version():
    """The digest was recorded under Python 3.10 with numpy 2.2, and is the same under 3.13 with 2.5."""
    assert (
        hashlib.sha256(npz_bytes(WRITTEN)).hexdigest()
        == "193b2386b1f7b1364bbe7268ccf135080d9571cbc417d43ec0e2cf2db049442c"
    )


def test_places_in_the_greatest_archive_that_is_written_have_32_bits():
    assert _MOST_WRITTEN + 200 * ARCHIVE_ARRAYS < 1 << 32, "200 bytes for the headers of each array"


def test_python_objects_are_not_written():
    with pytest.raises(ValueError, match="a: must have elements of numbers, not Python objects"):
        npz_bytes({"a": np.array([None])})


def test_as_many_bytes_as_there_may_be_are_written(monkeypatch):
    array = np.zeros(1000, np.uint8)
    size = len(_npy_bytes("a", array))
    monkeypatch.setattr("systoliq.golden.archive._MOST_WRITTEN", size + 1)
    assert npz_bytes({"a": array})
    monkeypatch.setattr("systoliq.golden.archive._MOST_WRITTEN", size)
    with pytest.raises(ValueError, match=f"must have less than {size} bytes in all, not {size}"):
        npz_bytes({"a": array})


def test_as_many_arrays_as_there_may_be_are_read(tmp_path):
    path = archive(
        tmp_path / "a.npz", *((f"{index}.npy", npy(np.int8(index % 100))) for index in range(ARCHIVE_ARRAYS))
    )
    assert len(read_arrays(path)) == ARCHIVE_ARRAYS


def test_the_longest_comment_is_passed_over(tmp_path):
    path = archive(tmp_path / "a.npz", ("a.npy", npy(np.int8([1, 2]))))
    with zipfile.ZipFile(path, "a") as file:
        file.comment = b"c" * 0xFFFF
    np.testing.assert_array_equal(read_arrays(path)["a"], [1, 2])


def test_headers_of_version_3_are_utf_8(tmp_path):
    """NumPy writes them where a field's name is no Latin-1."""
    path = tmp_path / "a.npy"
    with path.open("wb") as file, pytest.warns(UserWarning, match="format 3.0"):
        np.lib.format.write_array(file, np.zeros(2, [("β", "u1")]))
    assert read_array(path).dtype.names == np.load(path).dtype.names == ("β",)


def test_as_many_bytes_as_there_may_be_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr("systoliq.golden.archive.ARCHIVE_BYTES", 64)
    for size in (64, 65):
        (tmp_path / f"{size}.npy").write_bytes(npy(np.zeros(size, np.int8)))
    assert read_array(tmp_path / "64.npy").size == 64
    with pytest.raises(ValueError, match="it must have at most 64 bytes, not 65"):
        read_array(tmp_path / "65.npy")


ARRAYS = {
    "giant": (said(shape=f"({GIANT},)"), f"it must have at most {ARCHIVE_BYTES} bytes, not {GIANT}"),
    "giant elements": (said(descr=f"'|S{1 << 30}'", shape="(1,)"), f"it must have at most {ARCHIVE_BYTES} bytes, not"),
    "giant subarray": (said(descr="('|i1', (1000000000,))"), f"it must have at most {ARCHIVE_BYTES} bytes, not"),
    "none, many of it": (said(descr="'|S0'", shape=f"({GIANT},)"), "its elements must have at least one byte"),
    "too short": (said() + b"x", "int8 of shape [2] must take 2 bytes, not 1"),
    "too long": (said() + b"xyz", "int8 of shape [2] must take 2 bytes, not 3"),
    "negative": (said(shape="(-1, -2)") + b"xx", "a shape of whole numbers"),
    "a shape that is none": (said(shape="'2'") + b"xx", "a shape of whole numbers"),
    "a shape of booleans": (said(shape="(True, 2)") + b"xx", "a shape of whole numbers"),
    "an order that is none": (said(order="2") + b"xx", "a shape of whole numbers"),
    "objects": (said(descr="'|O'") + bytes(16), "it holds Python objects, which are pickled"),
    "objects inside": (said(descr="[('x', '|O')]") + bytes(16), "it holds Python objects, which are pickled"),
    "an unknown type": (said(descr="'|x9'") + b"xx", "its header cannot be read: TypeError"),
    "no type's name": (said(descr="'<f1'") + b"xx", "numpy writes arrays of ml_dtypes without their type's name"),
    "raw bytes": (said(descr="'|V1'") + b"xx", "numpy writes arrays of ml_dtypes without their type's name"),
    "a deep header": (header("(" * 9000), "its header cannot be read: "),
    "a long header": (header("x" * 20000), "its header must have at most 10000 bytes, not 20000"),
    "a header that calls": (header("__import__('os').abort()"), "its header cannot be read: ValueError"),
    "a header that says too little": (header("{'descr': '|i1', 'shape': (2,)}") + b"xx", "cannot be read: KeyError"),
    "a version to come": (header("", b"\4\0"), "as a .npy file of version 1 to 3 does"),
    "half a header": (said()[:20], "it ends too early"),
    "nothing": (b"", "it ends too early"),
}


@pytest.mark.parametrize(("content", "text"), ARRAYS.values(), ids=ARRAYS)
def test_an_array_that_is_refused(content, text, tmp_path):
    (tmp_path / "a.npy").write_bytes(content)
    with pytest.raises(ValueError, match="a.npy: must be a readable .npy file of a plain array") as error:
        read_array(tmp_path / "a.npy")
    assert text in str(error.value)
    archive(tmp_path / "a.npz", ("b.npy", npy(np.zeros(3))), ("c.npy", content))
    with pytest.raises(ValueError, match="a.npz: must be a readable .npz archive of plain arrays") as error:
        read_arrays(tmp_path / "a.npz")
    assert text in str(error.value)


def test_the_longest_header_that_is_read(tmp_path):
    """10,000 bytes, of which most are spaces; with one more it is refused."""
    said_first = said()[10:].decode()
    for length in (10_000, 10_001):
        text = f"{said_first:<{length - 1}}\n".encode()
        (tmp_path / "a.npy").write_bytes(b"\x93NUMPY\1\0" + length.to_bytes(2, "little") + text + b"\3\4")
        if length == 10_000:
            assert read_array(tmp_path / "a.npy").tolist() == [3, 4]
        else:
            with pytest.raises(ValueError, match="its header must have at most 10000 bytes, not 10001"):
                read_array(tmp_path / "a.npy")


def test_the_longest_directory_that_is_read(tmp_path):
    """A mebibyte: 17 arrays with names of 60,000 characters have less, 18 have more."""
    for count in (17, 18):
        archive(tmp_path / "a.npz", *((f"{at:060000}.npy", npy(np.zeros(1))) for at in range(count)))
        if count == 17:
            assert len(read_arrays(tmp_path / "a.npz")) == 17
        else:
            with pytest.raises(ValueError, match="directory"):
                read_arrays(tmp_path / "a.npz")


def test_an_archive_that_inflates_to_too_much(tmp_path):
    """A stream of a quarter of a megabyte; its declared size is refused, or the rest of it, where that lies."""
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file, file.open("b.npy", "w") as member:
        member.write(said(shape=f"({ARCHIVE_BYTES},)"))
        for _ in range(ARCHIVE_BYTES >> 20):
            member.write(bytes(1 << 20))
    assert path.stat().st_size < 1 << 19
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ValueError, match=f"its arrays must have at most {ARCHIVE_BYTES} bytes in all, not"):
        read_arrays(path)
    lie = (ARCHIVE_BYTES + len(said(shape=f"({ARCHIVE_BYTES},)"))).to_bytes(4, "little")
    content = path.read_bytes()
    assert lie in content
    small = said(shape="(2,)")
    path.write_bytes(content.replace(lie, (len(small) + 2).to_bytes(4, "little")))
    with pytest.raises(ValueError, match="must be a readable .npz archive"):
        read_arrays(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 << 10


@pytest.mark.slow
def test_members_that_share_their_bytes(tmp_path):
    """A bomb of one stream under many names."""
    content = npy(np.zeros(1 << 20))
    path = archive(tmp_path / "a.npz", *((f"{i}.npy", content) for i in range(40)))
    with pytest.raises(ValueError, match="its arrays must have at most"):
        read_arrays(path)


REFUSED = {
    "a member that is no array": ([("b.txt", b"x")], "each member must be an array, NAME.npy, of its own name"),
    "a name twice": ([("b.npy", npy(0)), ("b.npy", npy(1))], "each member must be an array, NAME.npy, of its own name"),
    "too many": ([(f"{i}.npy", b"") for i in range(ARCHIVE_ARRAYS + 1)], "it must have at most 4096 arrays, not 4097"),
    "long names": ([(f"{i:060000d}.npy", b"") for i in range(20)], "its directory must have at most 1048576 bytes"),
}


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(("members", "text"), REFUSED.values(), ids=REFUSED)
def test_an_archive_that_is_refused(members, text, tmp_path):
    with pytest.raises(ValueError, match="must be a readable .npz archive") as error:
        read_arrays(archive(tmp_path / "a.npz", *members))
    assert text in str(error.value)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_methods_of_packing(method, tmp_path):
    with pytest.raises(ValueError, match="b: must be stored or deflated, and not encrypted"):
        read_arrays(archive(tmp_path / "a.npz", ("b.npy", npy(0)), method=method))


def test_a_broken_sum_of_bytes(tmp_path):
    path = archive(tmp_path / "a.npz", ("b.npy", npy(np.arange(9))), method=zipfile.ZIP_STORED)
    content = path.read_bytes()
    path.write_bytes(content.replace(b"\x05\0\0\0\0\0\0\0", b"\x55\0\0\0\0\0\0\0"))
    with pytest.raises(ValueError, match="Bad CRC-32"):
        read_arrays(path)


@pytest.mark.parametrize("read", [read_array, read_arrays])
def test_what_is_no_regular_file(read, tmp_path):
    os.mkfifo(tmp_path / "a")
    for path in (tmp_path, tmp_path / "a"):
        with pytest.raises(ValueError, match="must be a regular file"):
            read(path)
    with pytest.raises(FileNotFoundError, match="there is no such file"):
        read(tmp_path / "b")


def test_a_directory_in_its_64_bit_form(tmp_path, monkeypatch):
    """It can be of any size, whatever the record says that has 16 bits for it."""
    monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 0)
    path = archive(tmp_path / "a.npz", ("b.npy", npy(0)))
    assert b"PK\6\7" in path.read_bytes()
    with pytest.raises(ValueError, match="its directory must have at most 1048576 bytes"):
        read_arrays(path)
