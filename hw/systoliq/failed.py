"""`FailedError`: the input was fine, and a command failed for another reason.

Of no part, as `subprocesses`: each part derives errors from this one, and the command line reports all of them alike.
"""

__all__ = ["FailedError"]


class FailedError(RuntimeError):
    """A tool or package is missing or failed, a part is too small, or a board does not answer: exit status 1."""
