"""Blocks: the information about an emitted package that a bench needs, read from the package's folder.

NAME.json, NAME_layer.npz  ->  Block: rows of A into beats, beats into rows of Y, and golden's results

Does not import the hardware's description or Amaranth, so a bench starts quickly in any simulator.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from systoliq.golden.accumulate import exact_matmul
from systoliq.golden.formats import IntFormat
from systoliq.golden.operand import as_layer_operand
from systoliq.golden.requantization import Requantization
from systoliq.golden.words import Integers, as_words, bytes_of, from_words, pads, to_integers, to_words

from .packaged import packaged_layer, packaged_requantization, sidecars

__all__ = ["ArrayBlock", "Beats", "Block", "LayerBlock"]

Array = npt.NDArray[Any]


class Beats(NamedTuple):
    """Beats of a stream: the words of tdata (with tuser above it), and whether each has tlast."""

    words: list[int]
    lasts: list[bool]


class Block:
    """An emitted block as its package describes it: `sidecar` is the content of NAME.json."""

    kind = ""

    def __init__(self, folder: Path, sidecar: Mapping[str, Any]) -> None:
        self.folder = folder
        self.sidecar = sidecar
        self.name = str(sidecar["name"])

    @staticmethod
    def open(folder: str | Path) -> LayerBlock | ArrayBlock:
        """Open the block whose package `systoliq emit` wrote into `folder`.

        Raises
        ------
        FileNotFoundError
            if the folder, or a file of the package, does not exist.
        ValueError if the folder has no package or more than one; if the package has a kind without a block (networks
            and engines: use `StreamSource` and `StreamMonitor` for their streams); or if this version cannot read it.
        """
        folder = Path(folder)
        if not folder.is_dir():
            raise FileNotFoundError(f"{folder}: must be a directory that systoliq emit wrote")
        found = sidecars(folder)
        if len(found) != 1:
            has = ", ".join(f"{each.get('name')}.json" for each in found) or "none"
            raise ValueError(f"{folder}: must have one NAME.json of systoliq, that of its package, not {has}")
        sidecar, kinds = found[0], {each.kind: each for each in (LayerBlock, ArrayBlock)}
        name, kind = f"{folder / str(sidecar.get('name'))}.json", sidecar.get("kind")
        if kind not in kinds:
            raise ValueError(f"{name}: kind must be {' or '.join(kinds)}, not {kind}")
        try:
            return kinds[kind](folder, sidecar)
        except (KeyError, TypeError, IndexError) as error:
            raise ValueError(f"{name}: must say what a {kind} of systoliq says, and does not: {error}") from error


class LayerBlock(Block):
    """A layer: `layer` defines its results; `rows` rows of A enter together as a group."""

    kind = "layer"

    def __init__(self, folder: Path, sidecar: Mapping[str, Any]) -> None:
        super().__init__(folder, sidecar)
        self.layer = packaged_layer(folder / f"{self.name}_layer.npz", sidecar)
        parameters, packing = sidecar["parameters"], sidecar["packing"]
        self.rows, self._depth = int(parameters["rows"]), int(parameters["depth"])
        self.beats_in, self.beats_out = (int(packing[port]["beats_per_group"]) for port in "ay")
        self._lanes = int(packing["y"]["elements_per_beat"])
        self._a, self._y = self.layer.a_format, self.layer.y_format
        self._a_bytes = bytes_of(self.rows * self._depth * self._a.bits)
        self._y_bytes = bytes_of(self._lanes * self._y.bits)
        self._user_bytes = bytes_of(self.rows * self._a.bits) if self.layer.takes_zero_points else 0
        self.places = self._places(int(parameters["cols"]))
        wanted = -(-self.layer.k // self._depth), len(self.places)
        if (self.beats_in, self.beats_out) != wanted:
            raise ValueError(
                f"{folder / self.name}.json: packing must have {wanted[0]} and {wanted[1]} beats per group for "
                f"{self.name}_layer.npz, not {self.beats_in} and {self.beats_out}"
            )
        self._constants = self._inexact_constants()

    def _places(self, cols: int) -> list[tuple[int, int, int]]:
        """Row, first column and number of valid columns of each beat of Y of a group."""
        n, lanes = self.layer.n, self._lanes
        return [
            (row, column, min(lanes, end - column))
            for start in range(0, n, cols)
            for end in (min(start + cols, n),)
            for row in range(self.rows)
            for column in range(start, end, lanes)
        ]

    def _inexact_constants(self) -> Requantization | None:
        """The requantizer's constants where the package's certificate says that it does not equal the formula."""
        path = self.folder / "certificate.json"
        if not path.is_file() or json.loads(path.read_bytes())["verdict"] == "exact":
            return None
        return packaged_requantization(self.sidecar, self.layer)

    def golden(self, a: npt.ArrayLike, a_zero_point: npt.ArrayLike | None = None) -> Array:
        """Return the expected Y [M, N] for `a` [M, K], in the type of Y; codes if that is float8.

        This is `MatMulLayer.golden`. For a block whose certificate says that it is not exact, the result follows from
        the block's own constants. `a_zero_point`, [M] or one for all rows, is for layers without a zero point of their
        own.
        """
        if self._constants is not None:
            return self.layer.by_constants(self._constants, a, a_zero_point)
        y = self.layer.golden(a, a_zero_point)
        return y if isinstance(self._y, IntFormat) else self._y.codes(y)

    def rows_of(self, a: npt.ArrayLike) -> Array:
        """Return `a` as rows [M, K] with M at least 1; raise TypeError or ValueError if that is not possible."""
        array = np.atleast_2d(self.layer.check_input(a))
        if not len(array):
            raise ValueError(f"a must have the shape [M, {self.layer.k}] with M at least 1, not {list(array.shape)}")
        return array

    def pack(
        self,
        a: npt.ArrayLike,
        a_zero_point: npt.ArrayLike | None = None,
        generator: np.random.Generator | None = None,
    ) -> Beats:
        """Return the beats of s_axis_a for a batch of rows `a` [M, K], or one row [K]; the last beat has tlast.

        `generator` draws the padding of the last group and the last beats; it defaults to zeros. Raises TypeError and
        ValueError if the type, shape or values do not match A.
        """
        rows = self.rows_of(a)
        groups = -(-len(rows) // self.rows)
        padded = pads(self._a, (groups * self.rows, self.beats_in * self._depth), generator)
        padded[: len(rows), : self.layer.k] = rows
        parts = padded.reshape(groups, self.rows, self.beats_in, self._depth).transpose(0, 2, 1, 3)
        words = to_words(parts.reshape(-1, self.rows * self._depth), self._a.bits, self._a_bytes)
        zero_points = self.layer.zero_points(rows, a_zero_point)
        if self._user_bytes:
            of_rows = pads(self._a, (groups * self.rows, 1), generator)
            of_rows[: len(rows)] = zero_points
            users = to_words(of_rows.reshape(groups, self.rows), self._a.bits, self._user_bytes)
            words = np.concatenate([words, np.repeat(users, self.beats_in, axis=0)], axis=1)
        return Beats(to_integers(words), [False] * (len(words) - 1) + [True])

    def unpack_group(self, words: Sequence[int]) -> tuple[Array, Array | None]:
        """Return the rows [rows, K] of a group's beats of s_axis_a, and their zero points [rows], if any."""
        whole = as_words(words, self._a_bytes + self._user_bytes)
        values = from_words(whole[:, : self._a_bytes], self._a.bits, self.rows * self._depth, signed=self._a.signed)
        parts = values.reshape(-1, self.rows, self._depth).transpose(1, 0, 2).reshape(self.rows, -1)
        a = parts[:, : self.layer.k].astype(np.uint8 if self._a.dtype.names else self._a.dtype)
        if not self._user_bytes:
            return a, None
        user = from_words(whole[:1, self._a_bytes :], self._a.bits, self.rows, signed=self._a.signed)
        return a, user[0].astype(self._a.dtype)

    def unpack_y(self, word: int) -> list[int]:
        """Return the elements of a beat of m_axis_y, from the lowest bits up."""
        values: list[int] = from_words(
            as_words([word], self._y_bytes), self._y.bits, self._lanes, signed=self._y.signed
        )[0].tolist()
        return values

    def unpack(self, words: Sequence[int], rows: int) -> Array:
        """Return the first `rows` rows of Y, [rows, N], from the beats of a batch on m_axis_y.

        Raises ValueError if the number of beats does not match the groups for `rows` rows.
        """
        groups = -(-rows // self.rows)
        if len(words) != groups * self.beats_out:
            raise ValueError(f"words must be the {groups * self.beats_out} beats of {rows} rows, not {len(words)}")
        y = np.zeros((groups * self.rows, self.layer.n), np.int64)
        for index, word in enumerate(words):
            group, beat = divmod(index, self.beats_out)
            row, column, count = self.places[beat]
            y[group * self.rows + row, column : column + count] = self.unpack_y(word)[:count]
        return y[:rows].astype(np.uint8 if self._y.dtype.names else self._y.dtype)


class ArrayBlock(Block):
    """A bare array of integers. A product of any size enters tile by tile, all tiles of A's first rows first.

    The sums leave as sums and sums_valid, without back-pressure.
    """

    kind = "array"

    def __init__(self, folder: Path, sidecar: Mapping[str, Any]) -> None:
        super().__init__(folder, sidecar)
        parameters, formats = sidecar["parameters"], sidecar["formats"]
        names = [formats[letter]["name"] for letter in "ab"]
        if not all("int" in name for name in names):
            raise ValueError(
                f"{folder / self.name}.json: A and B of an array must be integers, not {' and '.join(names)}"
            )
        self.a_format, self.b_format = map(IntFormat.parse, names)
        self.rows, self.cols, self._depth = (int(parameters[each]) for each in ("rows", "cols", "depth"))
        self._sum_bits = int(parameters["accumulator_bits"])

    def _operands(self, a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[Array, Array]:
        """Both operands, checked."""
        first, _ = as_layer_operand("a", a, self.a_format)
        second, _ = as_layer_operand("b", b, self.b_format)
        if first.ndim != 2 or second.ndim != 2 or 0 in first.shape + second.shape or first.shape[1] != second.shape[0]:
            raise ValueError(
                f"a and b must have the shapes [M, K] and [K, N], none of them 0, not {list(first.shape)} and "
                f"{list(second.shape)}"
            )
        return first, second

    def golden(self, a: npt.ArrayLike, b: npt.ArrayLike) -> Integers:
        """Return the sums [M, N] of `a` [M, K] times `b` [K, N], modulo 2^accumulator_bits as in the array."""
        first, second = self._operands(a, b)
        half = 1 << self._sum_bits - 1
        sums: Integers = (exact_matmul(first.astype(np.int64), second.astype(np.int64)) + half) % (2 * half) - half
        return sums

    def tiles(self, m: int, n: int) -> tuple[int, int]:
        """Return the number of tiles down and across for sums [m, n]."""
        return -(-m // self.rows), -(-n // self.cols)

    def pack(self, a: npt.ArrayLike, b: npt.ArrayLike) -> tuple[Beats, Beats]:
        """Return the beats of s_axis_a, with tlast at the end of each tile, and of s_axis_b, without; padding is zeros.

        Raises TypeError and ValueError if types, shapes or values do not match A [M, K] and B [K, N].
        """
        first, second = self._operands(a, b)
        down, across = self.tiles(len(first), second.shape[1])
        beats, depth = -(-first.shape[1] // self._depth), self._depth
        vectors = [(first, self.a_format, self.rows, down), (second.T, self.b_format, self.cols, across)]
        words = []
        for matrix, form, size, tiles in vectors:
            padded = np.zeros((tiles * size, beats * depth), form.dtype)
            padded[: matrix.shape[0], : matrix.shape[1]] = matrix
            parts = padded.reshape(tiles, size, beats, depth).transpose(0, 2, 1, 3).reshape(-1, size * depth)
            words.append(to_integers(to_words(parts, form.bits, bytes_of(size * depth * form.bits))))
        each_tile = [words[0][tile * beats : (tile + 1) * beats] for tile in range(down)]
        of_a = [word for tile in each_tile for _ in range(across) for word in tile]
        return Beats(of_a, ([False] * (beats - 1) + [True]) * (down * across)), Beats(words[1] * down, [])

    def unpack_sum(self, bits: int) -> int:
        """Return the sum of a column from its bits in sums."""
        return bits - (bits >> self._sum_bits - 1 << self._sum_bits)
