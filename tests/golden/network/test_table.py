"""Tables of a network: an entry for each integer, of the input's shape and the output's format."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden import INT8, UINT8
from systoliq.golden.network import Table, Tensor


def tensor(name, form, *shape) -> Tensor:
    return Tensor(name=name, shape=shape, format=form, scale=np.float32(0.5), zero_point=3)


@pytest.mark.parametrize("form", [INT8, UINT8], ids=str)
def test_the_least_integer_has_the_first_entry(form):
    entries = np.arange(256)[::-1].astype(np.uint8)
    node = Table(name="t", inputs=(tensor("x", form, 1, 256),), output=tensor("y", UINT8, 1, 256), entries=entries)
    x = np.arange(form.min, form.max + 1).astype(form.dtype)[None]
    np.testing.assert_array_equal(node.apply(x), entries[None])
    entries[:] = 0  # the table keeps its own
    assert node.apply(x).any()
    with pytest.raises(ValueError, match="read-only"):
        node.entries[0] = 1


@pytest.mark.parametrize(
    ("shape", "entries", "message"),
    [
        ((1, 5), np.zeros(256, np.uint8), r"\[1, 5\]"),
        ((1, 4), np.zeros(255, np.uint8), r"entries must be 256 of uint8, not \[255\] of uint8"),
        ((1, 4), np.zeros(256, np.int8), r"entries must be 256 of uint8, not \[256\] of int8"),
    ],
)
def test_what_does_not_fit_is_refused(shape, entries, message):
    with pytest.raises(ValueError, match=message):
        Table(name="t", inputs=(tensor("x", INT8, 1, 4),), output=tensor("y", UINT8, *shape), entries=entries)
