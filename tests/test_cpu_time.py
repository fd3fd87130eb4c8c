"""CPU time by test: children count, the test that builds pays, and the limit holds unmarked tests only."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CONFTEST = """
from tests.support import cpu_time

def pytest_addoption(parser):
    cpu_time.add_option(parser)

def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes long")
    config.pluginmanager.register(cpu_time.CpuTime(config.getoption("cpu_limit")), "cpu_time")
"""
TESTS = """
import subprocess, sys, time
import pytest

def child():
    subprocess.run([sys.executable, "-c", "import time\\nwhile time.process_time() < 1.1: pass"], check=True)

@pytest.fixture(scope="module")
def built():
    child()

def test_first(built): pass
def test_second(built): time.sleep(0.1)
@pytest.mark.slow
def test_marked(): child()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("limit", "workers", "over"),
    [
        pytest.param("1", (), ["test_first"], id="one process"),
        pytest.param("1", ("-n", "1"), ["test_first"], id="xdist"),
        pytest.param("60", (), [], id="below the limit"),
    ],
)
def test_the_first_test_pays_for_the_shared_build_and_a_marked_one_may_take_long(limit, workers, over, tmp_path):
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_it.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--cpu-limit", limit, *workers]
    environment = {"PYTHONPATH": str(ROOT), "PATH": ""}
    ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert "3 passed" in ran.stdout, ran.stdout + ran.stderr
    assert ran.returncode == len(over)
    listed = re.findall(r"^ +([\d.]+) s  test_it.py::(\w+)$", ran.stdout, re.MULTILINE)
    assert {name for _, name in listed} == {"test_first", "test_marked"}
    assert all(float(took) >= 1.1 for took, _ in listed)
    assert re.findall(r"over the limit of 1 s of CPU time: test_it.py::(\w+) took", ran.stdout) == over
