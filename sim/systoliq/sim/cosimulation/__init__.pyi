from .array import (
    ARRAY_TOP,
    array_verilog,
    cosimulate_array,
)
from .dense import (
    DENSE_TOP,
    cosimulate,
    cosimulate_runs,
    dense_verilog,
)
from .run import (
    Run,
)

__all__ = [
    "ARRAY_TOP",
    "DENSE_TOP",
    "Run",
    "array_verilog",
    "cosimulate",
    "cosimulate_array",
    "cosimulate_runs",
    "dense_verilog",
]
