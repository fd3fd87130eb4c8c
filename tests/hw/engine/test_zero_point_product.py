"""The product of a zero point and a sum, of every set of cells that it is made of."""

from __future__ import annotations

import random

import pytest

from systoliq.hw.engine.zero_point_product import ZeroPointProduct

from ..bench import corner_of, traces, with_models, wrapped


@pytest.mark.parametrize("cells", with_models("portable", "ecp5", "ecp5-lut", "xilinx"))
def test_product_modulo_2_to_32(tmp_path, cells):
    options = [(bits, pipelined) for bits in (8, 17, 18, 24, 25, 32) for pipelined in (True, False)]
    options = [option for option in options if option[1] or cells == "portable"]
    blocks = [ZeroPointProduct(bits, cells=cells, pipelined=pipelined) for bits, pipelined in options]
    rng = random.Random(cells)
    stimuli = [
        [{"sum": corner_of(rng, bits), "zero_point": corner_of(rng, 8)} for _ in range(90)] for bits, _ in options
    ]
    shown = traces(blocks, stimuli, cells=cells, folder=tmp_path)
    for (bits, pipelined), given, lines in zip(options, stimuli, shown, strict=True):
        latency = ZeroPointProduct.latency_of(cells, pipelined=pipelined)
        wanted = [wrapped(line["sum"] * line["zero_point"], 32) for line in given[: 90 - latency]]
        assert [line["product"] for line in lines[latency:]] == wanted, (bits, pipelined)
