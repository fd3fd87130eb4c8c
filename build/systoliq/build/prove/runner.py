"""Running proofs: each in a process of its own, a few at a time, with a limit on each one's time."""

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

from .property import Property, Verdict

__all__ = ["Job", "Result", "run"]

_SPARE_SECONDS = 60  # for emission and Yosys, which the limit of a proof does not count


@dataclass(frozen=True)
class Job:
    """A property to prove, of the hardware as it is or with the property's bug seeded into it."""

    prop: Property
    seeded: bool = False


@dataclass(frozen=True)
class Result:
    """How a job ended."""

    job: Job
    verdict: Verdict
    seconds: float
    detail: str

    @property
    def passed(self) -> bool:
        """Proven; or, with the bug in it, refuted."""
        return self.verdict is (Verdict.FAILED if self.job.seeded else Verdict.PROVEN)


def run_one(job: Job) -> Result:
    """Run one job to its end, or to its limit."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="systoliq-prove-") as folder:
        arguments = [folder, job.prop.name]
        if job.seeded:
            arguments.append(json.dumps(asdict(job.prop.bug)))
        verdict, detail = _run_worker(arguments, job.prop.seconds + _SPARE_SECONDS, Path(folder))
    return Result(job, verdict, time.monotonic() - start, detail)


def _run_worker(arguments: list[str], seconds: float, folder: Path) -> tuple[Verdict, str]:
    command = [sys.executable, "-m", "systoliq.build.prove.worker", *arguments]
    try:
        process = subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return Verdict.TIMEOUT, f"no answer after {seconds:.0f} s"
    file = folder / "outcome.json"
    if process.returncode or not file.exists():
        return Verdict.ERROR, (process.stderr.strip() or process.stdout.strip())[-1000:]
    outcome = json.loads(file.read_text())
    return Verdict(outcome["verdict"]), outcome["detail"]


def run(jobs: Sequence[Job], *, processes: int = 2, on_result: Callable[[Result], None] | None = None) -> list[Result]:
    """Run all ``jobs``, ``processes`` at a time; ``on_result`` hears of each as it ends. Results in the jobs' order."""
    with ThreadPoolExecutor(processes) as pool:
        futures = [pool.submit(run_one, job) for job in jobs]
        for future in as_completed(futures):
            if on_result is not None:
                on_result(future.result())
    return [future.result() for future in futures]
