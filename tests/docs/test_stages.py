"""The tables of the documentation about stages: each kind of node has its row."""

from __future__ import annotations

import pytest

from systoliq.hw.network.operators import OPERATORS

from ..conftest import ROOT


@pytest.mark.parametrize("page", ["networks.md", "exactness.md"])
def test_each_kind_of_node_is_in_a_table(page):
    lines = (ROOT / "docs" / page).read_text().splitlines()
    rows = "\n".join(line for line in lines if line.startswith("|"))
    missing = sorted({each.node_type.__name__ for each in OPERATORS if each.node_type.__name__ not in rows})
    assert not missing
