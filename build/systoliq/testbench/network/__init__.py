"""The testbench of a network, and the stimulus for it."""
