"""Self-checking testbenches in plain Verilog: what those of all kinds share."""
