"""Runs of proofs: each in a separate process with a time limit, several at a time."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from pathlib import Path

from systoliq.subprocesses import run_child

from .property import Decision, Property, Verdict
from .record import Entry, Record

__all__ = ["ProofResult", "ProofRun", "run"]

_SPARE_SECONDS = 60  # for emission and Yosys, which the limit of a proof does not count


@dataclass(frozen=True)
class ProofRun:
    """A property to prove, of the hardware as it is or with the property's bug seeded into it."""

    prop: Property
    seeded: bool = False

    @property
    def expected(self) -> Verdict:
        """The verdict of a run that passes."""
        return Verdict.FAILED if self.seeded else Verdict.PROVEN


@dataclass(frozen=True)
class ProofResult:
    """Result of a proof; `recorded` if an earlier run decided it, as are the seconds then."""

    proof: ProofRun
    verdict: Verdict
    seconds: float
    detail: str
    key: str = ""
    recorded: bool = False

    @property
    def passed(self) -> bool:
        """Proven; or, with the bug in it, refuted."""
        return self.verdict is self.proof.expected


def run_one(proof: ProofRun, known: Entry | None = None) -> ProofResult:
    """Run one proof to its end, or to its limit; if it is about the same as the `known` entry, return that."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="systoliq-prove-") as folder:
        bug = asdict(proof.prop.bug) if proof.seeded else None
        arguments = [folder, proof.prop.name, json.dumps(bug), *([] if known is None else [known.key])]
        decision = _run_worker(arguments, proof.prop.seconds + _SPARE_SECONDS, Path(folder))
    if known is not None and decision.verdict is Verdict.UNCHANGED:
        return ProofResult(proof, proof.expected, known.seconds, "", known.key, recorded=True)
    return ProofResult(proof, decision.verdict, time.monotonic() - start, decision.detail, decision.key)


def _run_worker(arguments: list[str], seconds: float, folder: Path) -> Decision:
    command = [sys.executable, "-m", "systoliq.prove.worker", *arguments]
    try:
        process = run_child(command, timeout=seconds)
    except subprocess.TimeoutExpired:
        return Decision(Verdict.TIMEOUT, f"no answer after {seconds:.0f} s")
    file = folder / "decision.json"
    if process.returncode or not file.exists():
        return Decision(Verdict.ERROR, (process.stderr.strip() or process.stdout.strip())[-1000:])
    return Decision.read(file)


def run(
    runs: Sequence[ProofRun],
    *,
    processes: int = 2,
    record: Record | None = None,
    on_result: Callable[[ProofResult], None] | None = None,
) -> list[ProofResult]:
    """Run all ``runs``, ``processes`` at a time; ``on_result`` is called with each result when its proof ends. Results
    in the runs' order. A ``record`` replaces proofs about the same hardware, and gets those that pass.
    """
    with ThreadPoolExecutor(processes) as pool:
        known = [None if record is None else record.find(proof.prop.name, seeded=proof.seeded) for proof in runs]
        futures = [pool.submit(run_one, *each) for each in zip(runs, known, strict=True)]
        try:
            for future in as_completed(futures):
                result = future.result()
                if record is not None and result.passed and not result.recorded:
                    entry = Entry(result.key, round(result.seconds, 1))
                    record.add(result.proof.prop.name, entry, seeded=result.proof.seeded)
                if on_result is not None:
                    on_result(result)
        except BaseException:
            pool.shutdown(cancel_futures=True)  # otherwise, all proofs would run first
            raise
    return [future.result() for future in futures]
