"""Draws designs from the whole parameter space and checks each; what fails is made as small as it still fails.

python tests/fuzz/designs.py --seed 1 --designs 500 --minutes 60
python tests/fuzz/designs.py --seed 1 --kinds layer array

Designs are drawn until that many were checked or the time is over. A fault is printed with its point, which
`--point JSON` checks again, alone.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from checked import Refused, fault_of
from points import KINDS, Point, draw_point, smaller

_SMALLER_TRIED = 60  # points, at the most, to make a failing one smaller


def verdict(point: Point, simulator: str) -> tuple[str, str]:
    """Whether the point is "right", "refused" or "wrong", and why."""
    try:
        fault = fault_of(point, simulator)
    except Refused as refusal:
        return "refused", str(refusal)
    except Exception:  # noqa: BLE001  # whatever it is, it is a finding
        return "wrong", traceback.format_exc(limit=-4)
    return ("right", "") if fault is None else ("wrong", fault)


def shrunk(point: Point, simulator: str) -> tuple[Point, str]:
    """The smallest point found on the way down from `point` that is still wrong, and what is wrong there."""
    why, tried, found = verdict(point, simulator)[1], 0, True
    while found and tried < _SMALLER_TRIED:
        found = False
        for candidate in smaller(point):
            tried += 1
            outcome, reason = verdict(candidate, simulator)
            if outcome == "wrong":
                point, why, found = candidate, reason, True
                break
            if tried >= _SMALLER_TRIED:
                break
    return point, why


def _check(task: tuple[Point, str]) -> tuple[Point, str, str, str]:
    return (*task, *verdict(*task))


def _drawn(seed: int, kinds: Sequence[str]) -> Iterator[tuple[Point, str]]:
    """Points of these kinds, each with a simulator: the same for the same seed, however long each takes."""
    rng = np.random.default_rng(seed)
    while True:
        if (point := draw_point(rng))["kind"] in kinds:
            yield point, str(rng.choice(["icarus", "verilator"], p=(0.8, 0.2)))


def check_designs(seed: int, count: int, minutes: float, workers: int, kinds: Sequence[str] = KINDS) -> Counter[str]:
    """Check `count` designs of `kinds`, print what is wrong, and count the verdicts by kind.

    A task is begun whenever a worker is free: an engine takes as long as ten arrays. What is wrong is printed at
    once and made smaller when all designs are checked, which can take longer than they did.
    """
    drawn = _drawn(seed, kinds)
    start = time.monotonic()
    tally: Counter[str] = Counter()
    wrong: list[tuple[Point, str]] = []
    running: set[Future[tuple[Point, str, str, str]]] = set()
    with ProcessPoolExecutor(workers) as pool:
        while True:
            checked = sum(n for name, n in tally.items() if "refused" not in name)
            if time.monotonic() - start < 60 * minutes:
                more = min(count - checked, workers) - len(running)
                running |= {pool.submit(_check, next(drawn)) for _ in range(more)}
            if not running:
                break
            done, running = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                point, simulator, outcome, why = future.result()
                tally[f"{point['kind']}, {outcome}"] += 1
                if outcome == "wrong":
                    _say(f"WRONG under {simulator}: {json.dumps(point)}\n  {why}")
                    wrong.append((point, simulator))
                _say(f"{time.monotonic() - start:.0f} s: {dict(sorted(tally.items()))}")
        for (point, _), found in [(each, pool.submit(shrunk, *each)) for each in wrong]:
            small, reason = found.result()
            _say(f"smallest found of {json.dumps(point)}: {json.dumps(small)}\n  {reason}")
    return tally


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def main() -> int:
    """Exit status 1 where a design is wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, help="where designs come from; default: the time")
    parser.add_argument("--designs", type=int, default=500, help="default 500")
    parser.add_argument("--minutes", type=float, default=60, help="no new designs after; default 60")
    parser.add_argument("--workers", type=int, default=2, help="default 2")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, help="default: all")
    parser.add_argument("--point", help="check this one alone")
    parser.add_argument("--simulator", choices=["icarus", "verilator"], default="icarus", help="for --point")
    chosen = parser.parse_args()
    if chosen.point is not None:
        outcome, why = verdict(json.loads(chosen.point), chosen.simulator)
        _say(f"{outcome} {why}")
        return 1 if outcome == "wrong" else 0
    seed = int(time.time()) if chosen.seed is None else chosen.seed
    tally = check_designs(seed, chosen.designs, chosen.minutes, chosen.workers, chosen.kinds)
    wrong = sum(tally[f"{kind}, wrong"] for kind in KINDS)
    right = sum(tally[f"{kind}, right"] for kind in KINDS)
    _say(f"seed {seed}: {right} designs right, {wrong} wrong: {dict(sorted(tally.items()))}")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())
