"""Layers of networks through lists in memory, end to end in RTL: equal to golden, and how busy the array is."""

from __future__ import annotations

import csv
import functools
import sys

import numpy as np
import pytest
from configurations import golden
from convolutions import Listed, convolution_of
from operations import values

from systoliq.golden.network import Window
from systoliq.hw.dma.convolutions import is_copied
from systoliq.hw.engine import AxiEngine, EngineConfig, JobShape
from systoliq.hw.engine.host import Job, blocks
from systoliq.sim.engine.dma_engine import SimulatedDmaEngine

CONFIG = EngineConfig(rows=16, cols=16, lanes=16, a_words=4096, b_words=16384, max_columns=4096)
RESNET8 = [
    (1024, 27, 16),
    (1024, 144, 16),
    (1024, 144, 16),
    (256, 144, 32),
    (256, 288, 32),
    (256, 16, 32),
    (64, 288, 64),
    (64, 576, 64),
    (64, 32, 64),
    (1, 64, 10),
]
DS_CNN = [(125, 40, 64), *[(125, 64, 64)] * 4, (1, 64, 12)]
AD01 = [(1, 640, 128), *[(1, 128, 128)] * 3, (1, 128, 8), (1, 8, 128), *[(1, 128, 128)] * 3, (1, 128, 640)]
ATTENTION = [(128, 768, 768), *[(128, 64, 128), (128, 128, 64)] * 2]
BERT = [(128, 768, 768), (128, 64, 128), (128, 128, 64), (128, 768, 3072), (128, 3072, 768)]
VIT_TINY = [(197, 192, 192), (197, 64, 197), (197, 197, 64), (197, 192, 768), (197, 768, 192)]
NETWORKS = {  # name -> products, and the least share of what their edges allow
    "resnet8": (RESNET8, 0.95),
    "ds-cnn": (DS_CNN, 0.9),
    "ad01": (AD01, 0.95),
    "bert's attention": (ATTENTION, 0.98),
    "bert": (BERT, 0.99),
    "vit-tiny": (VIT_TINY, 0.98),
}


@functools.cache
def dma_engine():
    return SimulatedDmaEngine(CONFIG, bus_bytes=16)


def jobs_of(shapes, rng):
    """Each product as the jobs that fit the engine."""
    jobs = []
    for m, k, n in shapes:
        a, b = values(rng, np.int8, (m, k)), values(rng, np.int8, (k, n))
        rows, columns = blocks(CONFIG, m, k, n, per_row=False)
        for column in range(0, n, columns):
            own = b[:, column : column + columns]
            constants = {"b_zero_point": np.zeros(own.shape[1], np.int8), "bias": np.zeros(own.shape[1], np.int32)}
            scale = np.full(own.shape[1], 1e-4, np.float32)
            for row in range(0, m, rows):
                part = a[row : row + rows]
                jobs.append(Job(a=part, b=own, a_zero_point=np.int8([-3]), scale=scale, **constants))
    return jobs


def edges(shapes):
    """Cycles that the shapes take at the least on this array: a group of rows by a tile of columns, K each."""
    return sum(shape.groups * shape.column_tiles * shape.beats for shape in shapes)


WORKLOADS = {"resnet8": 0.95, "kws": 0.9, "bert-base_s128": 0.99, "vit-ti16_224": 0.98, "ad01": 0.3}


@pytest.mark.parametrize("name", WORKLOADS)
def test_all_layers_of_a_network_by_the_cycle_model(name, shared, capsys):
    """Jobs one behind the other, whose operands wait: what the engine itself leaves of the edges' limit."""
    with (shared / "data/workloads_mkn.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["workload"] == name]
    whole, jobs = [], []
    for row in rows:
        m, k, n = (int(row[axis]) for axis in "MKN")
        most_rows, most_columns = blocks(CONFIG, m, k, n, per_row=False)
        parts = [
            JobShape(m=min(most_rows, m - first), k=k, n=min(most_columns, n - column), config=CONFIG)
            for column in range(0, n, most_columns)
            for first in range(0, m, most_rows)
        ]
        jobs += parts * int(row["count"])
        whole += [JobShape(m=m, k=k, n=n, config=CONFIG)] * int(row["count"])
    share = edges(whole) / AxiEngine(CONFIG).queue_cycles(jobs)
    with capsys.disabled():
        sys.stdout.write(f"\n{name}: {len(whole)} layers, {len(jobs)} jobs, {share:.4f} of what the edges allow\n")
    assert share >= WORKLOADS[name]


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_layers_of_a_network(name, capsys):
    """Small ones twice, one behind the other: the second time its tables are there, which is what a network costs from
    then on.
    """
    shapes, least = NETWORKS[name]
    jobs = jobs_of(shapes, np.random.default_rng(3))
    found, least_cycles = dma_engine(), edges(JobShape(m=m, k=k, n=n, config=CONFIG) for m, k, n in shapes)
    results, once = found.run(jobs, limit=6_000_000)
    for job, y in zip(jobs, results, strict=True):
        np.testing.assert_array_equal(y, golden(job))
    cycles = once.cycles
    if least_cycles < 400_000:
        cycles = found.run([*jobs, *jobs], limit=12_000_000)[1].cycles - cycles
    share = least_cycles / cycles
    with capsys.disabled():
        sys.stdout.write(
            f"\n{name}: {len(jobs)} jobs, {cycles} cycles, {share:.4f} of what the edges allow; {once.beats}\n"
        )
    assert share >= least


def resnet8(rng):
    """Its convolutions and dense layer, as convolutions of seeded values."""
    of = functools.partial(convolution_of, rng)
    same, half = {"kernel": (3, 3), "pads": (1, 1, 1, 1)}, {"kernel": (3, 3), "strides": (2, 2), "pads": (0, 0, 1, 1)}
    across = {"kernel": (1, 1), "strides": (2, 2)}
    layers = [
        (3, 32, 16, same), *[(16, 32, 16, same)] * 2, (16, 32, 32, half), (32, 16, 32, same), (16, 32, 32, across),
        (32, 16, 64, half), (64, 8, 64, same), (32, 16, 64, across), (64, 1, 10, {"kernel": (1, 1)}),
    ]  # fmt: skip
    return [of((1, channels, size, size), n, Window(**window)) for channels, size, n, window in layers]


@pytest.mark.slow
def test_resnet8_by_address(capsys):
    """With and without an im2col matrix for the first layer, of whose 27 columns a pixel has 3."""
    given = resnet8(np.random.default_rng(5))
    found, shares = dma_engine(), {}
    chosen = tuple(i for i, each in enumerate(given) if is_copied(each.maps(), CONFIG, 16, len(each.w)))
    assert chosen == (0,)
    for name, copied in (("all", ()), ("all but the first", chosen)):
        listed = Listed.of(found, given, 1, ragged=False, copied=copied)
        cycles = []
        for times in (1, 2):
            jobs, places = listed.jobs * times, listed.places * times
            (outcome,) = found.simulate([found.prepare(jobs, places, listed.image, limit=400_000)])
            results, report = found.finish(jobs, places, outcome)
            listed.check(given, results[: len(listed.jobs)])
            cycles.append(report.cycles)
        shares[name] = edges(report.shapes) / 2 / (cycles[1] - cycles[0])
        with capsys.disabled():
            sys.stdout.write(f"\nresnet8, {name} by address: {cycles[1] - cycles[0]} cycles, {shares[name]:.4f}\n")
    assert shares["all but the first"] >= 0.95
