"""The limits that the documentation lists are those of the code."""

from __future__ import annotations

import importlib
import re

from ..conftest import ROOT


def test_each_limit_is_that_of_the_code():
    rows = re.findall(r"^\| .+ \| (\d+) \| `([\w.]+)\.(\w+)` \|$", (ROOT / "docs/limits.md").read_text(), re.MULTILINE)
    assert len(rows) >= 9
    for number, module, name in rows:
        assert getattr(importlib.import_module(f"systoliq.{module}"), name) == int(number), name
    from systoliq.golden import limits

    assert set(limits.__all__) <= {name for _, _, name in rows}
