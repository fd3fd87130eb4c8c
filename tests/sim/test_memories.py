"""Cosimulation of designs whose memories' contents are in files: bit-equal, from any directory, kept by content."""

from __future__ import annotations

import numpy as np
import pytest

from systoliq.golden.requantization import Requantization
from systoliq.hw import ArrayConfig, Dense
from systoliq.hw.verilog import Verilog
from systoliq.sim.cosimulation import Run, cosimulate, dense_verilog
from systoliq.sim.process import SimulationError
from systoliq.sim.runner import build

from ..package.big import K, big_layer
from ..support.simulators import icarus_first


def dense(layer):
    requantization = Requantization.from_scales(layer.scale, layer.y_zero_point, layer.y_format)
    return Dense(layer, requantization, ArrayConfig(rows=1, cols=2, depth=1))


@pytest.fixture(scope="module")
def a():
    return np.random.default_rng(1).integers(0, 256, (6, K)).astype(np.uint8)


@icarus_first
def test_a_big_layer_equals_the_float32_formula(a, simulator, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    layer = big_layer()
    result = cosimulate(dense(layer), Run(a=a, stalls=0.2, bulk=True), simulator=simulator).check()
    np.testing.assert_array_equal(result.y, layer.golden(a))
    assert not list(tmp_path.iterdir())


@icarus_first
def test_a_build_belongs_to_its_contents(a, simulator):
    """Two texts that are equal but for a file: the second must not be taken for the first."""
    layer = big_layer()
    b = layer.b.copy()
    b[17, 30] ^= 64
    texts = [dense_verilog(dense(each)) for each in (layer, layer.replace(b=b))]
    cosimulate(dense(layer), Run(a=a), simulator=simulator, verilog=texts[0]).check()
    swapped = Verilog(texts[0], texts[1].files)
    result = cosimulate(dense(layer), Run(a=a), simulator=simulator, verilog=swapped)
    assert not result.passed
    assert set(result.tensors["y"].wrong[:, 1].tolist()) == {30}


@icarus_first
@pytest.mark.filterwarnings("ignore::systoliq.sim.runner.SimulatorWarning")
def test_files_next_to_verilog_files_are_read(simulator, tmp_path):
    text = dense_verilog(dense(big_layer()))
    (tmp_path / "dense.v").write_text(text)
    for name, content in text.files.items():
        (tmp_path / name).write_bytes(content)
    first = build([tmp_path / "dense.v"], "dense", simulator)
    assert {file.name: file.read_bytes() for file in (first.folder / "memories").iterdir()} == text.files
    name = next(iter(text.files))
    (tmp_path / name).write_bytes(text.files[name].replace(b"a", b"b"))
    assert build([tmp_path / "dense.v"], "dense", simulator).folder != first.folder


@icarus_first
def test_a_text_without_its_files_fails(a, simulator):
    text = dense_verilog(dense(big_layer()))
    with pytest.raises(SimulationError):
        cosimulate(dense(big_layer()), Run(a=a), simulator=simulator, verilog=str(text)).check()
