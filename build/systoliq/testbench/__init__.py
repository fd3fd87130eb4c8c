"""Self-checking testbenches in plain Verilog: parts that all kinds of design share, and a folder for each kind."""
