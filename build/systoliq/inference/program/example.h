/* The hooks of a board, and the function that runs the program. */
#ifndef SYSTOLIQ_EXAMPLE_H
#define SYSTOLIQ_EXAMPLE_H

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
} systoliq_board;

/* Run all steps, on a coherent memory; 0, or the number of the step that failed. */
int systoliq_run(const systoliq_board *board);

#endif /* SYSTOLIQ_EXAMPLE_H */
