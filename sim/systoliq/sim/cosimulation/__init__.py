"""systoliq.sim.cosimulation: the emitted Verilog runs under a simulator on real input, and golden is asked of it all.

    result = cosimulate(dense, a, simulator="icarus", stalls=(0.3, 0.5), resets=1)
    result.check()

Expected outputs come from golden's integer arithmetic on the whole of A at once; the hardware's way of cutting it into
tiles has no part in them.
"""

from .array import ARRAY_TOP, array_verilog, cosimulate_array
from .dense import DENSE_TOP, cosimulate, cosimulate_runs, dense_verilog
from .result import CosimulationResult, Mismatch
from .run import Run

__all__ = [
    "ARRAY_TOP",
    "DENSE_TOP",
    "CosimulationResult",
    "Mismatch",
    "Run",
    "array_verilog",
    "cosimulate",
    "cosimulate_array",
    "cosimulate_runs",
    "dense_verilog",
]
