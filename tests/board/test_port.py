"""Serial ports: bad ones are named, and one that goes away ends in one error."""

from __future__ import annotations

import os
import pty

import pytest

from systoliq.board.client import Client
from systoliq.board.port import Port
from systoliq.errors import InputError, LinkError


@pytest.fixture
def terminal():
    """Our end of a pseudo-terminal, and the path of the other."""
    ours, other = pty.openpty()
    path = os.ttyname(other)
    os.close(other)
    held = [ours]
    yield held, path
    for each in held:
        os.close(each)


def test_bytes_pass_as_they_are(terminal, tmp_path):
    (ours,), path = terminal
    every = bytes(range(256))
    link = tmp_path / "board"
    link.symlink_to(path)
    with Port(link, 921600) as port:
        port.write(every, 1)
        assert os.read(ours, 1000) == every
        os.write(ours, every)
        assert port.read(1) == every
        assert port.read(0.01) == b""


def test_a_disconnected_port_is_one_error(terminal):
    held, path = terminal
    with Port(path_of(path), 115200) as port:
        os.close(held.pop())
        with pytest.raises(LinkError, match=f"the port {path} went away: unplugged, or its simulation ended"):
            Client(port, seconds=0.1).identify()


def test_a_port_that_takes_nothing_is_one_error(terminal):
    _, path = terminal
    with Port(path_of(path), 115200) as port, pytest.raises(LinkError, match="takes no more bytes"):
        port.write(bytes(1 << 20), 0.05)


def path_of(path):
    from pathlib import Path

    return Path(path)


@pytest.mark.parametrize(
    ("path", "baud", "text"),
    [
        ("/dev/null", 115200, "port must be a serial port, not /dev/null"),
        ("/nowhere/tty", 115200, "port must be a serial port; /nowhere/tty does not exist"),
        ("/", 115200, "port must be a serial port, not /"),
        ("/dev/null", 12345, "baud must be one of 9600, .*, not 12345"),
    ],
)
def test_bad_ports_are_named(path, baud, text):
    with pytest.raises(InputError, match=text), Port(path_of(path), baud):
        pass
