"""Packages that are changed and sealed again."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path


def change(path: Path, pattern: str, new: str | Callable[[str], str] | None = None) -> None:
    """Change the last digit of what group 1 of `pattern` matches first, or replace it, by what `new` makes of it."""
    text = path.read_text()
    match = re.search(pattern, text, re.DOTALL)
    assert match, pattern
    last = text[match.end(1) - 1]
    if callable(new):
        new = new(match[1])
    new = match[1][:-1] + ("1" if last != "1" else "2") if new is None else new
    path.write_text(text[: match.start(1)] + new + text[match.end(1) :])


def seal(directory: Path) -> None:
    """What a careful forger does: bring every digest up to date."""
    path = directory / "certificate.json"
    content = json.loads(path.read_text())
    content["files"] = {name: hashlib.sha256((directory / name).read_bytes()).hexdigest() for name in content["files"]}
    del content["sha256"]
    own = json.dumps(content, sort_keys=True, separators=(",", ":"))
    content["sha256"] = hashlib.sha256(own.encode()).hexdigest()
    path.write_text(json.dumps(content, indent=2) + "\n")
