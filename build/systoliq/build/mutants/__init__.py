"""Mutants of a package's Verilog: does its testbench, or `verify`, find what is wrong with it?"""

from .campaign import Campaign, Result, Verdict, by_block
from .mutation import KINDS, Mutant

__all__ = ["KINDS", "Campaign", "Mutant", "Result", "Verdict", "by_block"]
