from .testbench_of import (
    testbench_of,
)

__all__ = [
    "testbench_of",
]
