"""The product of the vector unit: the corners of both formats and random bytes, a pair a cycle, by golden's float32."""

from __future__ import annotations

import itertools
import random

import numpy as np
import pytest

from systoliq.golden.formats import INT8, UINT8
from systoliq.golden.network import Multiplication, Tensor
from systoliq.hw.dma.vector_commands import ProductOperation
from systoliq.hw.dma.vector_product import VectorProduct

from ..bench import traces, with_models

CASES = [  # format, zero points of A, B and Y, scales
    (INT8, (-128, 127, 3), (0.02, 0.5, 0.01)),
    (UINT8, (128, 0, 255), (0.05, 0.003, 0.02)),
    (INT8, (5, -7, -128), (1.0, 1.0, 1.0)),
    (UINT8, (255, 255, 0), (0.001, 0.001, 0.5)),
]
DRAWN = 400


def lines_of(operation, pairs, latency):
    """The cycles in which the unit's tables are written, and in which it is given `pairs`."""
    tables = [np.frombuffer(table, "<i4").tolist() for table in operation.memory]
    given = {"unsigned": int(not operation.output.signed), "a": 0, "b": 0, "at": 0, "threshold": 0, "constant": 0}
    loads = [
        given | {"load": 1, "at": at, "threshold": threshold, "constant": constant}
        for at, (threshold, constant) in enumerate(zip(*tables, strict=True))
    ]
    ends = [(0, 0)] * latency
    return [*loads, *(given | {"load": 0, "a": one & 0xFF, "b": other & 0xFF} for one, other in [*pairs, *ends])]


@pytest.mark.parametrize("cells", with_models("portable", "ecp5"))
def test_products_of_bytes(cells, tmp_path):
    blocks, stimuli, expected, rng = [], [], [], random.Random(1)
    for form, points, scales in CASES:
        a, b, y = (
            Tensor(name=name, shape=(1,), format=form, scale=np.float32(scale), zero_point=point)
            for name, scale, point in zip("aby", scales, points, strict=True)
        )
        operation = ProductOperation(node=Multiplication(name="product", inputs=(a, b), output=y))
        drawn = [[rng.randint(form.min, form.max) for _ in range(2)] for _ in range(DRAWN)]
        pairs = [*itertools.product((form.min, form.max, *points[:2]), repeat=2), *drawn]
        blocks.append(VectorProduct(cells=cells))
        stimuli.append(lines_of(operation, pairs, blocks[-1].latency))
        operands = (np.array(each).astype(form.dtype) for each in zip(*pairs, strict=True))
        expected.append(operation.apply(*operands).view(np.uint8).tolist())
    for block, shown, wanted in zip(
        blocks, traces(blocks, stimuli, cells=cells, folder=tmp_path), expected, strict=True
    ):
        assert [line["y"] for line in shown][256 + block.latency :] == wanted
