"""Exploration: from a layer or an engine's workload to the measured Pareto front of throughput, area and accuracy.

`explore` measures every point of a subject's space; `ask` looks for the smallest plan that reaches a throughput, and
`explore_precision` for what fewer bits cost a network.

axes --space--> points --evaluate, executor, cache--> records --exploration--> table, front --report--> files
"""

from .grid.exploration import Exploration, explore
from .grid.space import Axis, Point, Space
from .grid.subjects.engine import EngineSubject
from .grid.subjects.layer import LayerSubject
from .grid.subjects.subject import Subject
from .grid.subjects.workload import Workload, open_workload
from .precision.run import precision as explore_precision  # its package has the shorter name
from .question.ask import ask
from .results import show_result, write_result
from .run import Run

__all__ = [
    "Axis", "EngineSubject", "Exploration", "LayerSubject", "Point", "Run", "Space", "Subject", "Workload", "ask",
    "explore", "explore_precision", "open_workload", "show_result", "write_result",
]  # fmt: skip
