"""Evaluations of widths: kept and gone on with, in two processes, on a cluster that loses a worker: the same rows."""

from __future__ import annotations

import pytest
from explore_fakes import wait_for

from systoliq.explore import Run
from systoliq.explore.dask_cluster import DaskCluster
from systoliq.explore.grid.evaluate import run_task
from systoliq.explore.network_data import NetworkData
from systoliq.explore.precision.run import precision
from systoliq.explore.precision.study import Study
from systoliq.explore.progress import NoProgress


@pytest.fixture
def studied(net, images, tmp_path):
    x, classes = images

    def study(**options):
        target = options.pop("target", "ecp5-85k")
        data = NetworkData(inputs={"image": x}, classes=classes, origin="tests")
        run = Run(**{"budget": 4, "cache": tmp_path / "usual"} | options)
        return precision(net, bits="8,3", data=data, target=target, objective="weights", run=run)

    return study


class Counted:
    """`Study.measured` that counts, and is interrupted at the call `ends`."""

    def __init__(self, ends=0):
        self.calls, self.ends, self.measured = 0, ends, Study.measured

    def __get__(self, study, _kind):
        def measured(widths):
            if self.calls + 1 == self.ends:
                raise KeyboardInterrupt
            self.calls += 1
            return self.measured(study, widths)

        return measured


def test_an_interrupted_study_resumes(studied, tmp_path, monkeypatch):
    rows = studied().rows
    monkeypatch.setattr(Study, "measured", Counted(ends=6))
    with pytest.raises(KeyboardInterrupt):
        studied(cache=tmp_path / "cache")
    monkeypatch.undo()
    counted = Counted()
    monkeypatch.setattr(Study, "measured", counted)
    assert studied(cache=tmp_path / "cache").rows == rows
    evaluated = counted.calls
    assert 0 < evaluated <= len(rows) - 5
    assert studied(cache=tmp_path / "cache").rows == rows
    assert counted.calls == evaluated
    studied(cache=tmp_path / "cache", target="ecp5-25k")  # costs are others
    assert counted.calls > evaluated


@pytest.mark.slow
def test_two_processes_give_the_same_rows(studied, tmp_path):
    assert studied(jobs=2, cache=tmp_path / "parallel").rows == studied().rows


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_gives_the_same_rows(studied, cluster, tmp_path):
    address, _, workers = cluster
    wait_for(lambda: len(DaskCluster(address, run_task)._client.nthreads()) == 2)

    class KillOne(NoProgress):
        def advance(self, stage, points):
            workers[0].kill()

    distributed = studied(scheduler=address, cache=tmp_path / "distributed", progress=KillOne())
    assert distributed.rows == studied().rows
    assert workers[1].poll() is None
