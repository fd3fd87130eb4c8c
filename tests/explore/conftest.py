from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from systoliq.explore.grid.subjects.layer import LayerSubject
from systoliq.golden.layer import MatMulLayer

_HERE = Path(__file__).parent
sys.path.insert(0, str(_HERE))  # explore_fakes, for worker processes too: they are given sys.path


@pytest.fixture
def layer() -> MatMulLayer:
    from explore_fakes import small_layer  # found by the path set above

    return small_layer()


@pytest.fixture
def subject(layer: MatMulLayer) -> LayerSubject:
    inputs = np.random.default_rng(4).uniform(-6, 6, (60, layer.k)).astype(np.float32)
    weights = layer.centered_b * layer.b_scale.astype(np.float64)
    real = inputs @ weights + layer.bias * float(layer.a_scale) * layer.b_scale
    return LayerSubject(source="small.npz", origin="the tests", layer=layer, inputs=inputs, labels=real.argmax(axis=1))


@pytest.fixture
def cluster(tmp_path):
    """A scheduler and two workers, each a process of its own, on loopback."""
    from explore_fakes import wait_for

    file = tmp_path / "scheduler.json"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(_HERE), os.environ.get("PYTHONPATH", "")])}
    processes = []

    def start(*arguments: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen(
            [sys.executable, "-m", "dask", *arguments, "--scheduler-file", str(file)], env=environment, cwd=tmp_path,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        processes.append(process)
        return process

    scheduler = start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard")
    wait_for(file.exists)
    workers = [start("worker", "--host", "127.0.0.1", "--nthreads", "1", "--no-nanny", "--no-dashboard") for _ in "ab"]
    yield json.loads(file.read_text())["address"], scheduler, workers
    for process in processes:
        process.kill()
        process.wait()
