"""Making things from it: the command line, Verilog packages, the demo."""
