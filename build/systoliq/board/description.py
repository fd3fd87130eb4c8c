"""Description of a board: its platform, oscillator, PLL, and the arguments of the tools that make its bitstream."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..synth.targets import Target
from .pll import Pll

if TYPE_CHECKING:
    from amaranth.build import Platform

__all__ = ["Board", "PlainBoard"]


@dataclass(frozen=True, kw_only=True)
class PlainBoard:
    """A board for any tools: part, oscillator, LED and serial line.

    Parameters
    ----------
    hz
        of its oscillator.
    target
        the part, as `synth` has them: Yosys' command, cells, capacity.
    led
        resource, and its part where it has some, of the LED that shows the link's state.
    uart
        where its serial line is, for those who plug it in.
    """

    name: str
    title: str
    hz: float
    target: Target
    led: tuple[str, ...] = ("led",)
    uart: str


@dataclass(frozen=True, kw_only=True)
class Board(PlainBoard):
    """A board that bitstreams are made for.

    Parameters
    ----------
    platform
        makes its platform; needs amaranth-boards.
    place
        arguments of nextpnr-`target.family` that name part and package.
    pack
        of the packer.
    asked
        MHz that place and route first tries for: more than most designs reach.
    load
        the command that puts the bitstream, a name in its place, on the board.
    """

    platform: Callable[[], Platform]
    pll: Pll
    place: tuple[str, ...]
    pack: tuple[str, ...] = ()
    asked: float
    load: str

    @property
    def family(self) -> str:
        """The family of its part."""
        return self.target.family
