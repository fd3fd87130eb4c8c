"""Client of a board: requests over a serial port, answers that are whole and right, or an error that says what came.

The same client runs against a board and against the simulated one.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol

from systoliq.hw.link import VERSION, Command, Deframer, FrameError, Status, request
from systoliq.hw.link.framing import CHECK_BYTES, HEAD_BYTES

from ..errors import LinkError

__all__ = ["ATTEMPTS", "Client", "Line"]

ATTEMPTS = 5
"""Times that a request is sent before the client gives up."""

_IDENTITY = 64  # bytes of the answer to IDENTIFY at the most
_QUIET = 40  # of the time for an answer: a line that was at rest for so small a part of it stays so
_ON_THE_LINE = 2 * 10  # bits of a byte of a frame at the most: each may be escaped


class Line(Protocol):
    """A connection that carries bytes to a board and back."""

    baud: int

    def write(self, content: bytes, seconds: float) -> None:
        """Send all of `content`, in at most `seconds`."""

    def read(self, seconds: float) -> bytes:
        """Bytes received, as soon as there are any; empty after `seconds`."""


class Client:
    """Requests and their answers over `line`, one after the other.

    An answer is waited for as long as its bytes take on the line, and `seconds` more. One that is broken, an error or
    late is asked for again, under another number, up to `ATTEMPTS` times: a request changes nothing in a board, so
    this is safe. `errors` counts what went wrong, by name.
    """

    def __init__(self, line: Line, *, seconds: float = 2.0) -> None:
        self._line = line
        self._seconds = seconds
        self._quiet = seconds / _QUIET
        self._sequence = 0
        self.errors: Counter[str] = Counter()

    def identify(self) -> bytes:
        """The fingerprint of the board's design; LinkError where no board answers, or one of another version."""
        answer = self._ask(Command.IDENTIFY, b"", None)
        if answer[:1] != bytes([VERSION]):
            raise LinkError(f"the board's link must have version {VERSION}, not {answer[0] if answer else 'none'}")
        return answer[1:]

    def run(
        self, requests: Sequence[bytes], answer_bytes: int, progress: Callable[[str], None] = lambda detail: None
    ) -> list[bytes]:
        """The answer to each request, `answer_bytes` each."""
        answers = []
        for number, operands in enumerate(requests):
            answers.append(self._ask(Command.RUN, operands, answer_bytes))
            if number % 16 == 15:
                progress(f"{number + 1} of {len(requests)} units")
        return answers

    def _ask(self, command: Command, operands: bytes, answer_bytes: int | None) -> bytes:
        failed: Counter[str] = Counter()
        for _ in range(ATTEMPTS):
            self._sequence = (self._sequence + 1) % 256
            sent = request(self._sequence, command, operands)
            seconds = self._seconds + (len(sent) + (answer_bytes or _IDENTITY)) * _ON_THE_LINE / self._line.baud
            self._line.write(sent, seconds)
            answer = self._await(answer_bytes, seconds)
            if isinstance(answer, bytes):
                return answer
            failed[answer] += 1
            self.errors[answer] += 1
        said = ", ".join(f"{what} ({count} times)" for what, count in failed.items())
        raise LinkError(f"no right answer came in {ATTEMPTS} attempts: {said}")

    def _await(self, length: int | None, seconds: float) -> bytes | str:
        """The results of the answer to the last request, or what came instead."""
        deframer = Deframer((length or _IDENTITY) + HEAD_BYTES + CHECK_BYTES)
        deadline = time.monotonic() + seconds
        wrong = ""
        while (left := deadline - time.monotonic()) > 0:
            heard = self._line.read(min(left, self._quiet) if wrong else left)
            if wrong and not heard:
                break  # the line is idle: the wrong answer has ended
            for content in deframer.feed(heard):
                if isinstance(content, FrameError):
                    wrong = wrong or str(content)
                    continue
                sequence, status, results = content[0], content[1], content[HEAD_BYTES:]
                ours = sequence == self._sequence
                if status != Status.OK:
                    wrong = wrong or f"the board said {_named(status)}"
                    if ours:
                        return wrong
                elif ours and length not in (None, len(results)):
                    return f"an answer had {len(results)} bytes, not {length}"
                elif ours:  # others are of requests that were given up
                    return results
        return wrong or "nothing came in time"


def _named(status: int) -> str:
    return Status(status).name if status in list(Status) else f"error {status}"
