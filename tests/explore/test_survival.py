"""Killed, interrupted, out of memory, on a cluster that loses a worker: no finished point is lost or done again."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from explore_fakes import FakeSynthesizer, small_layer, wait_for

from systoliq.explore import Run, explore
from systoliq.explore.code_key import code_key
from systoliq.explore.dask_cluster import ClusterError, DaskCluster
from systoliq.explore.executor import LocalProcesses
from systoliq.explore.grid.evaluate import Task, run_task
from systoliq.explore.grid.settings import Settings
from systoliq.explore.grid.subjects.layer import LayerSubject
from systoliq.explore.progress import NoProgress
from systoliq.explore.synthesizer import NoSynthesizer

HERE = Path(__file__).parent
AXES = {"cols": "1,2,4", "depth": "1,2", "a_bits": "8", "b_bits": "4,8", "requantizer_bits": "24"}
POINTS = 12
SCRIPT = """
import sys
from pathlib import Path
sys.path.insert(0, {here!r})
from explore_fakes import FakeSynthesizer
from test_survival import run, small_subject
if __name__ == "__main__":
    run(Path(sys.argv[1]), 0.4)
"""


@pytest.fixture(autouse=True)
def interruptible():
    """Ctrl-C reaches the processes of these tests, also where a shell began them in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def small_subject() -> LayerSubject:
    layer = small_layer()
    inputs = (layer.b.T[:, :].astype("float32") / 40).repeat(3, axis=0)
    return LayerSubject(source="small.npz", origin="the tests", layer=layer, inputs=inputs)


def run(folder: Path, seconds: float, **options):
    synthesizer = FakeSynthesizer(str(folder / "calls"), seconds)
    fields = {"synthesis": POINTS, "synthesizer": synthesizer, "jobs": 2, "cosimulate": False, "batch": 4, **options}
    return explore(small_subject(), AXES, run=Run(cache=folder / "cache", **fields))


def calls(folder: Path) -> int:
    return len(list((folder / "calls").glob("area-*")))


def kept(folder: Path) -> int:
    return sum('"stage": "synthesis"' in path.read_text() for path in (folder / "cache").rglob("*.json"))


@pytest.mark.sampled(99)
@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT])
def test_a_killed_exploration_resumes(tmp_path, ending):
    code_key.cache_clear()  # should the sources have changed since this process began, the other process sees that
    script = tmp_path / "explore_it.py"
    script.write_text(SCRIPT.format(here=str(HERE)))
    process = subprocess.Popen([sys.executable, str(script), str(tmp_path)], stderr=subprocess.DEVNULL)
    try:
        wait_for(lambda: kept(tmp_path) >= 3)
        process.send_signal(ending)
        process.wait(timeout=200)
    finally:
        process.kill()
    finished, begun = kept(tmp_path), calls(tmp_path)
    assert 3 <= finished < POINTS
    assert begun <= finished + 4  # those in flight
    time.sleep(1.5)
    assert calls(tmp_path) <= begun + 2  # the workers have ended too
    begun = calls(tmp_path)
    exploration = run(tmp_path, 0.0)
    assert exploration.computed == {"synthesis": POINTS - finished}
    assert calls(tmp_path) == begun + POINTS - finished
    assert all(row["stage"] == "synthesis" for row in exploration.rows)


@pytest.mark.slow  # test_in_the_wild.py has signals
def test_ctrl_c_ends_the_command_in_one_go(tmp_path):
    np.savez(tmp_path / "small.npz", **small_layer().arrays())
    command = [
        sys.executable, "-m", "systoliq", "explore", "small.npz", "--out", "out", "--cache", "cache", "--rows",
        "1:6", "--cols", "1:4", "--depth", "1:12", "--a-bits", "4:8", "--b-bits", "4:8", "--budget", "9999",
        "--jobs", "2",
    ]  # fmt: skip
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        wait_for(lambda: len(list((tmp_path / "cache").rglob("*.json"))) >= 24)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=200)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "Traceback" not in output + errors
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["explore.log"]


def dying(task):
    os.kill(os.getpid(), signal.SIGKILL)


def greedy(task):
    return [len(bytearray(3 << 30))]


def tasks(count: int) -> list[Task]:
    settings = Settings(synthesizer=NoSynthesizer())
    return [
        Task(stage="model", points=(), subject=small_subject(), subject_key=str(i), settings=settings)
        for i in range(count)
    ]  # fmt: skip


@pytest.mark.slow
def test_a_process_that_dies_twice_fails_its_point_alone():
    with contextlib.closing(LocalProcesses(dying, jobs=1)) as local:
        assert dict(local.run(tasks(1))) == {0: []}
    with contextlib.closing(LocalProcesses(run_task, jobs=1)) as local:
        assert dict(local.run(tasks(3))) == {0: [], 1: [], 2: []}


def test_memory_is_limited():
    local = LocalProcesses(greedy, jobs=1, memory=1 << 30)
    with pytest.raises(MemoryError):
        list(local.run(tasks(1)))
    local.close()


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_gives_the_same_table(cluster, tmp_path):
    address, _, workers = cluster
    local = run(tmp_path / "local", 0.0)

    class KillOne(NoProgress):
        finished = 0

        def start(self, stage, total, cached):
            if stage == "model":
                wait_for(lambda: len(DaskCluster(address, run_task)._client.nthreads()) == 2)

        def advance(self, stage, points):
            if stage == "synthesis":
                self.finished += 1
                if self.finished == 3:
                    workers[0].kill()

        def end(self, stage):
            pass

    distributed = run(tmp_path / "dask", 0.3, scheduler=address, progress=KillOne())
    assert workers[0].poll() is not None
    assert workers[1].poll() is None
    assert distributed.rows == local.rows
    assert (
        calls(tmp_path / "dask") <= POINTS + 2
    )  # one ran on the worker that died, and one may have been on its way back


@pytest.mark.slow
def test_a_lost_scheduler_is_reported_and_results_are_kept(cluster, tmp_path):
    address, scheduler, _ = cluster

    class KillScheduler:
        def start(self, stage, total, cached):
            pass

        def advance(self, stage, points):
            if stage == "synthesis":
                scheduler.kill()

        def end(self, stage):
            pass

    with pytest.raises(ClusterError, match="finished points are kept"):
        run(tmp_path, 0.3, scheduler=address, progress=KillScheduler())
    finished = kept(tmp_path)
    assert 1 <= finished < POINTS
    assert run(tmp_path, 0.0).computed["synthesis"] == POINTS - finished
