"""The testbench of a DMA engine, and the stimulus for it."""
