/* The hooks of a board, and the function that runs the program. */
#ifndef SYSTOLIQ_EXAMPLE_H
#define SYSTOLIQ_EXAMPLE_H

#include <stddef.h>

#include "systoliq_program.h"

typedef struct {
    void *user;
    uint8_t *memory; /* SYSTOLIQ_PROGRAM_BASE in the processor's address space, with program.bin at its place */
    uint32_t (*read)(void *user, uint32_t offset); /* a register of the engine */
    void (*write)(void *user, uint32_t offset, uint32_t value);
    /* A ('a') or B ('b') of an operation of a step: rows of bytes without gaps; B batch after batch. For a
       convolution that reads its image (see program.txt), A is the image's pixels with all channels. */
    const uint8_t *(*operand)(void *user, uint32_t step, uint32_t operation, char which);
    uint8_t (*zero_point)(void *user, uint32_t step, char which); /* a computed zero point */
    uint8_t *(*result)(void *user, uint32_t step, uint32_t operation); /* buffer for the rows of Y, without gaps */
    int (*finish)(void *user, uint32_t step); /* run a step of the host, or process results; not 0: stop */
    /* Hooks that may be 0. On a memory that is not coherent: write the lines of these bytes back to memory, and drop
       them from the caches. Buffers of operands and results share no line of up to 64 bytes. */
    void (*clean)(void *user, const uint8_t *start, size_t bytes);
    void (*invalidate)(void *user, const uint8_t *start, size_t bytes);
    int (*wait)(void *user); /* after each poll of DMA_STATUS before the list is done; not 0: give up */
} systoliq_board;

/* What systoliq_run returns if the engine's registers are not those of the engine that the program was compiled for.
   They do not show the width of the bus, nor if there is a vector unit. */
#define SYSTOLIQ_OTHER_ENGINE (-1)

/* Run all steps; 0, SYSTOLIQ_OTHER_ENGINE before the first step, or the number of the step that failed. After a failed
   step, recover before the next run: docs/dma.md. */
int systoliq_run(const systoliq_board *board);

#endif /* SYSTOLIQ_EXAMPLE_H */
