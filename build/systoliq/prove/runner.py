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

from .property import Property, Verdict

__all__ = ["ProofResult", "ProofRun", "run"]

_SPARE_SECONDS = 60  # for emission and Yosys, which the limit of a proof does not count


@dataclass(frozen=True)
class ProofRun:
    """A property to prove, of the hardware as it is or with the property's bug seeded into it."""

    prop: Property
    seeded: bool = False


@dataclass(frozen=True)
class ProofResult:
    """Result of a proof."""

    proof: ProofRun
    verdict: Verdict
    seconds: float
    detail: str

    @property
    def passed(self) -> bool:
        """Proven; or, with the bug in it, refuted."""
        return self.verdict is (Verdict.FAILED if self.proof.seeded else Verdict.PROVEN)


def run_one(proof: ProofRun) -> ProofResult:
    """Run one proof to its end, or to its limit."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="systoliq-prove-") as folder:
        arguments = [folder, proof.prop.name]
        if proof.seeded:
            arguments.append(json.dumps(asdict(proof.prop.bug)))
        verdict, detail = _run_worker(arguments, proof.prop.seconds + _SPARE_SECONDS, Path(folder))
    return ProofResult(proof, verdict, time.monotonic() - start, detail)


def _run_worker(arguments: list[str], seconds: float, folder: Path) -> tuple[Verdict, str]:
    command = [sys.executable, "-m", "systoliq.prove.worker", *arguments]
    try:
        process = run_child(command, timeout=seconds)
    except subprocess.TimeoutExpired:
        return Verdict.TIMEOUT, f"no answer after {seconds:.0f} s"
    file = folder / "decision.json"
    if process.returncode or not file.exists():
        return Verdict.ERROR, (process.stderr.strip() or process.stdout.strip())[-1000:]
    decision = json.loads(file.read_text())
    return Verdict(decision["verdict"]), decision["detail"]


def run(
    runs: Sequence[ProofRun], *, processes: int = 2, on_result: Callable[[ProofResult], None] | None = None
) -> list[ProofResult]:
    """Run all ``runs``, ``processes`` at a time; ``on_result`` is called with each result when its proof ends. Results
    in the runs' order.
    """
    with ThreadPoolExecutor(processes) as pool:
        futures = [pool.submit(run_one, proof) for proof in runs]
        for future in as_completed(futures):
            if on_result is not None:
                on_result(future.result())
    return [future.result() for future in futures]
