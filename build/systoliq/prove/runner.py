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

__all__ = ["ProofResult", "ProofRun", "run"]

_SPARE_SECONDS = 60  # for emission and Yosys, which the limit of a proof does not count


@dataclass(frozen=True)
class ProofRun:
    """A property to prove, of the hardware as it is or with the property's bug seeded into it."""

    prop: Property
    seeded: bool = False


@dataclass(frozen=True)
class ProofResult:
    """Result of a proof; `kept` if it is an earlier run's, as are the seconds then."""

    proof: ProofRun
    verdict: Verdict
    seconds: float
    detail: str
    kept: bool = False

    @property
    def passed(self) -> bool:
        """Proven; or, with the bug in it, refuted."""
        return self.verdict is (Verdict.FAILED if self.proof.seeded else Verdict.PROVEN)


def run_one(proof: ProofRun, *, resume: bool = False) -> ProofResult:
    """Run one proof to its end, or to its limit; with `resume`, an earlier run's decision about the same counts."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="systoliq-prove-") as folder:
        bug = asdict(proof.prop.bug) if proof.seeded else None
        arguments = [folder, proof.prop.name, json.dumps(bug), *["--resume"] * resume]
        decision = _run_worker(arguments, proof.prop.seconds + _SPARE_SECONDS, Path(folder))
    kept = decision.kept is not None
    seconds = time.monotonic() - start if decision.kept is None else decision.kept
    return ProofResult(proof, decision.verdict, seconds, decision.detail, kept)


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
    resume: bool = False,
    on_result: Callable[[ProofResult], None] | None = None,
) -> list[ProofResult]:
    """Run all ``runs``, ``processes`` at a time; ``on_result`` is called with each result when its proof ends. Results
    in the runs' order. See `run_one` about ``resume``.
    """
    with ThreadPoolExecutor(processes) as pool:
        futures = [pool.submit(run_one, proof, resume=resume) for proof in runs]
        for future in as_completed(futures):
            if on_result is not None:
                on_result(future.result())
    return [future.result() for future in futures]
