"""Tools around the hardware: the command line, Verilog packages, synthesis, exploration, proofs, the demo."""
