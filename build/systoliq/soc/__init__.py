"""Systems to copy: a RISC-V, memory, a UART and the DMA engine, with firmware that drives it."""
