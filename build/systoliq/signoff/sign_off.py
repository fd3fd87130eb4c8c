"""The rows of a sign-off, in order: the text first, then simulation, then what other commands answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from ..design.from_package import DESCRIBED
from ..package.regenerate import compare_regenerated
from ..synth.equivalence import check_comparable
from ..synth.target import Target
from ..verify import NotAPackageError, verify_package
from ..verify.package import CERTIFICATE
from .errata import errata_row, parameters_row
from .files import PackageFiles, package_files
from .lint import lint_rows
from .netlist import netlist_row
from .row import FAILED, NOT_RUN, PASSED, Row
from .runs import icarus_rows, verilator_rows
from .structure import structure_row

__all__ = ["sign_off"]


def sign_off(
    directory: Path, *, seconds: float, detail: Callable[[str], None], target: Target | None = None
) -> Iterator[Row]:
    """Answer each question about the package in `directory`, and yield its row.

    Parameters
    ----------
    seconds
        limit of processor time for each simulation.
    detail
        called with the current work.
    target
        the part whose netlist is compared with the Verilog; None leaves that out.

    Raises
    ------
    InputError
        if `directory` is not a package with a testbench, or if netlists of `target` cannot be compared.
    """
    if target is not None:
        check_comparable(target)
    files = package_files(directory)
    detail("verify")
    verified = _verified(files)
    yield verified
    detail("lint")
    yield from lint_rows(files)
    yield structure_row(files)
    yield errata_row(files, regenerated=None if verified.result == NOT_RUN else verified.result == PASSED)
    simulated = icarus_rows(files, seconds, detail)
    yield parameters_row(files, simulated[0])
    yield from simulated
    yield from verilator_rows(
        files, seconds, detail, verified=verified.result == PASSED and (directory / CERTIFICATE).is_file()
    )
    yield netlist_row(files, target, detail)
    yield Row(
        item="FPV_ASSERTIONS_PROVEN",
        question="properties of the blocks are proven",
        result=NOT_RUN,
        detail="proofs are of blocks, not of a package; sign-off runs none",
        command="systoliq prove",
    )
    yield Row(
        item="SIM_MUTANTS",
        question="the testbench finds mutants of the Verilog",
        result=NOT_RUN,
        detail="a campaign takes minutes to hours; sign-off runs none",
        command=f"systoliq mutants {directory} --count 100",
    )


def _verified(files: PackageFiles) -> Row:
    """The row of the certificate, and of the comparison with a regenerated package."""
    question = "the Verilog has the numbers of the layer or network, and the package is what systoliq writes"
    reasons, tried = [], "regenerated"
    try:
        report = verify_package(files.directory)
        reasons, tried = list(report.reasons), "verified and regenerated"
    except NotAPackageError as error:
        if files.sidecar.get("kind") not in DESCRIBED:
            return Row(item="DESIGN_VERIFIED", question=question, result=NOT_RUN, detail=str(error))
    if not reasons:
        compared = compare_regenerated(files.directory)
        reasons, tried = list(compared.reasons), f"{tried}: {compared.files} files are equal"
    return Row(
        item="DESIGN_VERIFIED",
        question=question,
        result=FAILED if reasons else PASSED,
        detail=reasons[0] if reasons else tried,
        command=f"systoliq verify {files.directory}",
        notes=reasons[1:],
    )
