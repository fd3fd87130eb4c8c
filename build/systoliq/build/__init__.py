"""Tools around the hardware: the command line, Verilog packages, synthesis, exploration, proofs, the demo."""

from systoliq.moved import announce

from .moved import MOVED

announce(MOVED)
