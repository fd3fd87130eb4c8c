"""The hardware of the exemplars is that on record: whoever changes it has meant to, and says so in the CHANGELOG."""

from __future__ import annotations

import pytest

from .exemplars import EXEMPLARS, digest, recorded, tools


def test_the_record_has_every_exemplar():
    assert list(recorded()["digests"]) == list(EXEMPLARS)


@pytest.mark.parametrize("name", EXEMPLARS)
def test_hardware_is_that_on_record(name):
    """Else another one is emitted for the same input: `python -m tests.emitted.exemplars` puts that on record."""
    record = recorded()
    if record["tools"] != tools():
        pytest.skip(f"the record was made with {record['tools']}, and here is {tools()}")
    assert digest(name) == record["digests"][name], f"the hardware of the {name} has changed"
