"""Tests of `verify`: a package that was forged in one place is verified as a whole, dozens of times."""

from __future__ import annotations

import functools
from collections.abc import Iterator

import pytest

from systoliq.verify import columns, float32, reference


@pytest.fixture(scope="session", autouse=True)
def kept_steps() -> Iterator[None]:
    """Keep the steps of the float32 formula, a quarter of the time that `verify` takes, by all that they depend on."""
    kept = functools.lru_cache(4096)(float32.steps_of)
    with pytest.MonkeyPatch.context() as patch:
        for module in (columns, reference):
            patch.setattr(module, "steps_of", lambda *given: list(kept(*given)))
        yield
