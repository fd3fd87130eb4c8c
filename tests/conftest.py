"""What all tests share: the command line, layer files to give it, simulators."""

from __future__ import annotations

import gc
import signal
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from systoliq.sim import verilator
from systoliq.sim.tools import SIMULATOR_TOOLS, find, missing_text

from .support import bytecode, cpu_time, elaboration, emissions, layers, prepare, stimuli, yosys

if TYPE_CHECKING:
    from click.testing import Result

ROOT = Path(__file__).resolve().parent.parent
LOOPS_MATTER = {"hw", "emitted", "prove", "test_emissions.py"}  # tests whose hardware is looked at for loops


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--cpu-limit`."""
    cpu_time.add_option(parser)


def pytest_configure(config: pytest.Config) -> None:
    """Measure the CPU time of each test; do nothing twice that takes long and gives the same again."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in a shell's background job: tests send Ctrl-C
        signal.signal(signal.SIGINT, signal.default_int_handler)
    bytecode.keep()
    config.pluginmanager.register(cpu_time.CpuTime(config.getoption("cpu_limit")), "cpu_time")
    yosys.replace_process()
    elaboration.speed_up()
    emissions.keep()
    stimuli.keep()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a test with ``sampled(n)`` the first case and one in n of the others, drawn by name, are not slow."""
    seen = set()
    for item in items:
        mark = item.get_closest_marker("sampled")
        if mark is None or item.get_closest_marker("slow"):
            continue
        test = item.nodeid.partition("[")[0]
        if test in seen and zlib.crc32(item.nodeid.encode()) % mark.args[0]:
            item.add_marker(pytest.mark.slow)
        seen.add(test)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Designs of unmarked tests are compiled without optimization: half the time. Runs of slow ones are long."""
    verilator.BENCH_FLAGS = verilator.DESIGN_FLAGS if item.get_closest_marker("slow") else prepare.QUICK_FLAGS
    looks = LOOPS_MATTER.intersection(item.path.parts) or item.get_closest_marker("slow")
    emissions.look_for_loops(bool(looks))
    return (yield)


def pytest_collection_finish() -> None:
    """Leave what collection loaded, 100 000 objects and more, out of every later search for garbage."""
    emissions.begin()
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The project's shared material, beside the repository: real weights, specifications."""
    path = ROOT.parent / "shared"
    if not (path / "data").is_dir():
        pytest.skip(f"{path} is not there: it is kept beside the repository, not in it")
    return path


@pytest.fixture(params=[pytest.param(name, marks=pytest.mark.simulator) for name in SIMULATOR_TOOLS])
def simulator(request: pytest.FixtureRequest) -> str:
    """Each simulator in turn; `make test` refuses to start where one is missing, so a skip is a choice."""
    for name in SIMULATOR_TOOLS[request.param]:
        if not (tool := find(name)).found:
            pytest.skip(missing_text(tool))
    return request.param


@pytest.fixture
def call() -> Callable[..., Result]:
    """Call `systoliq` in this process."""
    from click.testing import CliRunner

    from systoliq.cli.main import cli

    def call(*arguments: object) -> Result:
        return CliRunner().invoke(cli, [str(argument) for argument in arguments])

    return call


@pytest.fixture(scope="module")
def short_testbenches() -> Iterator[None]:
    """For all tests of a module, those that write packages again to compare them as well."""
    with layers.short_testbenches():
        yield


@pytest.fixture
def arrays() -> dict[str, Any]:
    """The arrays of a small layer: 9 -> 5, uint8 activations, scales per column, weights with a zero point."""
    generator = np.random.default_rng(3)
    return {
        "b": generator.integers(-128, 128, (9, 5)).astype(np.int8),
        "a_scale": np.float32(0.02),
        "a_zero_point": np.uint8(100),
        "b_scale": generator.uniform(0.001, 0.02, 5).astype(np.float32),
        "b_zero_point": np.array([0, 3, -128, 127, 0], np.int8),
        "y_scale": np.float32(0.5),
        "y_zero_point": np.int8(-7),
        "bias": generator.integers(-5000, 5000, 5).astype(np.int32),
    }


@pytest.fixture
def save(tmp_path: Path) -> Callable[..., Path]:
    """Write an .npz archive."""

    def save(name: str, **content: Any) -> Path:
        path = tmp_path / name
        np.savez(path, **content)
        return path

    return save
