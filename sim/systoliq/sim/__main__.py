"""The command `python -m systoliq.sim NAME...`: check for these tools; exit with 1 and print how to install a missing
one.
"""

from __future__ import annotations

import sys

from .tools import find, missing_text

__all__ = ["main"]


def main(names: list[str]) -> int:
    """Check the named tools; print what is missing and the one Debian command that installs it."""
    missing = [tool for name in names if not (tool := find(name)).found]
    for tool in missing:
        sys.stderr.write(missing_text(tool) + "\n")
    packages = [tool.hint.split()[-1] for tool in missing if tool.hint.startswith("apt-get")]
    if len(packages) > 1:
        sys.stderr.write(f"All of them: apt-get install {' '.join(packages)}\n")
    return 1 if missing else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
