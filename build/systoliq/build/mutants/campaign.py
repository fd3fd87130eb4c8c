"""Campaigns: mutants of one package, drawn with a seed, through its testbench, `verify`, and a proof of equivalence."""

from __future__ import annotations

import enum
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from systoliq.sim.tools import require

from .equivalence import equivalent, holders
from .mutation import Mutant, draw

__all__ = ["Campaign", "Result", "Verdict", "by_block"]

_CERTIFICATE = "certificate.json"
_VERIFY_SECONDS = 300


class Verdict(enum.Enum):
    """How a mutant ended."""

    TESTBENCH = "testbench"  # it printed no PASS
    EQUIVALENT = "equivalent"  # proven
    VERIFY = "verify"  # refused
    SURVIVED = "survived"  # a difference is proven in the module alone, none was found in the whole
    UNDECIDED = "undecided"  # neither proven in time; counts as a survivor


@dataclass(frozen=True, kw_only=True)
class Result:
    """A mutant, its verdict, and what the testbench or `verify` said."""

    mutant: Mutant
    verdict: Verdict
    said: str
    seconds: float


class Campaign:
    """Mutants of the package in `folder`.

    `seconds` is the limit for each question about equivalence. A simulation that takes ten times as long as that of the
    original, and a minute, has no end, and is a failure. Raises ValueError where `folder` is no package whose own
    testbench passes, ToolError where Icarus is missing.
    """

    def __init__(self, folder: Path, *, seconds: int = 20) -> None:
        require("icarus")
        self._folder = folder
        self._seconds = seconds
        benches = sorted(folder.glob("*_tb.v"))
        if len(benches) != 1:
            raise ValueError(f"{folder} must be the directory of a package, with one file *_tb.v, not {len(benches)}")
        self._bench = benches[0]
        self.verilog = folder / f"{self._bench.name.removesuffix('_tb.v')}.v"
        self._text = self.verilog.read_text()
        self._limit = 600.0
        with tempfile.TemporaryDirectory(prefix="systoliq-mutants-") as place:
            start = time.monotonic()
            said = self._simulate(self._text, Path(place))
            self._limit = 60 + 10 * (time.monotonic() - start)
            if said is None or not said.startswith("PASS"):
                raise ValueError(f"{folder}: its own testbench must pass, not print {(said or 'nothing')[:200]!r}")
            if reason := self._refused(self._text, Path(place) / "package"):
                raise ValueError(f"{folder} must be verified before it is mutated, not {reason[:200]!r}")

    def run(
        self, count: int, seed: int, *, processes: int = 1, on_result: Callable[[Result], None] | None = None
    ) -> list[Result]:
        """The results of `count` mutants, or of all where there are fewer, in the order in which they are drawn.

        One that no simulator reads is not counted.
        """
        drawn = draw(self._text.splitlines(), seed)
        results: dict[int, Result] = {}
        running: dict[Future[Result | None], int] = {}
        numbers = iter(range(sys.maxsize))
        with ThreadPoolExecutor(processes) as pool:
            while True:
                wanted = min(count - len(results) - len(running), processes - len(running))
                for mutant in islice(drawn, max(wanted, 0)):
                    running[pool.submit(self._judge, mutant)] = next(numbers)
                if not running:
                    break
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    number, result = running.pop(future), future.result()
                    if result is not None:
                        results[number] = result
                        if on_result is not None:
                            on_result(result)
        return [results[number] for number in sorted(results)]

    def _judge(self, mutant: Mutant) -> Result | None:
        """None where the mutant is no Verilog."""
        start = time.monotonic()
        text = mutant.applied(self._text.splitlines())
        with tempfile.TemporaryDirectory(prefix="systoliq-mutants-") as place:
            folder = Path(place)
            said = self._simulate(text, folder)
            if said is None:
                return None
            verdict = Verdict.TESTBENCH
            if said.startswith("PASS"):
                verdict, said = self._survivor(mutant, text, folder)
        first = said.strip().partition("\n")[0]
        return Result(mutant=mutant, verdict=verdict, said=first, seconds=time.monotonic() - start)

    def _survivor(self, mutant: Mutant, text: str, folder: Path) -> tuple[Verdict, str]:
        modules = holders(self._text, mutant.module)
        equal = equivalent(self._text, text, modules, folder, seconds=self._seconds)
        if equal:
            return Verdict.EQUIVALENT, ""
        if reason := self._refused(text, folder / "package"):
            return Verdict.VERIFY, reason
        return Verdict.SURVIVED if equal is False else Verdict.UNDECIDED, ""

    def _simulate(self, text: str, folder: Path) -> str | None:
        """What the testbench prints of the Verilog `text`; None where that is none."""
        (folder / "design.v").write_text(text)
        for memory in self._folder.glob("*.mem"):
            shutil.copy(memory, folder)
        command = ["iverilog", "-g2005", "-o", "t", "design.v", str(self._bench.resolve())]
        if subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode:
            return None
        try:
            done = subprocess.run(
                ["vvp", "t"], cwd=folder, capture_output=True, text=True, timeout=self._limit, check=False
            )
        except subprocess.TimeoutExpired:
            return f"no end within {self._limit:.0f} s"
        return done.stdout or "nothing printed"

    def _refused(self, text: str, folder: Path) -> str:
        """Why `verify` refuses the package with the Verilog `text`, whose digests are made anew; or ""."""
        if not (self._folder / _CERTIFICATE).exists():
            return ""
        shutil.copytree(self._folder, folder)
        (folder / self.verilog.name).write_text(text)
        path = folder / _CERTIFICATE
        whole = json.loads(path.read_text())
        whole.pop("sha256")
        whole["files"][self.verilog.name] = hashlib.sha256(text.encode()).hexdigest()
        own = json.dumps(whole, sort_keys=True, separators=(",", ":"))
        sealed = {**whole, "sha256": hashlib.sha256(own.encode()).hexdigest()}
        path.write_text(json.dumps(sealed, indent=2) + "\n")
        command = [sys.executable, "-m", "systoliq.build", "verify", str(folder)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=_VERIFY_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            return ""
        return done.stderr.strip() or "refused" if done.returncode else ""


def by_block(results: list[Result]) -> Iterator[tuple[str, dict[Verdict, int]]]:
    """How many mutants of each block ended in each verdict; those of all blocks last."""
    for block in [*sorted({result.mutant.block for result in results}), ""]:
        chosen = [result for result in results if block in ("", result.mutant.block)]
        yield block or "all", {each: sum(result.verdict is each for result in chosen) for each in Verdict}
