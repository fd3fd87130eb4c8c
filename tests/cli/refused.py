"""A command that is refused, as all of them are."""

from __future__ import annotations

__all__ = ["assert_refused"]


def assert_refused(result, text):
    """In one line on standard error that says ``text``, with exit status 2."""
    assert result.exit_code == 2, (result.output, result.exception)
    assert isinstance(result.exception, SystemExit)
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert text in result.stderr
    assert result.stdout == ""
