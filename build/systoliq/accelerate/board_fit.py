"""Fit of a network on boards, by the planner's estimates: how much of each part, how fast, and the fastest plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..board.boards import BOARDS
from ..board.description import Board
from ..design import Design
from ..design.image_cost import Speed
from ..design.network.estimate import saved_blocks
from ..design.stage_table import COUNTED
from ..errors import InputError
from ..synth.target import Target

__all__ = ["BoardFit", "board_fit", "boards_by_size", "is_estimated", "lut_sites"]


@dataclass(frozen=True, kw_only=True)
class BoardFit:
    """Fit of a network on `board`.

    Parameters
    ----------
    fits
        True or False by the estimates; None if there are none for the part.
    reason
        why it does not fit.
    needed
        number of each resource that the plan needs, by the keys of `Target.capacity`, as far as it is estimated.
    speed
        of the plan that `systoliq build` selects; None if no plan fits.
    fastest
        of the plan with all of the part's multiplier cells; None if that plan does not fit.
    """

    board: Board
    fits: bool | None
    reason: str = ""
    needed: Mapping[str, int] = field(default_factory=dict)
    speed: Speed | None = None
    fastest: Speed | None = None

    @property
    def is_tight(self) -> bool:
        """True if an estimate is above the capacity of the part, by less than the error of estimates."""
        return any((self.share(kind) or 0) > 1 for kind in self.needed)

    def share(self, kind: str) -> float | None:
        """Return the needed share of a resource; None if it is not known."""
        room = self.board.target.capacity.get(kind)
        return self.needed[kind] / room if room and kind in self.needed else None


def board_fit(board: Board, make: Callable[..., Design], *, fastest: bool = False) -> BoardFit:
    """Return the fit of the design that `make` returns for `board`; with `fastest`, also the speed of the
    design that it returns for the option `multipliers`.
    """
    try:
        design = make()
    except InputError as error:
        return BoardFit(board=board, fits=False, reason=str(error))
    stages = design.stages
    return BoardFit(
        board=board,
        fits=True if not stages or is_estimated(stages) else None,
        needed=_needed(stages, board.target),
        speed=design.speed,
        fastest=_fastest(board, make) if fastest else None,
    )


def _fastest(board: Board, make: Callable[..., Design]) -> Speed | None:
    """Return the speed of the plan for all multiplier cells; None if the part has none, or the plan does not fit."""
    budget = board.target.capacity.get("dsp")
    try:
        return make(multipliers=budget).speed if budget else None
    except InputError:
        return None


def _needed(stages: Sequence[Mapping[str, Any]], part: Target) -> dict[str, int]:
    needed = {
        kind: sum(stage[key] for stage in stages)
        for key, (_, kind) in COUNTED.items()
        if kind and stages and key in stages[0]
    }
    if "ram" in needed:
        needed["ram"] -= saved_blocks((blocks for stage in stages for blocks in stage["large"]), part)
    return needed


def boards_by_size() -> list[Board]:
    """Return all boards, sorted by the LUT sites of their parts."""
    return sorted(BOARDS.values(), key=lut_sites)


def lut_sites(board: Board) -> int:
    """Return the LUT sites of the part of a board."""
    return board.target.capacity.get("lut_sites", 0)


def is_estimated(stages: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether the planner estimated the sizes of these stages of a plan, in addition to multiplier cells."""
    return "lut_sites" in stages[0]
