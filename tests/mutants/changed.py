"""A mutant of a text of Verilog, by what is there and what is to stand there."""

from __future__ import annotations

from systoliq.mutants.mutation import Mutant

__all__ = ["changed"]


def changed(verilog: str, module: str, old: str, new: str) -> Mutant:
    """The mutant that has `new` for `old`, which is there once, in `module`; of several lines the first."""
    assert verilog.count(old) == 1
    line = verilog[: verilog.index(old)].count("\n") + 1
    before, after = (text.splitlines()[line - 1] for text in (verilog, verilog.replace(old, new)))
    return Mutant(line=line, kind="operator", block="half", module=module, before=before, after=after)
