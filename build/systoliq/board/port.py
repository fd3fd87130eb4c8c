"""Serial ports of this machine, and pseudo-terminals, by the standard library alone: POSIX systems."""

from __future__ import annotations

import os
import select
import stat
import time
from pathlib import Path
from types import TracebackType

from ..errors import InputError, LinkError

__all__ = ["BAUDS", "Port"]

BAUDS = (9600, 19200, 38400, 57600, 115200, 230400, 460800, 921600, 1000000, 2000000, 3000000)
"""Rates that the systems' terminals know by name."""


class Port:
    """A serial port at `path`, open as long as the block lasts: 8 bits, no parity, a stop bit, no flow control.

    Raises
    ------
    InputError
        if there is no such port, it is not a serial port, or it does not support `baud`.
    LinkError
        if it was disconnected.
    """

    def __init__(self, path: Path, baud: int) -> None:
        if baud not in BAUDS:
            raise InputError(f"baud must be one of {', '.join(map(str, BAUDS))}, not {baud}")
        self.path = path
        self.baud = baud
        self._file = -1

    def __enter__(self) -> Port:
        try:
            import termios
            import tty
        except ImportError as error:
            raise InputError("port must be a serial port of a POSIX system: this one has no termios") from error
        try:
            kind = self.path.stat().st_mode
        except FileNotFoundError:
            raise InputError(f"port must be a serial port; {self.path} does not exist") from None
        if not stat.S_ISCHR(kind):
            raise InputError(f"port must be a serial port, not {self.path}")
        speed = getattr(termios, f"B{self.baud}", None)
        if speed is None:
            raise InputError(f"baud must be one that this system's terminals know, not {self.baud}")
        self._file = os.open(self.path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        try:
            tty.setraw(self._file, termios.TCSANOW)
            settings = termios.tcgetattr(self._file)
            settings[2] |= termios.CLOCAL | termios.CREAD
            settings[4] = settings[5] = speed
            termios.tcsetattr(self._file, termios.TCSANOW, settings)
            termios.tcflush(self._file, termios.TCIOFLUSH)
        except termios.error as error:
            self.__exit__(None, None, None)
            raise InputError(f"port must be a serial port, not {self.path}: {error.args[-1]}") from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._file)

    def write(self, content: bytes, seconds: float) -> None:
        """Send all of `content`, in at most `seconds`."""
        deadline = time.monotonic() + seconds
        while content:
            if not select.select([], [self._file], [], max(deadline - time.monotonic(), 0))[1]:
                raise LinkError(f"the port {self.path} takes no more bytes")
            try:
                content = content[os.write(self._file, content) :]
            except OSError as error:
                raise self._gone() from error

    def read(self, seconds: float) -> bytes:
        """Bytes received, as soon as there are any; empty after `seconds`."""
        if not select.select([self._file], [], [], max(seconds, 0))[0]:
            return b""
        try:
            found = os.read(self._file, 1 << 16)
        except OSError as error:
            raise self._gone() from error
        if not found:
            raise self._gone()
        return found

    def _gone(self) -> LinkError:
        return LinkError(f"the port {self.path} went away: unplugged, or its simulation ended")
