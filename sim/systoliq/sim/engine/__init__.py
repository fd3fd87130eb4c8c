"""systoliq.sim.engine: the programmable engine's driver, on its Verilog under a simulator."""

from .engine import Engine, JobReport, Result
from .errors import ENGINE_ERRORS, EngineError
from .plan import Job, Plan

__all__ = ["ENGINE_ERRORS", "Engine", "EngineError", "Job", "JobReport", "Plan", "Result"]
