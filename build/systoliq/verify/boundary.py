"""The boundary of a verification: the basis of each result.

Findings -> Ground...; `without_regeneration` states which results no longer hold if the package is not regenerated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

__all__ = [
    "BASES", "DERIVED", "EVALUATED", "OPEN", "REGENERATED", "TESTED", "Ground", "boundary_lines", "counted", "of_layer",
    "of_network", "without_regeneration",
]  # fmt: skip

DERIVED = "derived"
EVALUATED = "evaluated"
REGENERATED = "regenerated"
TESTED = "tested"
OPEN = "not checked"
BASES = {
    DERIVED: "follows from the text of the Verilog, by a reader that shares no code with the generator",
    EVALUATED: "the Verilog's logic gives the right results in the cases that are stated",
    REGENERATED: "the generator writes the same bytes again",
    TESTED: "the same, and systoliq's own tests simulate and prove such hardware, not this package",
    OPEN: "this run of verify did not look",
}
"""Bases of results, with their meaning; the first is the strongest."""


@dataclass(frozen=True, kw_only=True)
class Ground:
    """A `result`, such as "weights", and its `basis`, one of `BASES`; `detail` says more."""

    result: str
    basis: str
    detail: str = ""

    def as_json(self) -> dict[str, str]:
        """The fields by name."""
        return {"result": self.result, "basis": self.basis, "detail": self.detail}


def of_layer(*, complete: int, columns: int) -> list[Ground]:
    """The boundary of a layer; `complete` of its `columns` were evaluated for every accumulator."""
    return [
        Ground(result="weights, zero points, biases and constants of the requantizer", basis=DERIVED),
        Ground(result="range and width of the accumulators", basis=DERIVED),
        *_of_columns(complete=complete, columns=columns),
        Ground(result="products and sums of the array", basis=TESTED),
        Ground(result="order of operands and results, flow control, reset", basis=TESTED),
        _OF_OWN_OPERANDS,
        *_OF_PACKAGES,
    ]


def of_network(
    *,
    complete: int,
    columns: int,
    certified: Sequence[str],
    tested: Sequence[str],
    open_: Sequence[str] = (),
    more: Sequence[Ground] = (),
) -> list[Ground]:
    """The boundary of a network whose stages `certified` are exact and whose stages `tested` are not read.

    `open_`: what is only tested of stages that are exact in part. `more`: results about order and flow.
    """
    found = [Ground(result="which stage takes whose results, and that every stage is certified once", basis=DERIVED)]
    if columns:
        result = "weights, zero points, biases, constants and widths of sums"
        found += [Ground(result=result, basis=DERIVED), *_of_columns(complete=complete, columns=columns)]
    if others := [each for each in certified if each]:
        found.append(Ground(result="the other stages' results", basis=EVALUATED, detail="; ".join(others)))
    if tested:
        found.append(Ground(result=f"all of {', '.join(tested)}", basis=TESTED))
    if open_:
        found.append(Ground(result="the rest of stages that are exact in part", basis=TESTED, detail="; ".join(open_)))
    return [*found, *more, _OF_OWN_OPERANDS, *_OF_PACKAGES]


def _of_columns(*, complete: int, columns: int) -> list[Ground]:
    """Results about requantizers."""
    found = [Ground(result="the requantizer, on both sides of each step and at the ends", basis=EVALUATED)]
    if complete:
        of = f"in {complete} of {columns} columns" if complete < columns else "in all columns"
        found.append(Ground(result=f"the requantizer between the steps, {of}", basis=EVALUATED))
    if complete < columns:
        of = "in the other columns" if complete else "in all columns"
        found.append(
            Ground(
                result=f"the requantizer between the steps, {of}",
                basis=REGENERATED,
                detail="it has the form that systoliq prove proves",
            )
        )
    return found


def counted(count: int, thing: str) -> str:
    """A number of things in words, such as "1 stage"."""
    return f"{count} {thing}{'' if count == 1 else 'es' if thing.endswith('x') else 's'}"


_LEFT_OUT = "regeneration was left out"
_OF_OWN_OPERANDS = Ground(
    result="each sum and result depends on its own operands alone, not on data before it or on carries of other sums",
    basis=TESTED,
    detail="logic is evaluated with registers read as wires, and in sequence only for the images that are stated",
)
_OF_PACKAGES = (
    Ground(result="testbench, test vectors, constraints, descriptions for other tools", basis=REGENERATED),
    Ground(result="synthesis, placement and the clock's frequency", basis=OPEN),
)


def without_regeneration(boundary: Iterable[Ground]) -> list[Ground]:
    """The same `boundary`, where nothing was regenerated."""
    return [
        replace(each, basis=OPEN, detail="; ".join(filter(None, (_LEFT_OUT, each.detail))))
        if each.basis in (REGENERATED, TESTED)
        else each
        for each in boundary
    ]


def boundary_lines(boundary: Sequence[Ground]) -> list[str]:
    """Lines of text: the results of each basis, the strongest first."""
    width = max(len(basis) for basis in BASES)
    ordered = [each for basis in BASES for each in boundary if each.basis == basis]
    return [f"  {each.basis:{width}}  {each.result}{f' ({each.detail})' if each.detail else ''}" for each in ordered]
