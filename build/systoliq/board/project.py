"""Project of a board without place and route by pip: a design behind its link, as Vivado or openXC7 build it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from systoliq.hw.hierarchy import mark_used
from systoliq.hw.verilog import emit_verilog, files_of

from ..design import Design
from ..files import json_bytes
from ..generator import GENERATOR
from ..synth.targets import open_target
from .description import PlainBoard
from .linked import LINK_TOP, fingerprint, linked
from .resources import boards_module
from .top import BoardTop

if TYPE_CHECKING:
    from amaranth.build import Platform

__all__ = ["PROJECT_BOARDS", "TOOLS", "make_project"]

TOOLS = {"vivado": "Vivado", "openxc7": "Xray"}
"""Each tool, and the name that Amaranth has for its files."""

_SIDECAR = "project.json"


def _arty(toolchain: str) -> Platform:
    return boards_module("arty_a7").ArtyA7_35Platform(toolchain=toolchain)


@dataclass(frozen=True, kw_only=True)
class ProjectBoard(PlainBoard):
    """A board that projects are written for: its `platform` for a toolchain."""

    platform: Callable[[str], Platform]


PROJECT_BOARDS: Mapping[str, ProjectBoard] = {
    board.name: board
    for board in (
        ProjectBoard(
            name="arty-a7-35t",
            title="Digilent Arty A7-35T, XC7A35T",
            platform=_arty,
            hz=100e6,
            target=open_target("xilinx-xc7"),
            uart="its USB socket",
        ),
    )
}
"""Boards, by name. None of them was tried."""


def make_project(design: Design, board: ProjectBoard, tool: str, *, baud: int = 115200) -> dict[str, bytes]:
    """Return the files of a project that builds the bitstream of `design` behind a link of `baud` with `tool`.

    The design runs at the board's clock. ``top.tcl`` (Vivado) or ``build_top.sh`` (openXC7) is the script to run, in
    the folder of the files.

    Raises
    ------
    InputError
        if the link cannot have `baud` at the board's clock, or if the design has no units of operands.
    """
    link = linked(design)
    top = BoardTop(board, link, None, baud)
    verilog = emit_verilog(link, LINK_TOP)
    mark_used(link)
    memories = files_of(verilog)
    platform = board.platform(TOOLS[tool])
    for name, content in {f"{LINK_TOP}.v": verilog.encode(), **memories}.items():
        platform.add_file(name, content)
    options: dict[str, Any] = {"debug_verilog": False}
    if memories:
        options["script_after_read"] = "\n".join(f"add_files {name}" for name in memories)
    plan = platform.prepare(top, "top", **options)
    files = {name: text if isinstance(text, bytes) else text.encode() for name, text in plan.files.items()}
    sidecar = {
        "generator": GENERATOR,
        "kind": "project",
        "top": design.name,
        "board": board.name,
        "tool": tool,
        "mhz": board.hz / 1e6,
        "baud": baud,
        "fingerprint": fingerprint(design).hex(),
        "files": dict.fromkeys(sorted(files), "of the project"),
    }
    return {_SIDECAR: json_bytes(sidecar), **files}
