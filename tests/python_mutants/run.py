"""Mutants of systoliq's own Python: which of them no test notices.

python tests/python_mutants/run.py --part golden --count 60 --seed 1
python tests/python_mutants/run.py --at golden/systoliq/golden/formats.py:83
python tests/python_mutants/run.py --at golden/systoliq/golden/formats.py --seconds 6

Each is one small change in golden or hw, in a copy of the tree: drawn by the seed, or all of a line or of a module. The
tests of its module, of the modules that use it and of its folder run until the first fails, or the time is over.
Survivors are listed with their line; then a table by module.
"""

from __future__ import annotations

import argparse
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from campaign import ROOT, Outcome, copied_tree, drawn, of_module, tried


def main() -> int:
    """Exit status 1 where one survives."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--part", choices=["golden", "hw"], help="draw mutants of this")
    which.add_argument("--at", metavar="PATH[:LINE]", help="all mutants of this line, or of this module")
    parser.add_argument("--count", type=int, default=60, help="mutants to draw; default 60")
    parser.add_argument("--seed", type=int, default=1, help="default 1")
    parser.add_argument("--seconds", type=float, default=100, help="of processor time: no new tests after; default 100")
    parser.add_argument("--hangs", type=float, default=200, help="of processor time: a test has no end; default 200")
    parser.add_argument("--minutes", type=float, default=600, help="no new mutants after; default 600")
    chosen = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the copy goes
    if chosen.at:
        path, _, line = chosen.at.partition(":")
        if not (ROOT / path).is_file() or (line and not line.isdecimal()):
            parser.error(f"--at must be PATH or PATH:LINE of a module below {ROOT}, not {chosen.at}")
        mutants = of_module(Path(path), int(line) if line else None)
    else:
        mutants = drawn(chosen.part, chosen.count, chosen.seed)
    outcomes: list[Outcome] = []
    end = time.monotonic() + 60 * chosen.minutes
    with copied_tree() as tree:
        for mutant in mutants:
            if time.monotonic() > end:
                break
            outcome = tried(tree, mutant, seconds=chosen.seconds, hangs=chosen.hangs)
            outcomes.append(outcome)
            _say(f"SURVIVED {mutant}" if outcome.killer is None else f"killed {mutant}  by {outcome.killer}")
    _say(table(outcomes))
    return 1 if any(outcome.killer is None for outcome in outcomes) else 0


def table(outcomes: list[Outcome]) -> str:
    """Killed of all, by module."""
    lines = ["| module | mutants | killed |", "|---|---|---|"]
    paths = sorted({outcome.mutant.path for outcome in outcomes})
    lines += [_row(f"`{path}`", [each for each in outcomes if each.mutant.path == path]) for path in paths]
    return "\n".join([*lines, _row("all", outcomes)])


def _row(name: str, outcomes: list[Outcome]) -> str:
    return f"| {name} | {len(outcomes)} | {sum(outcome.killer is not None for outcome in outcomes)} |"


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
