"""Placing for a question: kept and gone on with, several at a time, on a cluster that loses a worker; its log."""

from __future__ import annotations

import contextlib
import re

import pytest
from explore_fakes import FakePlacer, wait_for

from systoliq.design.digits_cnn import digits_cnn
from systoliq.design.network import frequency
from systoliq.errors import InputError, SynthesisError
from systoliq.explore import Run
from systoliq.explore.dask_cluster import DaskCluster
from systoliq.explore.files import check_directory
from systoliq.explore.grid.evaluate import run_task
from systoliq.explore.log import LOG, Log
from systoliq.explore.progress import NoProgress
from systoliq.explore.question.ask import ask

from .tiny_networks import tiny

THROUGHPUT = 3e5
PLACED = 20


@pytest.fixture(autouse=True)
def points(tmp_path, monkeypatch):
    monkeypatch.setattr(frequency, "cache_directory", lambda: tmp_path / "points")


def answered(folder, **options):
    options = {"synthesizer": FakePlacer(str(folder / "calls")), "cache": folder / "cache", "seeds": 1, **options}
    target = options.pop("target", "ecp5-85k")
    run = Run(place=PLACED, cosimulate=False, **options)
    return ask(digits_cnn()[0], target=target, require={"throughput": THROUGHPUT}, run=run)


def calls(folder):
    return len(list((folder / "calls").iterdir()))


def same(one, other):
    assert one.chosen.row == other.chosen.row
    assert one.proven
    assert other.proven


def test_an_interrupted_search_resumes(tmp_path):
    with pytest.raises(KeyboardInterrupt):
        answered(tmp_path, synthesizer=FakePlacer(str(tmp_path / "calls"), fails_at=3))
    assert calls(tmp_path) == 2
    answer = answered(tmp_path)
    other = answered(tmp_path / "x", synthesizer=FakePlacer(str(tmp_path / "others")))
    same(answer, other)
    placed = sum(each.placed is not None for each in answer.candidates)
    assert calls(tmp_path) == placed == len(list((tmp_path / "others").iterdir()))
    answered(tmp_path)
    assert calls(tmp_path) == placed


def test_another_part_or_seed_is_placed_again(tmp_path):
    answered(tmp_path)
    before = calls(tmp_path)
    answered(tmp_path, seeds=2)
    middle = calls(tmp_path)
    answered(tmp_path, target="ecp5-45k")
    assert before < middle < calls(tmp_path)


class Failing(FakePlacer):
    def frequency(self, design, target, seeds):
        raise ERRORS[self.calls]


ERRORS = {"failed": SynthesisError("nextpnr: no\n  idea"), "too large": InputError("too large")}


def test_what_fails_is_no_proof(tmp_path):
    answer = answered(tmp_path, synthesizer=Failing("failed"))
    assert not answer.proven
    assert {each.verdict for each in answer.candidates if each.failed} == {"failed: nextpnr: no idea"}
    placed = answered(tmp_path)  # it is tried again
    assert placed.proven


def test_nothing_that_fits_is_refused(tmp_path):
    with pytest.raises(
        ValueError, match=r"throughput must be less than 300000 on ecp5-85k: all plans that may reach it"
    ):
        answered(tmp_path, synthesizer=Failing("too large"))


@pytest.mark.slow
def test_place_and_route_of_a_small_network(tmp_path):
    pytest.importorskip("pyosys")
    run = Run(place=1, seeds=1, jobs=1, cosimulate=False, cache=tmp_path / "cache")
    answer = ask(tiny(), target="ecp5-25k", require="throughput=1e6", run=run)
    placed = answer.chosen.placed
    assert placed.dsp == answer.chosen.sized.total("dsp")
    assert 0 < placed.lut_sites < 24288  # the part has 24288
    assert placed.fmax_mhz > answer.chosen.image_cycles  # a million images a second
    assert answer.chosen.verdict == "placed: reaches it"


@pytest.mark.slow
def test_two_processes_give_the_same_answer(tmp_path):
    parallel = answered(tmp_path, jobs=2)
    same(parallel, answered(tmp_path / "x", synthesizer=FakePlacer(str(tmp_path / "others"))))


@pytest.mark.slow
def test_a_cluster_that_loses_a_worker_gives_the_same_answer(cluster, tmp_path):
    address, _, workers = cluster
    wait_for(lambda: len(DaskCluster(address, run_task)._client.nthreads()) == 2)

    class KillOne(NoProgress):
        """A worker is killed in the middle: while others are placed."""

        def advance(self, stage, points):
            if workers[0].poll() is None:
                workers[0].kill()

    placer = FakePlacer(str(tmp_path / "calls"), seconds=0.3)
    distributed = answered(tmp_path, synthesizer=placer, scheduler=address, progress=KillOne())
    assert workers[0].poll() is not None
    assert workers[1].poll() is None
    same(distributed, answered(tmp_path / "x", synthesizer=FakePlacer(str(tmp_path / "others"))))


def test_the_log_says_how_far_it_is(tmp_path):
    out = tmp_path / "out"
    with contextlib.closing(Log(out)) as log:
        assert not out.exists()
        answered(tmp_path, progress=log)
    lines = (out / LOG).read_text().splitlines()
    assert lines[0].startswith("systoliq explore, 20")
    assert re.search(r"s  place: 20 points, 0 of them from the cache$", lines[1])
    assert re.search(r"s  placing \d+ cycles an image, about \d+ LUT sites$", lines[2])
    assert any(re.search(r"s  place: 2 of 20, about \d+ s to go at the most$", line) for line in lines)
    assert re.search(r"s  place: over, [\d.]+ s$", lines[-1])
    check_directory(out)  # what was interrupted may go on
    (out / "mine.txt").touch()
    with pytest.raises(ValueError, match="must be new, empty or written by systoliq explore"):
        check_directory(out)
