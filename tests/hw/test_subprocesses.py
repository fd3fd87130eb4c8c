"""Programs that are run: what they say is kept, and nothing of them stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from systoliq.subprocesses import child, run_child, starting

TREE = """
import subprocess, sys, time
inner = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
print(inner.pid, flush=True)
time.sleep(60)
"""


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def gone(pid: int) -> bool:
    """Whether it ends within seconds."""
    for _ in range(200):
        if not alive(pid):
            return True
        time.sleep(0.02)
    return False


def test_what_a_program_says_is_kept():
    code = "import sys; print(sys.stdin.read() + '!'); sys.stderr.write('oh'); sys.exit(3)"
    done = run_child([sys.executable, "-c", code], text="hello")
    assert (done.returncode, done.stdout, done.stderr) == (3, "hello!\n", "oh")
    both = run_child([sys.executable, "-c", code], stderr=subprocess.STDOUT)
    assert sorted(both.stdout.split()) == ["!", "oh"] or both.stdout in ("!\noh", "oh!\n")


def test_an_exception_ends_the_whole_group():
    def fail() -> None:
        with child([sys.executable, "-c", TREE], stdout=subprocess.PIPE) as process:
            found.extend([process, int(process.stdout.readline())])
            raise ZeroDivisionError

    found = []
    with pytest.raises(ZeroDivisionError):
        fail()
    process, inner = found
    assert process.returncode == -signal.SIGTERM
    assert gone(inner)


def test_a_program_that_takes_too_long():
    with pytest.raises(subprocess.TimeoutExpired):
        run_child([sys.executable, "-c", TREE], timeout=1)


def test_a_program_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        run_child([tmp_path / "nothing"])
    assert not starting()


def test_all_end_at_a_signal():
    """Those of other threads too; and none begins afterwards."""
    code = f"""
import signal, subprocess, sys, threading
from systoliq.subprocesses import EndedError, child, end_children, run_child

def other():
    with child([sys.executable, "-c", {TREE!r}], stdout=subprocess.PIPE) as process:
        print(process.pid, process.stdout.readline().strip(), flush=True)
        process.wait()

def end(*_):
    end_children()
    raise SystemExit(7)

signal.signal(signal.SIGTERM, end)
thread = threading.Thread(target=other)
thread.start()
try:
    run_child([sys.executable, "-c", "import time; time.sleep(60)"])
finally:
    thread.join()
    try:
        run_child(["true"])
    except EndedError:
        print("none more", flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        pids = [int(word) for word in process.stdout.readline().split()]
        time.sleep(0.3)
        os.kill(process.pid, signal.SIGTERM)
        rest = process.stdout.read()
    assert process.returncode == 7
    assert rest == "none more\n"
    assert len(pids) == 2
    assert all(gone(pid) for pid in pids)
