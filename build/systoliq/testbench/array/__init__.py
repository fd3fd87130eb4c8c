"""The testbench of an array, and the stimulus for it."""
