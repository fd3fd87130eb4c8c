"""Flow from a design to a board's bitstream: synthesis, place and route for the PLL's best setting, packing.

Place and route first requests a frequency above most designs' reach. The frequency reached selects the PLL's setting,
and the design is rebuilt for that clock, since the serial line divides it, until it reaches its clock, at most
`_ROUNDS` times.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from systoliq.hw.hierarchy import mark_used
from systoliq.hw.link import Linked
from systoliq.hw.verilog import Verilog, emit_verilog
from systoliq.sim.cache import content_key, obtain

from ..design import Design
from ..errors import InputError, SynthesisError
from ..files import json_bytes
from ..generator import GENERATOR
from ..synth.flow import DoesNotFitError, check_fit, synthesized
from ..synth.nextpnr import max_mhz, untimed_cells
from ..synth.tools import find_yosys
from ..synth.yosys import cell_figures, netlist_to_place
from .description import Board
from .linked import LINK_TOP, fingerprint, line_divisor, linked
from .place import NETLIST, bitstream_file, constraints_file, pack, packer, place, placed_report, placer, sites
from .placement import floorplan_svg
from .platform import prepared
from .pll import Setting
from .report import REPORT_FILE, BitstreamReport

__all__ = ["FLOORPLAN", "Bitstream", "check_tools", "make_bitstream", "synthesize_for_board"]

FLOORPLAN = "floorplan.svg"
"""File with the picture of the placed design."""

_FORMAT = "2"  # version of the cached content
_ROUNDS = 4
_DESIGN = "link.design_."  # the names of the design's cells begin with it
_NO_SITES = ("GND", "GSR", "VCC")  # constants and the global reset, which himbaechel counts as cells
_TURN = "smaller --rows, --cols and --depth (a network: --multipliers, --luts), other --cells"


@dataclass(frozen=True, kw_only=True)
class Bitstream:
    """A bitstream, its report, and a picture of its `floorplan` as SVG."""

    content: bytes
    report: BitstreamReport
    floorplan: str = ""

    @property
    def files(self) -> dict[str, bytes]:
        """All as files, the report as a sidecar of systoliq's."""
        report = self.report
        sidecar = {"generator": GENERATOR, "kind": "bitstream", "top": report.name}
        files = {report.file: f"bitstream for {report.part}", REPORT_FILE: "its report", FLOORPLAN: "its floorplan"}
        return {
            report.file: self.content,
            REPORT_FILE: json_bytes({**sidecar, "files": files, **report.as_json()}),
            FLOORPLAN: self.floorplan.encode(),
        }


@dataclass(kw_only=True)
class _Build:
    """A design on its way to a board."""

    board: Board
    design: Design
    link: Linked
    verilog: Verilog
    baud: int
    seed: int
    say: Callable[[str], None]
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Report the stage, and count its time."""
        self.say(stage)
        began = time.monotonic()
        yield
        self.seconds[stage] = round(self.seconds.get(stage, 0.0) + time.monotonic() - began, 1)

    def netlist(self, setting: Setting) -> tuple[Path, str]:
        """Return the folder with the synthesized design for the PLL at `setting`, and the constraints of its pins.

        Raises DoesNotFitError.
        """
        with self.timed("synthesis"):
            top, constraints = prepared(self.board, self.link, setting, self.baud)
            folder = synthesized(self.verilog + top, "top", self.board.target)
            check_fit(cell_figures(folder), self.board.target)
        return folder, constraints

    def placed(self, setting: Setting, mhz: float) -> Path:
        """The folder with the design placed and routed with the PLL at `setting`, for a clock of `mhz`."""
        board = self.board
        folder, constraints = self.netlist(setting)
        netlist = netlist_to_place(folder, without_ports=False, sites={})
        nextpnr = placer(board)
        key = content_key(
            _FORMAT, netlist, constraints, " ".join(board.place), f"{mhz}", str(self.seed), nextpnr.version
        )

        def make(building: Path) -> None:
            (building / NETLIST).write_bytes(netlist)
            (building / constraints_file(board)).write_text(constraints)
            place(board, mhz, self.seed, building)

        with self.timed("place and route"):
            folder, _ = obtain("boards", key, make)
        return folder


def make_bitstream(
    design: Design,
    board: Board,
    *,
    mhz: float | None = None,
    baud: int = 115200,
    seed: int = 1,
    advice: Callable[[], str] = lambda: _TURN,
    progress: Callable[[str], None] | None = None,
) -> Bitstream:
    """The bitstream of `design` behind a link of `baud` on `board`.

    Parameters
    ----------
    mhz
        the clock that it must have, at most; where it is left out, as fast as place and route reaches.
    seed
        of nextpnr's placer.
    advice
        returns what to change; called if the part has too little of something.
    progress
        called with the name of each stage that takes time.

    Raises
    ------
    DoesNotFitError
        where the part has too little of something: what, and options to reduce.
    SynthesisError
        where no setting of the PLL is slow enough for what place and route reached, or `mhz` is not.
    """
    build, asked = _begun(design, board, mhz, baud, seed, progress)
    with _advised(advice):
        setting, folder, first = _settled(build, asked, fixed=mhz is not None)
    with build.timed("packing"):
        content = _packed(board, folder)
    report = _report(build, setting, folder, asked=asked, first=first)
    picture = floorplan_svg(sites(folder), _part_of(design), board.family)
    return Bitstream(content=content, report=report, floorplan=picture)


def synthesize_for_board(
    design: Design,
    board: Board,
    *,
    mhz: float | None = None,
    baud: int = 115200,
    advice: Callable[[], str] = lambda: _TURN,
    progress: Callable[[str], None] | None = None,
) -> dict[str, tuple[int, int]]:
    """Synthesize `design` behind its link, as `make_bitstream` does first, and return how much of each kind it takes
    before place and route, and how much the part has, by the keys of `Target.capacity`. `advice` returns what to
    change; it is called if the part has too little of something.

    Raises
    ------
    DoesNotFitError
        if the part has too little of something.
    """
    build, asked = _begun(design, board, mhz, baud, 1, progress)
    with _advised(advice):
        folder, _ = build.netlist(_setting(build, asked))
    figures = cell_figures(folder)
    return {kind: (int(figures[kind]), room) for kind, room in board.target.capacity.items() if kind in figures}


def check_tools(board: Board) -> None:
    """Raise an error that says what to install if a tool or package for bitstreams of `board` is missing."""
    find_yosys()
    placer(board)
    packer(board)
    board.platform()


def _begun(
    design: Design, board: Board, mhz: float | None, baud: int, seed: int, progress: Callable[[str], None] | None
) -> tuple[_Build, float]:
    """Return the build of `design`, and the clock that place and route is first asked for."""
    link = linked(design)
    build = _Build(
        board=board,
        design=design,
        link=link,
        verilog=emit_verilog(link, LINK_TOP),
        baud=baud,
        seed=seed,
        say=progress or (lambda stage: None),
    )
    mark_used(link)
    asked = board.asked if mhz is None else mhz
    clocks = [board.hz, *(each.hz for each in board.pll.settings(board.hz))]
    slowest, fastest = min(clocks) / 1e6, max(clocks) / 1e6
    if not slowest <= asked <= fastest:
        raise InputError(f"mhz must be {slowest:g} to {fastest:g} on {board.title}, not {asked:g}")
    return build, asked


@contextmanager
def _advised(advice: Callable[[], str]) -> Iterator[None]:
    """Add what `advice` returns to a DoesNotFitError."""
    try:
        yield
    except DoesNotFitError as error:
        raise DoesNotFitError(f"{error}; what may help: {advice()}") from error


def _packed(board: Board, folder: Path) -> bytes:
    """The bitstream of the placed design in `folder`."""
    key = content_key(_FORMAT, str(folder), packer(board).version, *board.pack)

    def make(building: Path) -> None:
        for file in folder.iterdir():
            (building / file.name).write_bytes(file.read_bytes())
        pack(board, building)

    packed, _ = obtain("bitstreams", key, make)
    return (packed / bitstream_file(board)).read_bytes()


def _part_of(design: Design) -> Callable[[str], str]:
    """Return a callable that names the part of the design, such as a stage, of a cell of the linked top; "" outside."""

    def part_of(cell: str) -> str:
        if not cell.startswith(_DESIGN):
            return ""
        return design.name if design.part_of is None else design.part_of(cell.removeprefix(_DESIGN))

    return part_of


def _report(build: _Build, setting: Setting, folder: Path, *, asked: float, first: float) -> BitstreamReport:
    board, report = build.board, placed_report(folder)
    return BitstreamReport(
        name=build.design.name,
        board=board.name,
        part=board.title,
        file=f"{build.design.name}{Path(bitstream_file(board)).suffix}",
        fingerprint=fingerprint(build.design).hex(),
        oscillator_mhz=board.hz / 1e6,
        asked_mhz=asked,
        first_mhz=round(first, 2),
        clock_mhz=setting.mhz,
        reached_mhz=round(max_mhz(report), 2),
        pll=setting.dividers or None,
        baud=build.baud,
        divisor=line_divisor(setting.hz, build.baud),
        seed=build.seed,
        resources=_resources(report),
        untimed=untimed_cells(report, board.family),
        seconds=build.seconds,
        tools=(find_yosys().version, placer(board).version, packer(board).version),
    )


def _settled(build: _Build, asked: float, *, fixed: bool) -> tuple[Setting, Path, float]:
    """The PLL's setting, the design placed for it, and what place and route reached at first."""
    board = build.board
    setting = _setting(build, asked)
    folder = build.placed(setting, asked)
    first = reached = max_mhz(placed_report(folder))
    for _ in range(_ROUNDS):
        if reached >= setting.mhz:
            return setting, folder, first
        if fixed:
            break
        setting = _setting(build, reached)
        folder = build.placed(setting, setting.mhz)
        reached = max_mhz(placed_report(folder))
    if reached >= setting.mhz:
        return setting, folder, first
    raise SynthesisError(
        f"{build.design.name} misses its clock on {board.title} by {setting.mhz - reached:.1f} MHz: it reaches "
        f"{reached:.1f} of {setting.mhz:.1f}; what may help: a lower --mhz, another --seed, {_TURN}"
    )


def _setting(build: _Build, mhz: float) -> Setting:
    """The PLL's fastest setting not above `mhz`, or the oscillator itself."""
    board = build.board
    found = board.pll.at_most(board.hz, mhz * 1e6)
    if found is None or (board.hz <= mhz * 1e6 and found.hz < board.hz):
        found = Setting(hz=board.hz)
    if found.mhz > mhz:
        raise SynthesisError(
            f"{build.design.name} reaches {mhz:.1f} MHz on {board.title}, and its slowest clock is {found.mhz:.1f}, "
            f"{found.mhz - mhz:.1f} MHz too fast; what may help: {_TURN}"
        )
    line_divisor(found.hz, build.baud)
    return found


def _resources(report: dict[str, object]) -> dict[str, tuple[int, int]]:
    """Sites in use and there are, by nextpnr's names, of those that are used."""
    utilization: dict[str, dict[str, int]] = report["utilization"]  # type: ignore[assignment]
    return {
        kind: (sites["used"], sites["available"])
        for kind, sites in utilization.items()
        if 0 < sites["used"] <= sites["available"] and kind not in _NO_SITES
    }
