"""The engine's rate: near the limit that a shape's ragged edges set, by the cycle model and in RTL."""

from __future__ import annotations

import numpy as np
import pytest
from engines import engine
from operations import values

from systoliq.benchmarks.engine import CONFIGS, throughput_figures
from systoliq.design.engine.workloads import OWN, jobs_of, read_workloads, study
from systoliq.golden import qlinear_matmul
from systoliq.hw.engine import EngineConfig

NETWORKS = ("resnet8", "bert-base_s128", "vit-ti16_224")
LARGE = EngineConfig(rows=16, cols=16, lanes=16, a_words=1024, b_words=16384)


@pytest.mark.parametrize("network", NETWORKS)
def test_networks_are_near_their_limit(network):
    figures = study([product for product in OWN if product.network == network], "16x16", CONFIGS["16x16"])
    assert 0.98 <= figures.of_limit <= 1


def test_networks_of_the_shared_table(shared):
    products = read_workloads(shared / "data" / "workloads_mkn.csv")
    for network in NETWORKS:
        given = [product for product in products if product.network == network]
        own = [product for product in OWN if product.network == network]
        assert study(given, "", CONFIGS["16x16"]) == study(own, "", CONFIGS["16x16"])
        assert study(given, "", CONFIGS["16x16"]).of_limit >= 0.98


def test_no_figure_is_beyond_its_limit():
    for figures in throughput_figures(OWN):
        config = CONFIGS[figures.engine]
        assert figures.utilization <= figures.limit <= 1
        assert figures.a_bytes <= config.rows * config.depth
        assert figures.b_bytes <= config.cols * config.depth
        assert figures.y_bytes <= config.lanes


def test_jobs_cover_the_product():
    config = EngineConfig(a_words=16, b_words=64, max_columns=32)
    for product in OWN:
        jobs = jobs_of(config, product)
        assert sum(count * job.macs for job, count in jobs) == product.count * product.m * product.k * product.n
        for job, _ in jobs:
            assert job.n <= config.max_columns
            assert job.n <= config.cols or job.beats <= config.a_words
            assert job.m <= config.rows or job.b_words <= config.b_words


@pytest.mark.slow
@pytest.mark.simulator
def test_utilization_of_rtl():
    """Shapes of the three networks, and a large one, on 16x16; bit-exact, and in the cycles of the model."""
    shapes = {
        (256, 768, 256): 0.99,
        (1024, 27, 16): 0.95,  # ResNet8, its first convolution
        (64, 576, 64): 0.98,  # ResNet8
        (128, 64, 128): 0.98,  # BERT-base, a head of attention: 83 of its 4179 cycles fill the pipeline
        (197, 64, 197): 0.98,  # ViT-Tiny, a head of attention
    }
    hardware = engine(LARGE)
    rng = np.random.default_rng(0)
    plans, wanted = [], []
    for m, k, n in shapes:
        a, b = values(rng, np.uint8, (m, k)), values(rng, np.int8, (k, n))
        b_scale = rng.uniform(0.01, 0.03, n).astype(np.float32)
        y_scale = np.float32(0.3 * np.sqrt(k))
        inputs = (a, np.float32(0.02), np.uint8(120), b, b_scale, np.zeros(n, np.int8), y_scale, np.uint8(128))
        plans.append(hardware.plan_qlinear_matmul(*inputs))
        wanted.append(qlinear_matmul(*inputs))
    for result, expected, least in zip(hardware.run(plans), wanted, shapes.values(), strict=True):
        np.testing.assert_array_equal(result.y, expected)
        (report,) = result.reports
        assert report.cycles == report.model_cycles
        assert report.utilization >= least * report.shape.edge_limit
