"""The testbench of an engine, and the stimulus for it."""
