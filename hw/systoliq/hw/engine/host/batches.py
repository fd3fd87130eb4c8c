"""Batches of a matrix product, as 2-D products: those that share b are rows of one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from systoliq.golden.operators import unpromote

from .partition import Part, Scales

__all__ = ["Batches"]

Array = npt.NDArray[Any]


class Batches:
    """Batches of A [..., m, k] and B [..., k, n], joined: A along rows, B along columns.

    A vector is one row of A, or one column of B. ``full`` is the shape of the products, and ``result`` the shape of
    ONNX's Y, without the dimensions of vectors. ``b_of`` is which of B each batch takes.
    """

    def __init__(self, a: Array, b: Array) -> None:
        vectors = a, b
        a, b = np.atleast_2d(a), b[:, np.newaxis] if b.ndim == 1 else b
        self.m, self.k = a.shape[-2:]
        self.n = b.shape[-1]
        self.shape = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        self.full = (*self.shape, self.m, self.n)
        self.result = unpromote(np.empty(self.full, bool), *vectors).shape
        self.count = int(np.prod(self.shape, dtype=int))
        self._own = b.shape[:-2]
        self._b_count = int(np.prod(self._own, dtype=int))
        self.a = np.broadcast_to(a, (*self.shape, self.m, self.k)).reshape(self.count, self.m, self.k)
        self.b = b.reshape(self._b_count, self.k, self.n)
        self.b_of = np.broadcast_to(np.arange(self._b_count).reshape(self._own), self.shape).reshape(self.count)

    def of_rows(self, value: Array) -> Array:
        """Values per row of A, [batches, m]."""
        return np.broadcast_to(value, (*self.shape, self.m, 1)).reshape(self.count, self.m)

    def of_columns(self, value: Array) -> Array:
        """Values per column of B, [batches of B, n]."""
        return np.broadcast_to(value, (*self._own, 1, self.n)).reshape(self._b_count, self.n)

    def products(
        self, a_zero_point: Array, b_zero_point: Array, scales: Scales | None, biases: Array | None
    ) -> Iterator[tuple[Part, Scales | None, Array | None]]:
        """One for each batch of B, with the scales of its rows, columns and Y, and its bias."""
        a_zero_point, b_zero_point = self.of_rows(a_zero_point), self.of_columns(b_zero_point)
        for index in range(self._b_count):
            which = np.flatnonzero(self.b_of == index)
            part = Part(
                a=self.a[which].reshape(-1, self.k),
                b=self.b[index],
                a_zero_point=a_zero_point[which].reshape(-1),
                b_zero_point=b_zero_point[index],
                rows=(which[:, np.newaxis] * self.m + np.arange(self.m)).reshape(-1),
                columns=np.arange(self.n),
            )
            own_scales = None if scales is None else (scales[0][which].reshape(-1), scales[1][index], scales[2])
            yield part, own_scales, None if biases is None else biases[which].reshape(-1, self.n)
