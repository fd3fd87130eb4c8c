"""systoliq.sim.engine: the programmable engine under a simulator, driven by `systoliq.hw.engine.host`."""

from typing import TYPE_CHECKING

from systoliq.moved import renamed

from .engine import Engine, JobReport, OperationResult, QueueReport
from .errors import ENGINE_ERRORS, EngineError

__all__ = ["ENGINE_ERRORS", "Engine", "EngineError", "JobReport", "OperationResult", "QueueReport"]

if not TYPE_CHECKING:
    __getattr__ = renamed(
        __name__,
        {
            "Job": "systoliq.hw.engine.host.Job",
            "Plan": "systoliq.hw.engine.host.Plan",
            "Result": "systoliq.sim.engine.OperationResult",
        },
    )
