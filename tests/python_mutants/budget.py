"""Plugin of pytest: after so many seconds of processor time no further test begins; a busy machine changes nothing."""

from __future__ import annotations

import os

SECONDS = "SYSTOLIQ_SECONDS_OF_TESTS"
OVER = "the time for tests is over"


def pytest_runtest_protocol(item) -> None:
    if sum(os.times()[:4]) > float(os.environ[SECONDS]):  # of this process and of those that it waited for
        item.session.shouldstop = OVER
