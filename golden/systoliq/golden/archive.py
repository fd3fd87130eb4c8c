"""Archives of arrays, .npz and .npy files: read with every size checked first, written as the same bytes everywhere.

The directory of an archive and the header of each array state their sizes. Both are limited, and must agree with the
data that follows. Pickled objects are never read.

numpy and Python's zipfile write different headers from version to version. Here `npz_bytes` chooses each field of a
header, so equal arrays have equal archives with every version.
"""

from __future__ import annotations

import ast
import math
import struct
import warnings
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from .limits import ARCHIVE_ARRAYS, ARCHIVE_BYTES

__all__ = ["npz_bytes", "read_array", "read_arrays"]

_HEADER_LIMIT = 10_000  # characters of an array's header, as numpy has it
_DIRECTORY_LIMIT = 1 << 20  # bytes of an archive's directory: room for many arrays with long names
_CHUNK = 1 << 20
_END = struct.Struct("<4s4H2LH")  # the end of an archive's directory, by the .ZIP file format specification, 4.3.16
_MEMBER = struct.Struct("<4s5H3L2H")  # the header of a member, 4.3.7
_ENTRY = struct.Struct("<4s6H3L5H2L")  # a member in the directory, 4.3.12
_VERSION = 20  # of the specification, which has members in folders
_UTF_8 = 0x0800  # the flag of a member whose name is no ASCII
_DATE = 0x0021  # 1 January 1980, the first that there is
_REGULAR = 0o100644 << 16  # a regular file that everybody may read
_UNIX = 3 << 8  # which gives that number its meaning
_MOST_WRITTEN = (1 << 32) - (1 << 24)  # sizes and places have 32 bits; the rest is for headers
_ALIGNMENT = 64  # of an array behind its header, in its own file
_LOCATOR_SIZE = 20  # of its 64-bit form, 4.3.15, for 4 GiB and more
_NAMELESS = (
    "numpy writes arrays of ml_dtypes without their type's name; for float8, save codes.view(numpy.uint8)"
    ".view(systoliq.golden.E4M3FN.dtype), or that of another format"
)
_BROKEN = (OSError, ValueError, TypeError, EOFError, KeyError, NotImplementedError, RuntimeError,
           zipfile.BadZipFile, zlib.error, struct.error, Warning)  # fmt: skip


def read_arrays(path: str | Path) -> dict[str, npt.NDArray[Any]]:
    """Return every array of the .npz archive `path`, or raise an error that names the file; pickled objects are
    rejected.
    """
    path = _regular(path)
    try:
        with path.open("rb") as file:
            return _members(file)
    except _BROKEN as error:
        raise ValueError(f"{path}: must be a readable .npz archive of plain arrays ({error})") from error


def read_array(path: str | Path) -> npt.NDArray[Any]:
    """Return the array of the .npy file `path`, or raise an error that names the file; pickled objects are rejected."""
    path = _regular(path)
    try:
        with path.open("rb") as file:
            return _array(file, path.stat().st_size)
    except _BROKEN as error:
        raise ValueError(f"{path}: must be a readable .npy file of a plain array ({error})") from error


def npz_bytes(arrays: Mapping[str, npt.NDArray[Any]]) -> bytes:
    """An .npz archive of `arrays`, not compressed: equal arrays under equal names, in one order, give equal bytes.

    Raises
    ------
    ValueError
        for elements that are Python objects, and for an archive of 4 GiB or more.
    """
    members = {f"{name}.npy": _npy_bytes(name, np.asarray(array)) for name, array in arrays.items()}
    if (total := sum(map(len, members.values()))) >= _MOST_WRITTEN:
        raise ValueError(f"arrays of an archive must have less than {_MOST_WRITTEN} bytes in all, not {total}")
    body, directory = bytearray(), bytearray()
    for name, content in members.items():
        encoded = name.encode()
        flags = 0 if name.isascii() else _UTF_8
        size = len(content)
        common = (_VERSION, flags, zipfile.ZIP_STORED, 0, _DATE, zlib.crc32(content), size, size, len(encoded), 0)
        directory += _ENTRY.pack(b"PK\1\2", _UNIX | _VERSION, *common, 0, 0, 0, _REGULAR, len(body)) + encoded
        body += _MEMBER.pack(b"PK\3\4", *common) + encoded + content
    count = len(members)
    return bytes(body + directory + _END.pack(b"PK\5\6", 0, 0, count, count, len(directory), len(body), 0))


def _npy_bytes(name: str, array: npt.NDArray[Any]) -> bytes:
    """The .npy file of `array`, version 1.0 of its format (numpy.lib.format); little-endian, rows first."""
    if array.dtype.hasobject:
        raise ValueError(f"{name}: must have elements of numbers, not Python objects")
    array = np.asarray(array, array.dtype.newbyteorder("<"), order="C")
    descr = np.lib.format.dtype_to_descr(array.dtype)
    text = f"{{'descr': {descr!r}, 'fortran_order': False, 'shape': {array.shape!r}, }}"
    prefix = 10  # bytes before the text
    text += " " * (-(prefix + len(text) + 1) % _ALIGNMENT) + "\n"
    return b"\x93NUMPY\1\0" + len(text).to_bytes(2, "little") + text.encode("latin1") + array.tobytes()


def _regular(path: str | Path) -> Path:
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(f"{path}: there is no such file")
    if not path.is_file():
        raise ValueError(f"{path}: must be a regular file")
    return path


def _members(file: IO[bytes]) -> dict[str, npt.NDArray[Any]]:
    _check_directory(file)
    with zipfile.ZipFile(file) as archive:
        infos = archive.infolist()
        if len(infos) > ARCHIVE_ARRAYS:
            raise ValueError(f"it must have at most {ARCHIVE_ARRAYS} arrays, not {len(infos)}")
        total = sum(info.file_size for info in infos)
        if total > ARCHIVE_BYTES:
            raise ValueError(f"its arrays must have at most {ARCHIVE_BYTES} bytes in all, not {total}")
        arrays: dict[str, npt.NDArray[Any]] = {}
        for info in infos:
            key = info.filename.removesuffix(".npy")
            if key == info.filename or key in arrays:
                raise ValueError(f"each member must be an array, NAME.npy, of its own name, not {info.filename!r}")
            if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED) or info.flag_bits & 1:
                raise ValueError(f"{key}: must be stored or deflated, and not encrypted")
            with archive.open(info) as member:
                try:
                    arrays[key] = _array(member, info.file_size)
                except ValueError as error:
                    raise ValueError(f"{key}: {error}") from error
    return arrays


def _check_directory(file: IO[bytes]) -> None:
    """A ValueError where the file is no archive, or has a directory that would take much memory."""
    size = file.seek(0, 2)
    file.seek(max(0, size - 0xFFFF - _END.size))
    tail = file.read()
    at = tail.rfind(b"PK\5\6")
    if at < 0 or len(tail) < at + _END.size:
        file.seek(0)
        single = file.read(6) == b"\x93NUMPY"
        raise ValueError("it holds a single array" if single else "it has no directory, as a zip file has")
    _, _, _, _, _, directory, _, _ = _END.unpack_from(tail, at)
    if directory > _DIRECTORY_LIMIT or tail[max(0, at - _LOCATOR_SIZE) :].startswith(b"PK\6\7"):
        raise ValueError(f"its directory must have at most {_DIRECTORY_LIMIT} bytes")


def _array(file: IO[bytes], size: int) -> npt.NDArray[Any]:
    """The array of `file`, whose header and data have `size` bytes in all."""
    shape, order, dtype, header = _header(file)
    if dtype.hasobject:
        raise ValueError("it holds Python objects, which are pickled")
    if dtype.itemsize == 0:
        raise ValueError(f"its elements must have at least one byte; {dtype.str} has none")
    count = math.prod(shape)
    if count * dtype.itemsize > ARCHIVE_BYTES:
        raise ValueError(f"it must have at most {ARCHIVE_BYTES} bytes, not {count * dtype.itemsize}")
    if dtype.kind == "V" and dtype.names is None:
        raise ValueError(_NAMELESS)
    if header + count * dtype.itemsize != size:
        raise ValueError(
            f"{dtype} of shape {list(shape)} must take {count * dtype.itemsize} bytes, not {size - header}"
        )
    data = _exactly(file, size - header)
    if file.read(1):  # which also makes an archive check the sum of the bytes
        raise ValueError("it goes on behind its last element")
    return np.frombuffer(data, dtype).reshape(shape, order=order) if count else np.empty(shape, dtype)


def _header(file: IO[bytes]) -> tuple[tuple[int, ...], Any, np.dtype[Any], int]:
    """Shape, order and type of an array, and the bytes that say so (numpy.lib.format describes them)."""
    start = bytes(_exactly(file, 8))
    if start[:6] != b"\x93NUMPY" or start[6:8] not in (b"\1\0", b"\2\0", b"\3\0"):
        raise ValueError("it does not begin as a .npy file of version 1 to 3 does")
    width = 2 if start[6] == 1 else 4
    length = int.from_bytes(_exactly(file, width), "little")
    if length > _HEADER_LIMIT:
        raise ValueError(f"its header must have at most {_HEADER_LIMIT} bytes, not {length}")
    text = _exactly(file, length).decode("utf-8" if start[6] == 3 else "latin1")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            said = ast.literal_eval(text.strip())
            shape, order, descr = said["shape"], said["fortran_order"], said["descr"]
            dtype = np.lib.format.descr_to_dtype(descr)
    except (SyntaxError, ValueError, TypeError, KeyError, IndexError, MemoryError, RecursionError, Warning) as error:
        if "'<f1'" in text:
            raise ValueError(_NAMELESS) from error
        raise ValueError(f"its header cannot be read: {type(error).__name__}") from error
    plain = isinstance(shape, tuple) and all(type(each) is int and each >= 0 for each in shape)
    if not plain or type(order) is not bool or set(said) != {"shape", "fortran_order", "descr"}:
        raise ValueError("its header must say descr, fortran_order and a shape of whole numbers")
    return shape, "F" if order else "C", dtype, 8 + width + length


def _exactly(file: IO[bytes], count: int) -> bytearray:
    """The next `count` bytes; never more is read or inflated, and no more is held than came."""
    data = bytearray()
    while len(data) < count:
        chunk = file.read(min(_CHUNK, count - len(data)))
        if not chunk:
            raise EOFError("it ends too early")
        data += chunk
    return data
