"""Large layers: what their packages weigh and cost, from emission over `verify` to a simulation of 64 rows."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table

from systoliq.golden import MatMulLayer

from ..design import Hardware, LayerDesign
from ..design.simulated import Simulated
from ..package import Package, make_package
from ..verify import Report, verify_package
from .timing import Timed, timed

__all__ = ["CASES", "Case", "LayerFigures", "layer_figures", "layer_table"]

ROWS = 64  # of A, in the simulation


@dataclasses.dataclass(frozen=True, kw_only=True)
class Case:
    """A layer K x N on an array of one row, 16 columns and this depth."""

    k: int
    n: int
    depth: int


CASES = tuple(Case(k=k, n=n, depth=depth) for k, n in ((256, 256), (768, 768), (768, 3072)) for depth in (1, 8))


@dataclasses.dataclass(frozen=True, kw_only=True)
class LayerFigures:
    """Bytes of a package, and seconds; `first_run` builds the simulation, which `run` finds built."""

    case: Case
    package_bytes: int
    verilog_bytes: int
    memory_bytes: int
    emission: Timed[Package]
    verification: Timed[Report]
    first_run: Timed[Simulated]
    run: Timed[Simulated]

    @property
    def mismatches(self) -> int:
        """Outputs that differ from golden's."""
        return int(self.run.result.report["mismatches"])

    @property
    def data(self) -> dict[str, Any]:
        """The figures, ready for JSON."""
        steps = {name: getattr(self, name) for name in ("emission", "verification", "first_run", "run")}
        return {
            **dataclasses.asdict(self.case),
            **{name: getattr(self, name) for name in ("package_bytes", "verilog_bytes", "memory_bytes", "mismatches")},
            **{f"{name}_seconds": step.seconds for name, step in steps.items()},
            **{f"{name}_cpu_seconds": step.cpu_seconds for name, step in steps.items()},
        }


def layer_figures(cases: Sequence[Case], progress: Callable[[str], None]) -> Iterator[LayerFigures]:
    """Measure each case: a layer of random int8 weights, whose scale spreads its sums over the outputs."""
    for case in cases:
        what = f"{case.k} x {case.n} at depth {case.depth}"
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "out"
            progress(f"emission of {what}")
            emission = timed(partial(_emitted, case, folder), 1)
            progress(f"verify of {what}")
            verification = timed(partial(verify_package, folder), 1)
        if not verification.result.passed:
            raise ValueError(f"the package must be verified, which it is not: {verification.result.reasons[0]}")
        package = emission.result
        a = np.random.default_rng(1).integers(0, 256, (ROWS, case.k)).astype(np.uint8)
        runs = []
        for _ in range(2):
            progress(f"simulation of {what}")
            runs.append(timed(partial(package.design.simulate, a), 1))
        memories = package.design.verilog.files
        sizes = {name: len(content) for name, content in package.files.items()}
        yield LayerFigures(
            case=case,
            package_bytes=sum(sizes.values()),
            verilog_bytes=sizes["layer.v"],
            memory_bytes=sum(map(len, memories.values())),
            emission=emission,
            verification=verification,
            first_run=runs[0],
            run=runs[1],
        )


def _emitted(case: Case, folder: Path) -> Package:
    design = LayerDesign(_layer(case), Hardware(rows=1, cols=16, depth=case.depth), name="layer", origin="")
    package = make_package(design)
    package.write(folder)
    return package


def _layer(case: Case) -> MatMulLayer:
    rng = np.random.default_rng(0)
    return MatMulLayer(
        name="layer",
        b=rng.integers(-128, 128, (case.k, case.n)).astype(np.int8),
        b_scale=np.float32(0.02),
        b_zero_point=np.int8(0),
        a_scale=np.float32(0.1),
        a_zero_point=np.uint8(128),
        y_scale=np.float32(4),
        y_zero_point=np.int8(-3),
        bias=rng.integers(-1000, 1000, case.n).astype(np.int32),
    )


def layer_table(figures: Sequence[LayerFigures]) -> Table:
    """The figures, a line for each layer."""
    table = Table(
        title=f"Large layers on 1 x 16 x depth: bytes, and CPU s; {ROWS} rows under Verilator",
        title_justify="left",
        box=None,
        pad_edge=False,
        header_style="bold",
    )
    for heading in ("K x N", "depth", "package", "Verilog", "memories", "a weight", "emission", "verify",
                    "first run", "run", "mismatches"):  # fmt: skip
        table.add_column(heading, justify="right")
    for each in figures:
        case = each.case
        table.add_row(
            f"{case.k} x {case.n}",
            f"{case.depth}",
            f"{each.package_bytes:,}",
            f"{each.verilog_bytes:,}",
            f"{each.memory_bytes:,}",
            f"{each.memory_bytes / case.k / case.n:.2f}",
            f"{each.emission.cpu_seconds:.2f}",
            f"{each.verification.cpu_seconds:.1f}",
            f"{each.first_run.cpu_seconds:.1f}",
            f"{each.run.cpu_seconds:.1f}",
            f"{each.mismatches}",
        )
    return table
