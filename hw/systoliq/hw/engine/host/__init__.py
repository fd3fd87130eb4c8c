"""systoliq.hw.engine.host: what a program beside the engine does: plan an operation, pack its operands, drive a job."""

from .driver import DriverStep, Map, column_constants, describe, recovery, sequence
from .job import Float8Job, Job, blocks
from .packing import EnginePacking
from .placed import Plan
from .plan import plan_matmul_integer, plan_qlinear_matmul

__all__ = [
    "DriverStep",
    "EnginePacking",
    "Float8Job",
    "Job",
    "Map",
    "Plan",
    "blocks",
    "column_constants",
    "describe",
    "plan_matmul_integer",
    "plan_qlinear_matmul",
    "recovery",
    "sequence",
]
