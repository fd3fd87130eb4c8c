"""The hardware of the exemplars is that on record: whoever changes it has meant to, and says so in the CHANGELOG."""

from __future__ import annotations

import pytest

from ..support import emissions
from .exemplars import EXEMPLARS, digest, recorded, tools

ENGINES, NETWORKS = ("engine of ", "weight-stationary engine of "), "network "
OF_ALL_BLOCKS = {  # engines of cells and networks with all classes of blocks: the other ones are compared in slow tests
    "engine of portable", "engine of float8", "engine of one element", "engine of float8 behind masters",
    "weight-stationary engine of ecp5", "network residual of ecp5",
    *(
        f"network {each} of portable"
        for each in ("attention", "blended", "compared", "constant", "crossed", "hourglass")
    ),
}  # fmt: skip
QUICK = [name for name in EXEMPLARS if name in OF_ALL_BLOCKS or not name.startswith((*ENGINES, NETWORKS))]


def test_the_record_has_every_exemplar():
    assert list(recorded()["digests"]) == list(EXEMPLARS)


def blocks(names):
    """The classes of the blocks of these exemplars."""
    found = set()
    for name in names:
        emissions.forget()
        digest(name)
        found |= {kind for _, kind in emissions.kept.modules}
    return found


@pytest.mark.slow
def test_all_classes_of_blocks_are_compared_in_every_run():
    assert set(EXEMPLARS) >= OF_ALL_BLOCKS
    assert blocks(set(EXEMPLARS) - set(QUICK)) <= blocks(QUICK)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in EXEMPLARS]
)
def test_hardware_is_that_on_record(name):
    """Else another one is emitted for the same input: `python -m tests.emitted.exemplars` puts that on record."""
    record = recorded()
    if record["tools"] != tools():
        pytest.skip(f"the record was made with {record['tools']}, and here is {tools()}")
    assert digest(name) == record["digests"][name], f"the hardware of the {name} has changed"
