"""Campaigns: mutants of one package, drawn with a seed, run through its testbench and then through proofs."""

from __future__ import annotations

import enum
import hashlib
import json
import resource
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

from systoliq.sim.process import limited
from systoliq.sim.tools import require
from systoliq.subprocesses import run_child

from .differential import first_difference
from .equivalence import holders, none_seen, same_state
from .evaluated import is_evaluated, meanings, wrong_sum
from .float8_sums import is_in_requantizer, same_results
from .mutation import Mutant, block_of, draw

__all__ = ["Campaign", "Result", "Verdict", "by_block"]

_CERTIFICATE = "certificate.json"
_VERIFY_SECONDS = 300
_CYCLES = 100_000  # of random traffic, together with the original


class Verdict(enum.Enum):
    """Result of a mutant."""

    TESTBENCH = "testbench"  # it printed no PASS
    EQUIVALENT = "equivalent"  # proven, or every sum that can be reached was evaluated
    DIFFERENT = "different"  # a simulation of random traffic shows a difference that the testbench does not
    UNDECIDED = "undecided"  # neither: counts as a survivor


@dataclass(frozen=True, kw_only=True)
class Result:
    """A mutant, its verdict, and the output of the testbench or of the simulation against the original; `refused` is
    the output of `verify --no-regenerate` for a mutant that the testbench does not find.
    """

    mutant: Mutant
    verdict: Verdict
    said: str
    refused: str
    seconds: float


class Campaign:
    """Mutants of the package in `folder`.

    `seconds` limits each proof of equivalence. With `alone`, proofs consider only the changed module, and the remaining
    mutants are undecided without a simulation against the original. A simulation that takes more than a minute plus ten
    times the processor time of the original counts as a failure. Raises ValueError if `folder` is not a package whose
    testbench passes, ToolError if Icarus is missing.
    """

    def __init__(self, folder: Path, *, seconds: int = 20, alone: bool = False) -> None:
        require("icarus")
        self._folder = folder
        self._seconds = seconds
        self._alone = alone
        if not folder.is_dir():
            raise ValueError(f"DIR must be a directory that systoliq emit wrote, not {str(folder)!r}")
        benches = sorted(folder.glob("*_tb.v"))
        if len(benches) != 1:
            raise ValueError(f"{folder} must be the directory of a package, with one file *_tb.v, not {len(benches)}")
        self._bench = benches[0]
        self.verilog = folder / f"{self._bench.name.removesuffix('_tb.v')}.v"
        self._text = self.verilog.read_text()
        models = folder / f"{self.verilog.stem}_models.v"
        self._models = models.read_text() if models.is_file() else ""
        self._limit = 600.0
        with tempfile.TemporaryDirectory(prefix="systoliq-mutants-") as place:
            start = _children_seconds()
            said = self.simulated(self._text, Path(place))
            self._limit = 60 + 10 * (_children_seconds() - start)
            if said is None:
                raise ValueError(f"{folder}: {self.verilog.name} and {self._bench.name} must compile with Icarus")
            if not said.startswith("PASS"):
                raise ValueError(f"{folder}: its own testbench must pass, not print {said[:200]!r}")
            if reason := self.refused(self._text, Path(place)):
                raise ValueError(f"{folder} must be verified before it is mutated, not {reason[:200]!r}")

    def run(
        self, count: int, seed: int, *, processes: int = 1, on_result: Callable[[Result], None] | None = None
    ) -> list[Result]:
        """Return the results of `count` mutants, or of all if there are fewer, in the order of drawing.

        Mutants that no simulator can read do not count.
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
        """Judge a mutant; None if it is not valid Verilog."""
        start = time.monotonic()
        text = mutant.applied(self._text.splitlines())
        with tempfile.TemporaryDirectory(prefix="systoliq-mutants-") as place:
            folder = Path(place)
            said = self.simulated(text, folder)
            if said is None:
                return None
            verdict, refused = Verdict.TESTBENCH, ""
            if said.startswith("PASS"):
                verdict, said, refused = self.survivor(mutant, folder)
        first = said.strip().partition("\n")[0]
        seconds = time.monotonic() - start
        return Result(mutant=mutant, verdict=verdict, said=first, refused=refused, seconds=seconds)

    def survivor(self, mutant: Mutant, folder: Path) -> tuple[Verdict, str, str]:
        """Judge a mutant that the testbench does not find: the verdict, what a comparison with the original says, and
        what `verify` says. Files are written to `folder`.
        """
        seconds, whole = self._seconds, not self._alone
        text, modelled = mutant.applied(self._text.splitlines()), self._text + self._models
        if same_state(modelled, mutant, folder, seconds=seconds, whole=whole):
            return Verdict.EQUIVALENT, "", ""
        modules = holders(self._text, mutant.module)
        blocks = [block_of(modules[-1], each) for each in modules]
        wrong = None
        if self._has_certificate:
            texts = meanings(mutant, self._text.splitlines())
            if is_in_requantizer(modules):
                wrong = "" if same_results(self._folder, texts, folder, seconds=3 * seconds) else None
            elif is_evaluated(blocks, mutant.kind):
                wrong = self._wrong_sum(texts, folder)
        if wrong is not None:
            return (Verdict.DIFFERENT, wrong, self.refused(text, folder)) if wrong else (Verdict.EQUIVALENT, "", "")
        if none_seen(modelled, mutant, folder, seconds=seconds, whole=whole):
            return Verdict.EQUIVALENT, "", ""
        if not whole:
            return Verdict.UNDECIDED, "", self.refused(text, folder)
        cycle = first_difference(
            self._text, text, modules[-1], folder, models=self._models, cycles=_CYCLES, seconds=self._limit
        )
        refused = self.refused(text, folder)
        if cycle is None:
            return Verdict.UNDECIDED, "", refused
        return Verdict.DIFFERENT, f"after {cycle} cycles of random traffic", refused

    def _wrong_sum(self, meanings: list[str], folder: Path) -> str | None:
        """See `wrong_sum`, over all meanings of a mutant's text."""
        found = [wrong_sum(self._folder, self._package(text, folder)) for text in meanings]
        return None if None in found else next(filter(None, found), "")

    def simulated(self, text: str, folder: Path) -> str | None:
        """Return the testbench's output for the Verilog `text`; None if `text` does not compile."""
        (folder / "design.v").write_text(text + self._models)
        for memory in self._folder.glob("*.mem"):
            shutil.copy(memory, folder)
        command = ["iverilog", "-g2005", "-o", "t", "design.v", str(self._bench.resolve())]
        if run_child(command, cwd=folder).returncode:
            return None
        # -n: it ends where it would ask
        command = limited(["vvp", "-n", "t"], self._limit)
        done = run_child(command, cwd=folder)
        if done.returncode < 0:
            return f"no end within {self._limit:.0f} s of processor time"
        return done.stdout or "nothing printed"

    @property
    def _has_certificate(self) -> bool:
        return (self._folder / _CERTIFICATE).exists()

    def _package(self, text: str, folder: Path) -> Path:
        """The package with the Verilog `text`, in a folder in `folder`, with digests made anew."""
        package = folder / "package"
        shutil.copytree(self._folder, package, dirs_exist_ok=True)
        (package / self.verilog.name).write_text(text)
        if self._has_certificate:
            path = package / _CERTIFICATE
            whole = json.loads(path.read_text())
            whole.pop("sha256")
            whole["files"][self.verilog.name] = hashlib.sha256(text.encode()).hexdigest()
            own = json.dumps(whole, sort_keys=True, separators=(",", ":"))
            sealed = {**whole, "sha256": hashlib.sha256(own.encode()).hexdigest()}
            path.write_text(json.dumps(sealed, indent=2) + "\n")
        return package

    def refused(self, text: str, folder: Path) -> str:
        """Return why `verify` refuses the package with the Verilog `text`, without regeneration; or ""."""
        if not self._has_certificate:
            return ""
        package = self._package(text, folder)
        command = [sys.executable, "-m", "systoliq", "verify", str(package), "--no-regenerate"]
        try:
            done = run_child(command, timeout=_VERIFY_SECONDS)
        except subprocess.TimeoutExpired:
            return ""
        return done.stderr.strip() or "refused" if done.returncode else ""


def _children_seconds() -> float:
    """Processor time of the processes that this one has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def by_block(results: list[Result]) -> Iterator[tuple[str, dict[Verdict, int]]]:
    """Yield the number of mutants with each verdict, by block; the totals come last."""
    for block in [*sorted({result.mutant.block for result in results}), ""]:
        chosen = [result for result in results if block in ("", result.mutant.block)]
        yield block or "all", {each: sum(result.verdict is each for result in chosen) for each in Verdict}
