"""Beats of memory: what the model says the masters ask for, and the order of a product's jobs, whichever reads less."""

from __future__ import annotations

import numpy as np
import pytest
from dma_lists import dma_engine
from operations import values

from systoliq.benchmarks.buffers import BUS_BYTES, CONFIG, buffer_figures
from systoliq.design.engine.traffic import LARGEST_WORDS, beats_of, least_buffers, traffic
from systoliq.design.engine.workloads import OWN, Product, jobs_of, read_workloads
from systoliq.hw.engine import JobShape
from systoliq.hw.engine.host import Job


@pytest.mark.simulator
def test_masters_ask_for_the_beats_of_the_model():
    found, rng = dma_engine("small, 32 bits"), np.random.default_rng(0)
    for m, k, n in ((1, 1, 8), (9, 7, 16), (3, 16, 12)):
        job = Job(
            a=values(rng, np.int8, (m, k)),
            b=values(rng, np.int8, (k, n)),
            a_zero_point=np.int8([3]),
            b_zero_point=np.zeros(n, np.int8),
            bias=np.zeros(n, np.int32),
            scale=np.full(n, 0.01, np.float32),
        )
        _, report = found.run([job])
        assert tuple(report.beats[name] for name in "aby") == beats_of(JobShape(m=m, k=k, n=n, config=found.config), 4)


def product(m, k, n):
    return Product(network="x", m=m, k=k, n=n)


@pytest.mark.parametrize(
    ("m", "n", "a_words", "b_words", "jobs", "read"),
    [
        (32, 64, 64, 256, 2, 2 * 32 + 64),  # half the columns fit: A is read twice, B once
        (16, 512, 64, 64, 2, 16 + 2 * 512),  # a tile of 64 fits: groups of rows read A once, B twice
        (64, 16, 64, 64, 2, 2 * 64 + 16),  # the other way round
        (64, 16, 64, 32, 8, 64 + 8 * 16),  # no tile fits
        (64, 16, 32, 64, 2, 2 * 64 + 16),  # A does not fit: a job for each tile
    ],
)
def test_jobs_are_cut_where_less_is_read(m, n, a_words, b_words, jobs, read):
    made = jobs_of(CONFIG.replace(a_words=a_words, b_words=b_words), product(m, 64, n))
    assert sum(count for _, count in made) == jobs
    assert sum(count * (shape.m + shape.n) for shape, count in made) == read


def test_least_buffers_are_enough_and_least():
    products = [product(128, 768, 768)]
    largest = traffic(products, CONFIG.replace(a_words=LARGEST_WORDS, b_words=LARGEST_WORDS), BUS_BYTES)
    figures = least_buffers(products, CONFIG, BUS_BYTES)
    found = figures.config
    assert figures.cycles <= 1.01 * largest.cycles
    for less in (found.replace(a_words=found.a_words // 2), found.replace(b_words=found.b_words // 2)):
        assert traffic(products, less, BUS_BYTES).cycles > 1.01 * largest.cycles


def test_one_bus_of_64_bits_keeps_an_8x8_busy(shared):
    products = read_workloads(shared / "data" / "workloads_mkn.csv")
    figures = {each.network: each for each in buffer_figures(products)}
    assert len(figures) == len({each.network for each in products})
    assert all(each.of_limit >= (0.94 if name == "vww" else 0.95) for name, each in figures.items())
    assert all(each.of_limit <= 1 for each in figures.values())


def test_own_networks_need_32_kib_each():
    for figures in buffer_figures(OWN):
        assert figures.of_limit >= 0.99
        assert figures.config.a_words * 8 <= 32 << 10
        assert figures.config.b_words * 8 <= 32 << 10
