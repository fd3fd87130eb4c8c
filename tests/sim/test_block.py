"""Blocks read from packages: their beats are those of the hardware's packing, their errors say what is wrong."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import numpy as np
import pytest
from block_layers import LAYERS, layer, operands

from systoliq.api import ArrayDesign, ArrayOptions, EngineDesign, LayerDesign, LayerOptions, write_package
from systoliq.hw.engine import EngineConfig
from systoliq.hw.packing import ArrayPacking, LayerPacking, to_integers
from systoliq.sim import ArrayBlock, Block, LayerBlock, Scoreboard, SumsScoreboard


@pytest.fixture(scope="module", params=LAYERS)
def designed(request, tmp_path_factory):
    fields, hardware = LAYERS[request.param]
    folder = tmp_path_factory.mktemp("layer")
    design = LayerDesign(layer(**fields), LayerOptions(**hardware), name="fc")
    write_package(design, folder / "out")
    return design, Block.open(folder / "out")


@pytest.mark.sampled(4)
def test_beats_of_a_layer_are_those_of_its_packing(designed):
    design, block = designed
    assert isinstance(block, LayerBlock)
    a, zero_points = operands(block, 5)
    packing = LayerPacking(design.dense, [5])
    column = None if zero_points is None else zero_points[:, None]
    words, last = packing.pack(a, np.random.default_rng(4), column)
    assert block.pack(a, zero_points, np.random.default_rng(4)) == (to_integers(words), last.tolist())

    y = block.golden(a, zero_points)
    assert y.dtype == (np.uint8 if block.layer.has_float8 else block.layer.y_format.dtype)
    np.testing.assert_array_equal(y, design.model(a) if zero_points is None else design.model(a, zero_points))
    expected, _ = packing.expect(y)
    np.testing.assert_array_equal(block.unpack(to_integers(expected), 5), y)

    entered = words[: block.beats_in]
    group, group_zero_points = block.unpack_group(to_integers(entered))
    np.testing.assert_array_equal(group, a[: block.rows])
    assert (group_zero_points is None) == (zero_points is None)
    if zero_points is not None:
        np.testing.assert_array_equal(group_zero_points, zero_points[: block.rows])


@pytest.mark.slow
def test_a_block_that_is_not_exact_expects_what_its_constants_make(tmp_path):
    fields, hardware = LAYERS["not exact"]
    write_package(LayerDesign(layer(**fields), LayerOptions(**hardware), name="fc"), tmp_path / "out")
    block = Block.open(tmp_path / "out")
    a, _ = operands(block, 200)
    assert np.count_nonzero(block.golden(a) != block.layer.golden(a)) > 10


@pytest.mark.parametrize("shape", [(5, 7, 4), (2, 3, 3), (1, 1, 1)])
def test_beats_of_an_array_are_those_of_its_packing(tmp_path, shape):
    m, k, n = shape
    design = ArrayDesign(ArrayOptions(rows=2, cols=3, depth=2, b_bits=4, accumulator_bits=14))
    write_package(design, tmp_path / "out")
    block = Block.open(tmp_path / "out")
    assert isinstance(block, ArrayBlock)
    generator = np.random.default_rng(m)
    a = generator.integers(-128, 128, (m, k)).astype(np.int8)
    b = generator.integers(-8, 8, (k, n)).astype(np.int8)
    packing = ArrayPacking(array=design.array, m=m, k=k, n=n)
    words_a, last, words_b = packing.pack(a, b)
    of_a, of_b = block.pack(a, b)
    assert (of_a.words, of_a.lasts) == (to_integers(words_a), last.tolist())
    assert of_b.words == to_integers(words_b)
    wrapped = (a.astype(int) @ b + (1 << 13)) % (1 << 14) - (1 << 13)
    np.testing.assert_array_equal(block.golden(a, b), wrapped)
    assert [block.unpack_sum(int(value) & (1 << 14) - 1) for value in wrapped.flat] == wrapped.ravel().tolist()


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    folder = tmp_path_factory.mktemp("package") / "out"
    write_package(LayerDesign(layer(), LayerOptions(rows=2, cols=3, depth=2), name="fc"), folder)
    return folder


def test_a_folder_that_is_none(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"/none: must be a directory that systoliq emit wrote$"):
        Block.open(tmp_path / "none")
    (tmp_path / "a.json").write_text("{}")
    with pytest.raises(ValueError, match="must have one NAME.json of systoliq, that of its package, not none$"):
        Block.open(tmp_path)


@pytest.mark.slow
def test_two_packages_in_a_folder(package, tmp_path):
    shutil.copytree(package, tmp_path / "out")
    sidecar = json.loads((package / "fc.json").read_text())
    (tmp_path / "out/other.json").write_text(json.dumps(sidecar | {"name": "other"}))
    with pytest.raises(ValueError, match="must have one NAME.json .*, not fc.json, other.json$"):
        Block.open(tmp_path / "out")


def test_a_sidecar_of_another_kind(tmp_path):
    write_package(EngineDesign(EngineConfig(rows=2, cols=2, lanes=2)), tmp_path / "out")
    with pytest.raises(ValueError, match="out/engine.json: kind must be layer or array, not engine$"):
        Block.open(tmp_path / "out")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"packing": {}}, r"fc.json: must say what a layer of systoliq says, and does not: 'a'$"),
        ({"parameters": {"rows": 1, "cols": 3, "depth": 2}}, r"must have 4 and 2 beats per group .*, not 4 and 4$"),
        ({"parameters": []}, r"fc.json: must say what a layer of systoliq says, and does not: "),
        ({"name": "absent"}, r"absent_layer.npz"),
    ],
)
def test_a_sidecar_that_does_not_fit(package, tmp_path, change, message):
    shutil.copytree(package, tmp_path / "out")
    sidecar = json.loads((package / "fc.json").read_text())
    (tmp_path / "out/fc.json").write_text(json.dumps(sidecar | change))
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        Block.open(tmp_path / "out")


def test_an_array_of_float8(tmp_path):
    write_package(ArrayDesign(ArrayOptions(rows=2, cols=2, a_format="e4m3fn", b_format="e5m2")), tmp_path / "out")
    with pytest.raises(ValueError, match="A and B of an array must be integers, not float8_e4m3fn and float8_e5m2$"):
        Block.open(tmp_path / "out")


@pytest.mark.parametrize(
    ("a", "error", "message"),
    [
        (np.zeros((2, 6), np.int8), ValueError, r"a must have the shape \[M, 7\] or \[7\] .*, not \[2, 6\]"),
        (np.zeros((0, 7), np.int8), ValueError, r"a must have the shape \[M, 7\] with M at least 1, not \[0, 7\]"),
        (np.zeros((2, 7), np.uint8), TypeError, "a must have the type int8, not uint8"),
        (np.zeros((2, 7)), TypeError, "a must have the type int8, not float64"),
    ],
)
def test_rows_of_another_type_or_shape(package, a, error, message):
    with pytest.raises(error, match=message):
        Block.open(package).pack(a)


def test_zero_points_that_the_layer_has(package):
    with pytest.raises(ValueError, match="a_zero_point must not be given: the layer's own is 3"):
        Block.open(package).pack(np.zeros((2, 7), np.int8), np.int8(1))


def test_beats_of_another_count(package):
    with pytest.raises(ValueError, match="words must be the 8 beats of 3 rows, not 3$"):
        Block.open(package).unpack([0, 0, 0], 3)


def test_operands_that_do_not_fit_an_array(tmp_path):
    write_package(ArrayDesign(ArrayOptions(rows=2, cols=2)), tmp_path / "out")
    block = Block.open(tmp_path / "out")
    with pytest.raises(ValueError, match=r"shapes \[M, K\] and \[K, N\], none of them 0, not \[2, 3\] and \[2, 3\]"):
        block.pack(np.zeros((2, 3), np.int8), np.zeros((2, 3), np.int8))
    with pytest.raises(TypeError, match="b must have the type int8, not uint8"):
        block.golden(np.zeros((2, 3), np.int8), np.zeros((3, 3), np.uint8))
    with pytest.raises(TypeError, match=r"block must be a LayerBlock, not .*: see SumsScoreboard for an array"):
        Scoreboard(block, y=None)


def test_a_layer_has_no_sums_of_an_array(package):
    with pytest.raises(TypeError, match=r"block must be an ArrayBlock, not .*: see Scoreboard for a layer"):
        SumsScoreboard(Block.open(package), sums=None)


def test_every_name_is_there_and_nothing_waits_for_amaranth(package):
    program = """if True:
        import sys
        import systoliq.sim as sim
        block = sim.Block.open(sys.argv[1])
        sim.Scoreboard, sim.SumsScoreboard, sim.StreamSource, sim.StreamSink, sim.StreamMonitor, sim.SumsMonitor
        import systoliq.sim.dense_bench, systoliq.sim.array_bench
        assert not [name for name in sys.modules if name.startswith(("amaranth", "systoliq.hw", "systoliq.design"))]
        assert all(hasattr(sim, name) for name in sim.__all__)
        assert not hasattr(sim, "anything")
    """
    subprocess.run([sys.executable, "-c", program, package], check=True, timeout=60)
