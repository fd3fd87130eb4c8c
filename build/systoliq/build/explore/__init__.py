"""Exploration: from a layer to the measured Pareto front of throughput, area and accuracy.

axes --space--> points --evaluate, executor, cache--> records --exploration--> table, front --report--> files
"""

from .exploration import Exploration, explore
from .space import AXES, Point, Space

__all__ = ["AXES", "Exploration", "Point", "Space", "explore"]
