"""Systems to copy: a RISC-V, memory, a UART and the engine that feeds itself, with firmware that drives it."""
