"""Decision of a property: Bitwuzla for unrolled cycles, ABC's PDR for all time."""

from __future__ import annotations

import re
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from systoliq.subprocesses import run_child

from .netlist import Netlist
from .property import Bounded, Decision, FromAnyState, Induction, Method, Property, Unbounded, Verdict
from .unroll import Unrolling

__all__ = ["decide"]

_SETTLED = 3  # cycles after power-up until the registers that hold a cell's mode are loaded, and their claims checked


class _Clock:
    """Shares the seconds of one property among its queries."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        return max(self._end - time.monotonic(), 0.001)


def decide(prop: Property, harness: Any, netlist: Netlist, folder: Path) -> Decision:
    """Prove ``prop`` about the ``netlist`` of its ``harness`` within its seconds; files in between go to ``folder``."""
    clock = _Clock(prop.seconds)
    text, formulas = netlist.smt(), getattr(harness, "formulas", ())
    unrolling = Unrolling(text, formulas, free_products=getattr(harness, "free_products", False))
    if not unrolling.claims_at(0):
        return Decision(Verdict.ERROR, "the harness claims nothing")
    cycles = _cycles(prop.method, harness)
    if isinstance(prop.method, Unbounded):
        decision = _pdr(netlist.aiger(), folder, clock)
    else:
        decision = _unrolled(prop.method, cycles, unrolling, clock)
    if decision.verdict is Verdict.PROVEN:
        # Covers must be reachable with real products.
        decision = _reach_covers(prop.method, cycles, Unrolling(text), clock) or decision
    return decision


def _cycles(method: Method, harness: Any) -> int:
    """Number of cycles after the first."""
    if isinstance(method, FromAnyState):
        return int(harness.latency)
    return method.cover_cycles if isinstance(method, Unbounded) else method.cycles


def _unrolled(method: Method, cycles: int, unrolling: Unrolling, clock: _Clock) -> Decision:
    text = unrolling.cycles(cycles)
    if isinstance(method, FromAnyState):
        return _refute(unrolling, text, unrolling.claims_at(cycles), cycles, clock)
    first = cycles if isinstance(method, Bounded) else cycles - 1
    from_start = [claim for t in range(first + 1) for claim in unrolling.claims_at(t, of_cells=t >= _SETTLED)]
    decision = _refute(unrolling, text + unrolling.initial(), from_start, cycles, clock)
    if isinstance(method, Induction) and decision.verdict is Verdict.PROVEN:
        hypothesis = "".join(f"(assert {claim})\n" for claim in from_start)
        decision = _refute(unrolling, text + hypothesis, unrolling.claims_at(cycles), cycles, clock)
    return decision


def _refute(unrolling: Unrolling, text: str, claims: Sequence[str], cycles: int, clock: _Clock) -> Decision:
    """PROVEN if no state and input that satisfy ``text`` make one of ``claims`` false."""
    goal = "(assert (not (and true " + " ".join(claims) + ")))\n"
    answer, trace = _solve(text + goal, unrolling, cycles, clock)
    if answer == "unsat":
        return Decision(Verdict.PROVEN)
    if answer == "sat":
        return Decision(Verdict.FAILED, trace)
    return Decision(Verdict.TIMEOUT)


def _reach_covers(method: Method, cycles: int, unrolling: Unrolling, clock: _Clock) -> Decision | None:
    """Check that each cover is reachable together with the conditions; None if all are."""
    anywhere = isinstance(method, FromAnyState)
    text = unrolling.cycles(cycles) + ("" if anywhere else unrolling.initial())
    if not unrolling.covers:
        return Decision(Verdict.ERROR, "the harness covers nothing: its proof could be vacuous")
    for name in unrolling.covers:
        when = [cycles] if anywhere else range(cycles + 1)
        goal = "(assert (or false " + " ".join(unrolling.at(name, t) for t in when) + "))\n"
        answer, _ = _solve(text + goal, unrolling, cycles, clock)
        if answer == "unsat":
            return Decision(Verdict.UNREACHABLE, f"cover {name} is not reached within {cycles} cycles")
        if answer != "sat":
            return Decision(Verdict.TIMEOUT)
    return None


def _solve(text: str, unrolling: Unrolling, cycles: int, clock: _Clock) -> tuple[str, str]:
    """("sat", trace), ("unsat", "") or ("unknown", "")."""
    import bitwuzla

    options = bitwuzla.Options()
    options.set(bitwuzla.Option.PRODUCE_MODELS, True)
    options.set(bitwuzla.Option.TIME_LIMIT_PER, int(clock.left() * 1000) + 1)
    parser = bitwuzla.Parser(bitwuzla.TermManager(), options)
    parser.parse(text, True, False)
    solver = parser.bitwuzla()
    result = solver.check_sat()
    if result != bitwuzla.Result.SAT:
        return ("unsat" if result == bitwuzla.Result.UNSAT else "unknown"), ""
    lines = []
    for port, name in unrolling.ports.items():
        values = (solver.get_value(parser.parse_term(unrolling.at(name, t))) for t in range(cycles + 1))
        lines.append(f"{port}: " + " ".join(_short(str(value)) for value in values))
    return "sat", "\n".join(lines)


def _short(value: str) -> str:
    if value.startswith("#b"):
        return f"{int(value[2:], 2):x}"
    return {"true": "1", "false": "0"}.get(value, value)


def _pdr(aiger: Path, folder: Path, clock: _Clock) -> Decision:
    """ABC's answer. If merging registers leaves nothing to decide, ABC reports no answer, and runs again without
    merging.
    """
    decision = Decision(Verdict.TIMEOUT)
    for merge in ("scleanup; scorr; dc2; ", ""):
        decision = _abc(aiger, merge, folder, clock)
        if decision.verdict is not Verdict.TIMEOUT:
            break
    return decision


def _abc(aiger: Path, merge: str, folder: Path, clock: _Clock) -> Decision:
    import pyosys

    abc = Path(pyosys.__file__).parent / "yosys-abc"
    limit = max(int(clock.left()), 1)
    # fold: the conditions become part of the claim. scorr merges registers that are equal in all reachable states.
    script = f"read_aiger {aiger}; fold; strash; {merge}pdr -T {limit}"
    try:
        process = run_child([abc, "-c", script], cwd=folder, timeout=limit + 10)
    except subprocess.TimeoutExpired:
        return Decision(Verdict.TIMEOUT)
    output = process.stdout
    if "Property proved." in output:
        return Decision(Verdict.PROVEN)
    if match := re.search(r"Output \d+ of miter .* was asserted in frame (\d+)", output):
        return Decision(Verdict.FAILED, f"false in cycle {match[1]}")
    if process.returncode:
        return Decision(Verdict.ERROR, output[-400:])
    return Decision(Verdict.TIMEOUT, output[-400:])
