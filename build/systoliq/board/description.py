"""Description of a board: its platform, oscillator, PLL, and the arguments of the tools that make its bitstream."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..synth.targets import Target
from .pll import Pll

if TYPE_CHECKING:
    from amaranth.build import Platform

__all__ = ["Board"]


@dataclass(frozen=True, kw_only=True)
class Board:
    """A board that bitstreams are made for.

    Parameters
    ----------
    platform
        makes its platform; needs amaranth-boards.
    hz
        of its oscillator.
    target
        the part, as `synth` has them: Yosys' command, cells, capacity.
    place
        arguments of nextpnr-`target.family` that name part and package.
    pack
        of the packer.
    led
        resource, and its part where it has some, of the LED that shows the link's state.
    asked
        MHz that place and route first tries for: more than most designs reach.
    uart
        where its serial line is, for those who plug it in.
    load
        the command that puts the bitstream, a name in its place, on the board.
    """

    name: str
    title: str
    platform: Callable[[], Platform]
    hz: float
    target: Target
    pll: Pll
    place: tuple[str, ...]
    pack: tuple[str, ...] = ()
    led: tuple[str, ...] = ("led",)
    asked: float
    uart: str
    load: str

    @property
    def family(self) -> str:
        """The family of its part."""
        return self.target.family
