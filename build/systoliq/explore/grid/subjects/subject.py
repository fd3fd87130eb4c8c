"""Subject: base class of subjects of exploration. Stages, cache, front and report use only this interface."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from ....design import Design
from ..row import Row
from ..settings import Settings
from ..space import Axis, Point

__all__ = ["Subject"]


class Subject:
    """Subject of an exploration; picklable, since it is sent to worker processes.

    `source` is its name on the command line, `origin` its origin. `work` are the multiply-accumulates of one inference,
    which is a row of a layer, an image of a network, a pass of an engine through its workload.
    """

    columns: ClassVar[tuple[str, ...]]
    """Columns of `table.COLUMNS` that only this kind has: axes, and results of its model."""
    model_knows_target: ClassVar[bool] = False
    """True if `model` depends on more of the device than its cells."""

    source: str
    origin: str
    float_accuracy: float | None = None

    @property
    def name(self) -> str:
        """Name for the reports' titles."""
        raise NotImplementedError

    @property
    def work(self) -> int:
        """Multiply-accumulates of one inference."""
        raise NotImplementedError

    @property
    def axes(self) -> Sequence[Axis]:
        """Its axes, the device among them."""
        raise NotImplementedError

    @property
    def objectives(self) -> tuple[str, ...]:
        """Default objectives of the front: names of `pareto.OBJECTIVES`."""
        raise NotImplementedError

    @property
    def content(self) -> list[str | bytes]:
        """All that its points depend on beyond their axes."""
        raise NotImplementedError

    @property
    def facts(self) -> dict[str, Any]:
        """Facts for reports, ready for JSON."""
        raise NotImplementedError

    def subtitle(self, settings: Settings) -> list[str]:
        """Subtitle of the report, in short pieces."""
        raise NotImplementedError

    def point(self, values: Mapping[str, Any]) -> Point:
        """The point with these values of the axes; more of them are left alone, so that a row of a table will do."""
        raise NotImplementedError

    def design(self, point: Point) -> Design:
        """The design of a point; a ValueError where there can be none."""
        raise NotImplementedError

    def model(self, point: Point, settings: Settings) -> dict[str, Any]:
        """Figures of a point from models alone, by column; ValueError if there is no such design."""
        raise NotImplementedError

    def cosimulate(self, point: Point, settings: Settings) -> dict[str, Any]:
        """Results of a simulation of its Verilog, by column: `cosim` is "equal" or "differs"."""
        raise NotImplementedError

    def label(self, row: Row) -> tuple[str, str]:
        """Label that distinguishes a row's design: its size, and the rest."""
        raise NotImplementedError

    def emit_arguments(self, row: Row, out: Path) -> list[str]:
        """Arguments of the `systoliq emit` of a row's design, from the folder in which `explore` wrote to `out`."""
        raise NotImplementedError

    def files(self, rows: Iterable[Row]) -> dict[str, bytes]:
        """Files that those commands need, by their names within `out`."""
        return {}
