"""How operands and results lie in words: each is found where the sidecar says, and comes back as it was."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden import INT8, UINT8, IntFormat, MatMulLayer, Requantization, Unscaled
from systoliq.hw import ArrayConfig, BareArray, Dense
from systoliq.hw.engine import EngineConfig
from systoliq.hw.engine.host import EnginePacking
from systoliq.hw.hierarchy import mark_used
from systoliq.hw.packing import ArrayPacking, LayerPacking, from_words, to_integers, to_words


@pytest.mark.parametrize("signed", [False, True])
@pytest.mark.parametrize("bits", [2, 5, 8, 13, 16, 31, 32, 48])
def test_elements_of_any_width_come_back(bits, signed):
    fmt = IntFormat(bits=bits, signed=signed) if bits <= 16 else None
    low, high = (fmt.min, fmt.max) if fmt else (-(1 << bits - 1) * signed, (1 << bits - signed) - 1)
    elements = np.random.default_rng(bits).integers(low, high, (7, 5), endpoint=True)
    words = to_words(elements, bits, -(-5 * bits // 8) + 1)
    np.testing.assert_array_equal(from_words(words, bits, 5, signed=signed), elements)
    for word, row in zip(to_integers(words), elements.tolist(), strict=True):
        assert word == sum((value & (1 << bits) - 1) << index * bits for index, value in enumerate(row))


@pytest.fixture
def layer():
    rng = np.random.default_rng(1)
    layer = MatMulLayer(
        b=rng.integers(-128, 128, (7, 11)).astype(np.int8), a_scale=0.05, a_zero_point=np.uint8(3), b_scale=0.02,
        b_zero_point=np.int8(0), y_scale=1.5, y_zero_point=np.int8(1),
    )  # fmt: skip
    constants = Requantization.from_scales(layer.scale, layer.y_zero_point, layer.y_format)
    dense = Dense(layer, constants, ArrayConfig(rows=3, cols=4, depth=2))
    mark_used(dense)
    return dense


def test_layer(layer):
    """Three batches of which two leave rows of their last group over: A by the sentences of the sidecar, Y and back."""
    batches, rng = (4, 3, 1), np.random.default_rng(2)
    packing = LayerPacking(layer, batches)
    a = rng.integers(0, 256, (8, 7)).astype(np.uint8)
    words, last = packing.pack(a, rng)
    elements = from_words(words, 8, 6, signed=False)
    beats, groups = 4, (range(3), range(3, 4), range(4, 7), range(7, 8))
    for group, rows in enumerate(groups):
        for r, row in enumerate(rows):
            found = np.concatenate([elements[group * beats + t, r * 2 : r * 2 + 2] for t in range(beats)])
            np.testing.assert_array_equal(found[:7], a[row])
    assert np.flatnonzero(last).tolist() == [7, 11, 15]
    y = rng.integers(-128, 128, (8, 11)).astype(np.int8)
    back, there = packing.unpack(packing.expect(y)[0])
    assert there.all()
    np.testing.assert_array_equal(back, y)
    final = np.flatnonzero(packing.y_beats()[2])[-1]  # of the beats that mean something
    shorter, there = packing.unpack(packing.expect(y)[0][:final])
    assert not there[-1, -1]
    np.testing.assert_array_equal(shorter[there], y[there])


def test_zero_points_stand_above_the_operands(layer):
    """Each row's, as the sidecar says, in all beats of its group: rows 0 to 2, 3, and 4 of a second batch."""
    bare = MatMulLayer(b=layer.layer.b, a_format=IntFormat(6, signed=True), b_zero_point=np.int8(0))
    dense = Dense(bare, Unscaled(), layer.config)
    mark_used(dense)
    packing, rng, same = LayerPacking(dense, (4, 1)), np.random.default_rng(2), np.random.default_rng(3)
    a, zero_points = (rng.integers(-32, 32, shape).astype(np.int8) for shape in ((5, 7), (5, 1)))
    words, _ = packing.pack(a, np.random.default_rng(3), zero_points)
    assert (packing.a_bytes, packing.user_bytes, words.shape) == (5, 3, (12, 8))
    np.testing.assert_array_equal(words[:, :5], packing.pack(a, same)[0])
    users = from_words(words[:, 5:], 6, 3, signed=True).reshape(3, 4, 3)
    for group, rows in enumerate((range(3), range(3, 4), range(4, 5))):
        for r, row in enumerate(rows):
            assert users[group, :, r].tolist() == [zero_points[row, 0]] * 4


def test_array():
    """Ragged on all sides."""
    array = BareArray(ArrayConfig(rows=3, cols=2, depth=2, a=IntFormat(bits=5, signed=True), b=UINT8))
    mark_used(array)
    packing = ArrayPacking(array=array, m=4, k=5, n=3)
    rng = np.random.default_rng(3)
    a, b = rng.integers(-16, 16, (4, 5)), rng.integers(0, 256, (5, 3))
    a_words, last, b_words = packing.pack(a, b)
    a_elements = from_words(a_words, 5, 6, signed=True).reshape(2, 2, 3, 3, 2)  # down, across, beat, row, element
    b_elements = from_words(b_words, 8, 4, signed=False).reshape(2, 2, 3, 2, 2)
    found_a = a_elements[:, 0].transpose(0, 2, 1, 3).reshape(6, 6)
    found_b = b_elements[0].transpose(0, 2, 1, 3).reshape(4, 6).T
    np.testing.assert_array_equal(found_a, np.pad(a, ((0, 2), (0, 1))))
    np.testing.assert_array_equal(found_b, np.pad(b, ((0, 1), (0, 1))))
    np.testing.assert_array_equal(a_elements[:, 1], a_elements[:, 0])
    np.testing.assert_array_equal(b_elements[1], b_elements[0])
    assert np.flatnonzero(last).tolist() == [2, 5, 8, 11]
    words = packing.expect(a @ b)
    back, there, surplus = packing.unpack(np.ones((len(words), 2), np.int64), words)
    assert there.all()
    assert not surplus.any()
    np.testing.assert_array_equal(back, a @ b)


@pytest.mark.parametrize("dataflow", ["output-stationary", "weight-stationary"])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_engine(dataflow, dtype):
    """A and B by the sentences of the sidecar, with anything in the pads or zeros; Y there and back."""
    config = EngineConfig(rows=3, cols=6, depth=2, lanes=2, dataflow=dataflow)
    packing, rng = EnginePacking(config), np.random.default_rng(4)
    fmt = IntFormat.of(np.dtype(dtype))
    m, k, n = 7, 9, 13
    a, b = (rng.integers(fmt.min, fmt.max, shape, endpoint=True).astype(dtype) for shape in ((m, k), (k, n)))
    for generator in (None, np.random.default_rng(5)):
        a_words, b_words = packing.pack_a(a, generator), packing.pack_b(b, generator)
        for row, column in np.ndindex(m, k):
            if dataflow == "weight-stationary":
                word, byte = column // 6 * m + row, column % 6
            else:
                word, byte = row // 3 * 5 + column // 2, row % 3 * 2 + column % 2
            assert a_words[word, byte] == a[row, column].view(np.uint8)
        for row, column in np.ndindex(k, n):
            c = column % 6
            (p,) = [p for p in range(6) if p % 3 * 2 + p // 3 == c]
            assert b_words[column // 6 * 5 + row // 2, p * 2 + row % 2] == b[row, column].view(np.uint8)
        if generator is None:
            assert a_words.view(np.int8).sum(dtype=int) == a.view(np.int8).sum(dtype=int)
            assert b_words.view(np.int8).sum(dtype=int) == b.view(np.int8).sum(dtype=int)
    for dtype_of_y in (np.int32, INT8.dtype):
        y = rng.integers(-128, 128, (m, n)).astype(dtype_of_y)
        data = packing.pack_y(y)
        np.testing.assert_array_equal(packing.unpack_y(data, m, n, y.dtype), y)
        assert packing.y_beats(m, n, y.dtype) == -(-len(data) // 8)
    with pytest.raises(ValueError, match="data must hold 91 results, not 90"):
        packing.unpack_y(bytes(90), m, n, np.dtype(np.int8))


@pytest.mark.parametrize("dataflow", ["output-stationary", "weight-stationary"])
@pytest.mark.parametrize("dtype", [np.int8, np.int32])
def test_results_of_an_engine_come_group_by_group(dataflow, dtype):
    """For each group of rows, each tile of columns, each row: its columns of the tile, the lowest bytes first."""
    config, (m, n) = EngineConfig(rows=3, cols=6, depth=2, lanes=2, dataflow=dataflow), (7, 13)
    y = np.random.default_rng(6).integers(-128, 128, (m, n)).astype(dtype)
    group = m if dataflow == "weight-stationary" else 3
    rows = (y[r, h : h + 6] for g in range(0, m, group) for h in range(0, n, 6) for r in range(g, min(g + group, m)))
    expected = b"".join(int(each).to_bytes(y.itemsize, "little", signed=True) for row in rows for each in row)
    assert EnginePacking(config).pack_y(y) == expected
