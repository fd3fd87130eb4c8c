"""Exploration: from a layer to the measured Pareto front of throughput, area and accuracy.

`explore` measures every point of a layer's space; `ask` looks for the smallest plan that reaches a throughput, and
`explore_precision` for what fewer bits cost a network.

axes --space--> points --evaluate, executor, cache--> records --exploration--> table, front --report--> files
"""

from .exploration import Exploration, explore
from .precision.run import precision as explore_precision  # its package has the shorter name
from .question.ask import ask
from .space import AXES, Point, Space

__all__ = ["AXES", "Exploration", "Point", "Space", "ask", "explore", "explore_precision"]
