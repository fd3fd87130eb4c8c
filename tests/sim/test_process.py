"""Limits of processor time: what has no end is ended by a signal, all else is as without a limit."""

from __future__ import annotations

import signal
import subprocess

from systoliq.sim.process import limited


def test_what_has_no_end_is_ended():
    done = subprocess.run(limited(["sh", "-c", "while :; do :; done"], 0.5), check=False)
    assert done.returncode in (-signal.SIGXCPU, -signal.SIGKILL)


def test_arguments_output_and_status_are_the_command_s():
    command = ["sh", "-c", 'printf "%s|" "$@"; exit 3', "sh", "a b", "$HOME", '"', ""]
    done = subprocess.run(limited(command, 100), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, 'a b|$HOME|"||')
