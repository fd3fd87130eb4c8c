"""Evaluations of widths: kept and gone on with, in two processes, on a cluster that loses a worker: the same rows."""

from __future__ import annotations

import contextlib

import pytest
from explore_fakes import wait_for

from systoliq.explore.cache import Store
from systoliq.explore.dask_cluster import DaskCluster
from systoliq.explore.executor import LocalProcesses
from systoliq.explore.funnel import NoProgress
from systoliq.explore.precision.data import NetworkData
from systoliq.explore.precision.evaluations import evaluate_widths
from systoliq.explore.precision.run import precision
from systoliq.explore.precision.study import Study


@pytest.fixture
def studied(net, images):
    x, classes = images

    def study(**options):
        options = {"bits": "8,3", "mixed": 4, "objective": "weights"} | options
        return precision(net, data=NetworkData(inputs={"image": x}, classes=classes, origin="tests"), **options)

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
        studied(store=Store(tmp_path))
    monkeypatch.undo()
    counted = Counted()
    monkeypatch.setattr(Study, "measured", counted)
    assert studied(store=Store(tmp_path)).rows == rows
    evaluated = counted.calls
    assert 0 < evaluated <= len(rows) - 5
    assert studied(store=Store(tmp_path)).rows == rows
    assert counted.calls == evaluated
    studied(store=Store(tmp_path), target="ecp5-25k")  # costs are others
    assert counted.calls > evaluated


@pytest.mark.slow
def test_two_processes_give_the_same_rows(studied):
    with contextlib.closing(LocalProcesses(2, work=evaluate_widths)) as local:
        assert studied(executor=local).rows == studied().rows


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_gives_the_same_rows(studied, cluster):
    address, _, workers = cluster
    wait_for(lambda: len(DaskCluster(address)._client.nthreads()) == 2)

    class KillOne(NoProgress):
        def advance(self, stage, points):
            workers[0].kill()

    with contextlib.closing(DaskCluster(address, work=evaluate_widths)) as dask:
        assert studied(executor=dask, progress=KillOne()).rows == studied().rows
    assert workers[1].poll() is None
