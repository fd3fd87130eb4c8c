"""Machinery of the forgeries: a package, emitted once, edited, and sealed as a careful forger would."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass

from systoliq.verify import verify_package

from .sealing import change, seal

__all__ = ["Forgery", "forged", "reasons_against"]


@dataclass(frozen=True, kw_only=True)
class Forgery:
    """In the file of the package that ends in `suffix`, `old` (a pattern) becomes `new`; it is refused for `reason`."""

    old: str
    new: str
    reason: str
    suffix: str = ".v"
    package: str = "layer"


def forged(directory, name, forgery, folder):
    """A copy of the package `name` in `directory`, with the forgery in it and every digest up to date."""
    copy = folder / "forged"
    shutil.copytree(directory, copy)
    file = copy / f"{name}{forgery.suffix}"
    text = file.read_text()
    changed, count = re.subn(forgery.old, forgery.new, text, count=1, flags=re.DOTALL)
    assert count == 1, forgery.old
    assert changed != text
    file.write_text(changed, newline="")
    seal(copy)
    return copy


def reasons_against(package, folder, pattern, new):
    """Why a network's package is refused after `change` of its Verilog, every digest up to date; none if it is not."""
    directory = shutil.copytree(package, folder / "net")
    change(directory / "net.v", pattern, new)
    seal(directory)
    return verify_package(directory).reasons
