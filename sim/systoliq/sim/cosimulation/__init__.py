"""systoliq.sim.cosimulation: the emitted Verilog runs under a simulator on real input, and golden is asked of it all.

    result = cosimulate(dense, a, simulator="icarus", stalls=(0.3, 0.5), resets=1)
    result.check()

Expected outputs come from golden's integer arithmetic on the whole of A at once; the hardware's way of cutting it into
tiles has no part in them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
