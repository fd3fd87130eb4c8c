"""systoliq.sim.cosimulation: runs the emitted Verilog in a simulator on real input, and compares all outputs with
golden.

    result = cosimulate(dense, Run(a=a, stalls=(0.3, 0.5), resets=1), simulator="icarus")
    result.check()

Expected outputs come from golden's integer arithmetic on all of A at once. They do not depend on how the hardware
divides A into tiles.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
