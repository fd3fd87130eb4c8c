"""The testbench of a dense layer, and the stimulus for it."""
