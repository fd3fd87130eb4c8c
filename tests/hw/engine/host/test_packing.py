"""Words of an engine's streams, by the formulas that users get, one element after the other."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.host.packing import EnginePacking

CONFIGS = [
    EngineConfig(rows=3, cols=4, depth=1, lanes=2, a_words=8, b_words=8),
    EngineConfig(rows=2, cols=6, depth=4, lanes=3, a_words=8, b_words=8),
    EngineConfig(rows=2, cols=4, depth=2, lanes=1, a_words=8, b_words=8, dataflow="weight-stationary"),
]
M, K, N = 7, 9, 11


def element(x, *at):
    """None beyond the matrix, where anything may be."""
    return int(x[at]) % 256 if all(i < size for i, size in zip(at, x.shape, strict=True)) else None


def a_words(config, a):
    rows, depth = config.rows, config.depth
    if config.dataflow == "weight-stationary":
        for q in range(-(-K // (rows * depth))):
            for m in range(M):
                yield [element(a, m, q * rows * depth + i) for i in range(rows * depth)]
        return
    for g in range(-(-M // rows)):
        for t in range(-(-K // depth)):
            yield [element(a, g * rows + r, t * depth + d) for r in range(rows) for d in range(depth)]


def b_words(config, b):
    cols, depth, lanes = config.cols, config.depth, config.lanes
    columns = [(p % (cols // lanes)) * lanes + p // (cols // lanes) for p in range(cols)]
    for h in range(-(-N // cols)):
        for t in range(-(-K // depth)):
            yield [element(b, t * depth + d, h * cols + c) for c in columns for d in range(depth)]


def y_elements(config, y):
    group = M if config.dataflow == "weight-stationary" else config.rows
    for g in range(0, M, group):
        for h in range(0, N, config.cols):
            for row in range(g, min(g + group, M)):
                yield from y[row, h : h + config.cols]


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_words_are_those_of_the_formulas(config):
    rng, packing = np.random.default_rng(1), EnginePacking(config)
    a, b = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((M, K), (K, N)))
    for packed, expected in ((packing.pack_a(a), a_words(config, a)), (packing.pack_b(b), b_words(config, b))):
        for word, bytes_ in zip(packed, expected, strict=True):
            known = [place for place, byte in enumerate(bytes_) if byte is not None]
            assert len(word) == len(bytes_)
            assert [int(word[place]) for place in known] == [bytes_[place] for place in known]


@pytest.mark.parametrize("config", CONFIGS, ids=str)
@pytest.mark.parametrize("dtype", [np.int8, np.int32])
def test_results_come_group_by_group(config, dtype):
    y, packing = np.random.default_rng(2).integers(-128, 128, (M, N)).astype(dtype), EnginePacking(config)
    stream = packing.pack_y(y)
    assert stream == b"".join(int(each).to_bytes(y.itemsize, "little", signed=True) for each in y_elements(config, y))
    np.testing.assert_array_equal(packing.unpack_y(stream, M, N, y.dtype), y)
    beats = [stream[at : at + 4 * config.lanes] for at in range(0, len(stream), 4 * config.lanes)]
    assert packing.y_beats(M, N, y.dtype) == len(beats)
    with pytest.raises(ValueError, match=f"data must hold {M * N} results, not {M * N - 1}"):
        packing.unpack_y(stream[: -y.itemsize], M, N, y.dtype)
