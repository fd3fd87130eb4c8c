"""Modules of an emitted design and the instances within each, from its text."""

from __future__ import annotations

import re
from collections import Counter

__all__ = ["instances_in", "modules_of"]

_MODULE = re.compile(r"^module (\w+)\b.*?^endmodule", re.MULTILINE | re.DOTALL)
_INSTANCE = re.compile(r"^ +(\w+) \w+ \($", re.MULTILINE)


def modules_of(verilog: str) -> dict[str, str]:
    """Return the text of each module by its name."""
    return {match[1]: match[0] for match in _MODULE.finditer(verilog)}


def instances_in(text: str) -> Counter[str]:
    """Return the number of instances in the text of a module, by the name of their module; vendor cells count, too."""
    return Counter(_INSTANCE.findall(text))
