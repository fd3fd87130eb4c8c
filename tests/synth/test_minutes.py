"""Seeds that are given up: how far they came, and the figures of the others."""

from __future__ import annotations

import dataclasses
import importlib.util
import sys
from pathlib import Path

import pytest

from systoliq.hw import ArrayConfig, AxiBareArray, BareArray
from systoliq.synth import Block, Target, flow, open_target, synthesize
from systoliq.synth.nextpnr import NotRoutedError, run_nextpnr
from systoliq.synth.tools import Command, find_nextpnr

# Runs the given nextpnr. Seed 2 does not end, and writes the log of a router with few connections left.
_ENDLESS = r"""
import subprocess, sys, time
arguments = sys.argv[2:]
if arguments[arguments.index("--seed") + 1] == "2":
    with open("nextpnr_2.log", "w") as log:
        log.write("Info: Routing 297594 arcs.\n")
        log.write("Info:     296000 |    25855     248460 |   45   808 |      1106|      10.14    2050.26|\n")
        log.write("Info:     297000 |    26050     249150 |  195   690 |       444|     167.63    2217.89|\n")
    time.sleep(600)
sys.exit(subprocess.run([sys.argv[1], *arguments]).returncode)
"""


def part(minutes: float) -> Target:
    return dataclasses.replace(open_target("ecp5-25k"), minutes=minutes)


def endless(nextpnr: str) -> Command:
    return Command(argv=(sys.executable, "-c", _ENDLESS, nextpnr), version="a test's")


@pytest.mark.parametrize(
    ("script", "progress"),
    [
        (_ENDLESS, "444 of 297594 connections were not routed"),
        ("import time; open('nextpnr_2.log', 'w').write('Info: Routing 10 arcs.'); time.sleep(600)", "still routing"),
        ("import time; time.sleep(600)", "nextpnr was still placing"),
    ],
)
def test_a_run_is_given_up(script: str, progress: str, tmp_path: Path) -> None:
    (tmp_path / "netlist.json").write_text("{}")
    nextpnr = Command(argv=(sys.executable, "-c", script, "nextpnr"), version="a test's")
    with pytest.raises(NotRoutedError, match=f"after 0.01 minutes, .*{progress}"):
        run_nextpnr(nextpnr, part(minutes=0.01), 100, 2, tmp_path)


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("pyosys") is None, reason="the extra synth is not installed")
def test_other_seeds_count(monkeypatch: pytest.MonkeyPatch) -> None:
    (placer,) = find_nextpnr("ecp5").argv
    monkeypatch.setattr(flow, "find_nextpnr", lambda family: endless(placer))
    array = BareArray(ArrayConfig(cells="ecp5", rows=1, cols=1))
    block = Block(component=AxiBareArray(array), name="array", cells="ecp5", macs_per_cycle=1)
    report = synthesize(block, part(minutes=1), seeds=(1, 2, 3), mhz=50)
    assert (report.seeds, len(report.fmax_mhz_per_seed)) == ((1, 3), 2)
    assert report.not_routed == {2: "after 1 minutes, 444 of 297594 connections were not routed"}
    assert report.fmax_mhz is not None
    assert report.fmax_mhz > 50
    assert report.met is False
    assert dataclasses.replace(report, not_routed={}).met is True
    with pytest.raises(
        NotRoutedError, match="no seed was placed and routed in time .seed 2: after 0.1 minutes, 444 of"
    ):
        synthesize(block, part(minutes=0.1), seeds=(2,), mhz=50)
