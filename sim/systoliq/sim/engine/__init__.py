"""systoliq.sim.engine: the programmable engine under a simulator, driven by `systoliq.hw.engine.host`."""

from .engine import Engine, JobReport, OperationResult
from .errors import ENGINE_ERRORS, EngineError

__all__ = ["ENGINE_ERRORS", "Engine", "EngineError", "JobReport", "OperationResult"]
