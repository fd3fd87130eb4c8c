"""Standard cells: a Liberty file of few gates, and marks of tests that need OSU018 or OpenSTA."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from systoliq.synth import open_target, opensta

__all__ = ["OSU018", "liberty", "needs_osu018", "needs_sta"]

OSU018 = Path(open_target("osu018").library.path)

needs_osu018 = pytest.mark.skipif(not OSU018.is_file(), reason=open_target("osu018").library.brings)
needs_sta = pytest.mark.skipif(shutil.which("sta") is None, reason=opensta.BRINGS)

LIBERTY = """\
library (tiny) {{
  {cells}
}}
"""


def liberty() -> str:
    """An ASIC library of four gates and a register, 1 to 6 in area; fewer gates ABC does not take."""

    def cell(name: str, area: int, function: str, inputs: str, extra: str = "") -> str:
        pins = "".join(f"pin ({pin}) {{ direction : input; }} " for pin in inputs)
        pins += f'pin (Y) {{ direction : output; function : "{function}"; }}'
        return f"cell ({name}) {{ area : {area}; {extra}{pins} }}"

    register = cell("DFF", 6, "IQ", "D", 'ff (IQ, IQN) { clocked_on : "C"; next_state : "D"; } ')
    register = register.replace("pin (D)", "pin (C) { direction : input; clock : true; } pin (D)")
    cells = [
        cell("INV", 1, "!A", "A"),
        cell("NAND2", 2, "!(A & B)", "AB"),
        cell("NOR2", 2, "!(A | B)", "AB"),
        cell("BUF", 1, "A", "A"),
        register,
    ]
    return LIBERTY.format(cells="\n  ".join(cells))
