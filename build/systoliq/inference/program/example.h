/* What a board gives to the example, and what the example gives. */
#ifndef SYSTOLIQ_EXAMPLE_H
#define SYSTOLIQ_EXAMPLE_H

#include "systoliq_program.h"

typedef struct {
    void *user;
    uint8_t *memory; /* that of SYSTOLIQ_PROGRAM_BASE as the processor sees it, with program.bin in its place */
    uint32_t (*read)(void *user, uint32_t offset); /* a register of the engine */
    void (*write)(void *user, uint32_t offset, uint32_t value);
    /* A ('a') or B ('b') of an operation of a step: rows of bytes without gaps; B batch after batch. Of a convolution
       that reads its image (program.txt says which) A is the image's pixels, all channels of each. */
    const uint8_t *(*operand)(void *user, uint32_t step, uint32_t operation, char which);
    uint8_t (*zero_point)(void *user, uint32_t step, char which); /* one that was computed */
    uint8_t *(*result)(void *user, uint32_t step, uint32_t operation); /* where the rows of Y go, without gaps */
    int (*finish)(void *user, uint32_t step); /* a step of the host, or what follows results; not 0: give up */
} systoliq_board;

/* Run all steps, on a coherent memory; 0, or the number of the step that failed. */
int systoliq_run(const systoliq_board *board);

#endif /* SYSTOLIQ_EXAMPLE_H */
