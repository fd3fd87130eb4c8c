"""Table of a whole network for `systoliq layers`: what becomes of every node, its work, and why it is not taken."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from rich.table import Table
from rich.text import Text

from ..onnx.network import Fate, Reading, Verdict
from .shown import shown

__all__ = ["network_lines", "network_table", "network_title"]


def network_title(reading: Reading, hardware: Sequence[str]) -> str:
    """The network in one line: stages and work, or that it is none; and whether hardware takes it, which the reasons
    `hardware` are against.
    """
    count = len(reading.verdicts)
    network = reading.network
    if network is None:
        return f"as a network: not taken, see the end; its {count} nodes:"
    share = _share(network.multiply_accumulates, reading.multiply_accumulates) or "0 %"
    known = " that are known" if any(verdict.multiply_accumulates is None for verdict in reading.verdicts) else ""
    return (
        f"as a network: {len(network.nodes)} stages of {count} nodes{' are read' * bool(hardware)}, "
        f"{network.multiply_accumulates:,} multiply-accumulates a batch, {share} of all{known}; "
        f"{'hardware does not take it, see the end' if hardware else 'hardware takes it'}:"
    )


def network_table(reading: Reading) -> Table:
    """A row for each node, in the model's order."""
    table = Table("node", "operator", "becomes", "shape", box=None, pad_edge=False)
    for head in ("multiply-accumulates", "share"):
        table.add_column(head, justify="right")
    for verdict in reading.verdicts:
        work = verdict.multiply_accumulates
        cells = (
            verdict.name,
            verdict.operator,
            _becomes(verdict),
            "?" if verdict.shape is None else " x ".join(str(size or "?") for size in verdict.shape),
            "?" if work is None else f"{work:,}" if work else "",
            _share(work or 0, reading.multiply_accumulates),
        )
        table.add_row(*(Text(shown(cell), overflow="fold") for cell in cells))
    return table


def network_lines(reading: Reading, hardware: Sequence[str]) -> Iterator[str]:
    """The reasons against the network, and those against its hardware, a line each; then how to get a part of it."""
    for start, reasons in (("no network", reading.problems), ("no hardware", hardware)):
        for reason in reasons:
            yield " ".join(f"{start}: {reason}".split())
    whole = reading.unquantized or reading.dynamic  # then no part is a network
    if (reading.problems or hardware) and whole is None and reading.multiply_accumulates:
        yield f"the largest part for hardware: systoliq partition {shlex.quote(str(reading.path))} --out DIR"


def _becomes(verdict: Verdict) -> str:
    if verdict.stages:
        return ", ".join(stage.kind for stage in verdict.stages)
    if verdict.fate is Fate.HOST:
        return f"host: {verdict.text}"
    return f"folded: {verdict.text}" if verdict.fate is Fate.FOLDED else verdict.fate.value


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f} %" if part and whole else ""
