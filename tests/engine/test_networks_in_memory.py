"""Layers of networks through lists in memory, end to end in RTL: equal to golden, and how busy the array is."""

from __future__ import annotations

import functools
import sys

import numpy as np
import pytest
from configurations import golden
from operations import values

from systoliq.hw.engine import EngineConfig, JobShape
from systoliq.hw.engine.host import Job, blocks
from systoliq.sim.engine.self_fed import SelfFed

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
BERT = [(128, 768, 768), (128, 64, 128), (128, 128, 64), (128, 768, 3072), (128, 3072, 768)]
VIT_TINY = [(197, 192, 192), (197, 64, 197), (197, 197, 64), (197, 192, 768), (197, 768, 192)]
NETWORKS = {  # name -> products, and the least share of what their edges allow
    "resnet8": (RESNET8, 0.95),
    "ds-cnn": (DS_CNN, 0.9),
    "ad01": (AD01, 0.95),
    "bert": (BERT, 0.99),
    "vit-tiny": (VIT_TINY, 0.98),
}


@functools.cache
def self_fed():
    return SelfFed(CONFIG, bus_bytes=16)


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


@pytest.mark.slow
@pytest.mark.parametrize("name", NETWORKS)
def test_layers_of_a_network(name, capsys):
    """Twice, one behind the other: the second time its tables are there, which is what a network costs from then on."""
    shapes, least = NETWORKS[name]
    jobs = jobs_of(shapes, np.random.default_rng(3))
    found = self_fed()
    results, once = found.run(jobs, limit=6_000_000)
    for job, y in zip(jobs, results, strict=True):
        np.testing.assert_array_equal(y, golden(job))
    cycles = found.run([*jobs, *jobs], limit=12_000_000)[1].cycles - once.cycles
    sizes = [JobShape(m=m, k=k, n=n, config=CONFIG) for m, k, n in shapes]
    edges = sum(shape.groups * shape.column_tiles * shape.beats for shape in sizes)
    with capsys.disabled():
        sys.stdout.write(
            f"\n{name}: {len(jobs)} jobs, {cycles} cycles, {edges / cycles:.4f} of what the edges allow; {once.beats}\n"
        )
    assert edges / cycles >= least
