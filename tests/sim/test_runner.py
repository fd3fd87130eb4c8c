"""One runner over both simulators: results, failures, crashes, cache, waves, and errors that say what to do."""

from __future__ import annotations

import concurrent.futures
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from systoliq.sim import SimulationError, SimulatorWarning, ToolError, build, simulation, tools, verilator
from systoliq.sim import process as process_module
from systoliq.sim.__main__ import main as check_tools
from systoliq.sim.ports import port_names

HERE = Path(__file__).resolve().parent
COUNTER = HERE / "counter.v"
NAMED = {"ONLY_WHEN_NAMED": "1"}


def run(simulation, *, directory, **options):
    return simulation.run(HERE / "counter_bench.py", directory=directory, **options)


@pytest.fixture
def counter(simulator):
    return build([COUNTER], "counter", simulator)


@pytest.fixture
def no_tools(monkeypatch):
    """A build that calls a tool fails the test."""

    def call(command, **_):
        pytest.fail(f"a tool was called: {command}")

    for module in ("verilator", "icarus"):
        monkeypatch.setattr(f"systoliq.sim.{module}.call", call)


@pytest.fixture
def fresh_cache(monkeypatch, tmp_path):
    """An empty cache, save for Verilator's runtime, which takes ten seconds to make."""
    from systoliq.sim import cache

    shelf = cache.cache_directory() / "runtime"
    shelf.mkdir(parents=True, exist_ok=True)
    folder = tmp_path / "cache"
    folder.mkdir()
    (folder / "runtime").symlink_to(shelf, target_is_directory=True)
    monkeypatch.setenv("SYSTOLIQ_CACHE", str(folder))
    return folder


def test_wide_ports_move_every_bit(counter, tmp_path):
    results = run(counter, directory=tmp_path)
    assert results.passed
    assert results.tests == ("counter_bench.adds",)
    assert results.check() is results
    assert 0 < results.seconds < 60
    assert results.log.parent == tmp_path


def test_a_failed_assertion_is_a_failure(counter, tmp_path):
    results = run(counter, directory=tmp_path, testcase="expects_too_much", env=NAMED)
    assert not results.passed
    assert [failure.test for failure in results.failures] == ["counter_bench.expects_too_much"]
    assert "17" in results.failures[0].message
    with pytest.raises(SimulationError, match=r"1 of 1 tests failed .*\n.*expects_too_much"):
        results.check()


def test_a_crash_shows_the_end_of_the_log(counter, tmp_path):
    with pytest.raises(SimulationError, match=r"signal SIGKILL; its log, .*simulation.log, ends:\n(?s:.*)crashes"):
        run(counter, directory=tmp_path, testcase="crashes", env=NAMED)


@pytest.mark.sampled(99)
def test_a_run_that_never_ends_is_ended(counter, tmp_path):
    with pytest.raises(SimulationError, match="took more than 2 s"):
        run(counter, directory=tmp_path, testcase="never_ends", env=NAMED, timeout=2)


@pytest.mark.parametrize(("bench", "loaded"), [("systoliq.sim.dense_bench", False), ("mine_bench", True)])
def test_benches_of_ours_run_without_pytest(bench, loaded, tmp_path):
    """A quarter of the CPU time of a short simulation; a test module of someone else has it."""
    path = os.pathsep.join(map(str, [*simulation._before(bench, [tmp_path]), *sys.path]))
    code = "import cocotb.regression, sys; print('_pytest.fixtures' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": path}, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == [str(loaded)]


def test_a_missing_test_module_is_named(counter, tmp_path):
    with pytest.raises(SimulationError, match="gave no results for no_such_bench(?s:.*)No module named"):
        counter.run("no_such_bench", directory=tmp_path)


def test_a_test_case_that_is_not_there_is_named(counter, tmp_path):
    with pytest.raises(SimulationError, match="'no_such_case'"):
        run(counter, directory=tmp_path, testcase="no_such_case")


def test_the_second_build_calls_no_tool(counter, simulator, no_tools):
    again = build([COUNTER], "counter", simulator)
    assert again.cached
    assert again.folder == counter.folder


def test_what_counts_is_content_not_the_name(counter, simulator, no_tools, tmp_path):
    copy = tmp_path / "renamed.v"
    copy.write_text(COUNTER.read_text())
    assert build([copy], "counter", simulator).folder == counter.folder


@pytest.mark.simulator
@pytest.mark.parametrize("waves", [False, True])
def test_the_header_that_was_compiled_before_is_used(waves, fresh_cache, monkeypatch):
    """GCC leaves out a precompiled header of other flags without a word: a build then takes a second more."""
    for name in ("verilator", "c++"):
        if not (tool := tools.find(name)).found:
            pytest.skip(tools.missing_text(tool))
    real, used = verilator.call, []

    def call(command, **options):
        if "-include" in command:
            command = ["-Winvalid-pch" if word == "-w" else word for word in command] + ["-Werror=invalid-pch"]
            used.append(command)
        return real(command, **options)

    monkeypatch.setattr(verilator, "call", call)
    build([COUNTER], "counter", "verilator", waves=waves)
    assert used


def test_another_text_is_another_build(counter, simulator, fresh_cache):
    other = build(COUNTER.read_text() + "// changed\n", "counter", simulator)
    assert not other.cached
    assert other.folder.name != counter.folder.name


def test_concurrent_builders_make_one_build(simulator, fresh_cache):
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        jobs = [pool.submit(build, [COUNTER], "counter", simulator) for _ in range(3)]
        simulations = [job.result() for job in jobs]
    assert len({simulation.folder for simulation in simulations}) == 1
    assert sorted(simulation.cached for simulation in simulations) == [False, True, True]
    assert [path.name for path in (fresh_cache / "simulations").iterdir()] == [simulations[0].folder.name]


def test_a_failed_build_leaves_nothing(simulator, fresh_cache):
    with pytest.raises(SimulationError, match=r"failed with exit status \d+:\n(?s:.*)syntax error"):
        build("module broken(input a, output b); assign b = ; endmodule\n", "broken", simulator)
    assert list((fresh_cache / "simulations").iterdir()) == []


@pytest.mark.sampled(99)
def test_waves_are_recorded(simulator, tmp_path):
    simulation = build([COUNTER], "counter", simulator, waves=True)
    waves = tmp_path / "deeper" / "counter.vcd"
    assert run(simulation, directory=tmp_path, waves=waves).passed
    text = waves.read_text()
    assert "$timescale" in text
    assert "count" in text


def test_waves_must_have_been_built(counter, tmp_path):
    with pytest.raises(ValueError, match="waves must be None for a simulation built without waves=True"):
        run(counter, directory=tmp_path, waves=tmp_path / "counter.vcd")


def test_waves_have_a_known_form(simulator, tmp_path):
    simulation = build([COUNTER], "counter", simulator, waves=True)
    with pytest.raises(ValueError, match=r"waves must end in \.vcd"):
        run(simulation, directory=tmp_path, waves=tmp_path / "counter.png")


def test_the_current_directory_stays_clean(counter, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    results = counter.run(HERE / "counter_bench.py")
    assert results.passed
    assert list(tmp_path.iterdir()) == []


def test_warnings_of_the_tools_are_passed_on_each_time():
    text = "module narrow(input [7:0] a, output [3:0] b); assign b = a; endmodule\n"
    for _ in range(2):
        with pytest.warns(SimulatorWarning, match="WIDTHTRUNC"):
            simulation = build(text, "narrow", "verilator")
    assert "WIDTHTRUNC" in simulation.warnings[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        build([COUNTER], "counter", "verilator")


@pytest.mark.parametrize(
    ("simulator", "tool", "hint"),
    [("icarus", "icarus", "apt-get install iverilog"), ("verilator", "c++", r"apt-get install g\+\+")],
)
def test_a_missing_tool_says_how_to_install_it(simulator, tool, hint, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError, match=f"^{re.escape(tool)} was not found; it is needed for .*: {hint}$"):
        build([COUNTER], "counter", simulator)


def test_the_tools_are_checked_from_the_command_line(monkeypatch, tmp_path, capsys):
    assert check_tools(["verilator"]) == 0
    monkeypatch.setenv("PATH", str(tmp_path))
    assert check_tools(["icarus", "c++"]) == 1
    assert "All of them: apt-get install iverilog g++" in capsys.readouterr().err


def test_a_found_tool_has_a_version():
    for tool in tools.all_tools():
        assert tool.purpose
        assert tool.hint
        assert bool(tool.version) == tool.found, tool.name


def test_the_simulator_must_be_known():
    with pytest.raises(ValueError, match="simulator must be one of verilator, icarus, not 'modelsim'"):
        build([COUNTER], "counter", "modelsim")


def test_the_top_must_be_there():
    with pytest.raises(ValueError, match="top must be a module of the sources, not 'missing'"):
        build([COUNTER], "missing", "icarus")


def test_sources_must_be_whole():
    with pytest.raises(ValueError, match="sources must hold all of the design"):
        build('`include "other.v"\nmodule a; endmodule\n', "a", "icarus")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("module m; endmodule", ()),
        ("module m(); endmodule", ()),
        ("module m(a, b); input a; output [7:0] b; endmodule", ("a", "b")),
        ("module m(input [7:0] a, b, output reg signed [3:0] c = 4'd1); endmodule", ("a", "b", "c")),
        ("module m #(parameter W = f(3), V = 2) (input wire [W-1:0] a /* , x */); endmodule", ("a",)),
        ("module \\m  (\\a.b , c); endmodule", ("a.b", "c")),
        (
            "module mm(x); endmodule module m(/* ) */ input logic [1:0] a [3:0], // b,\n (* keep *) output b);",
            ("a", "b"),
        ),
    ],
)
def test_port_names(text, names):
    assert port_names(text, "m") == names


def test_tail_of_nothing():
    assert process_module.tail("\n") == "(it printed nothing)"
