/* digits-cnn on a Zynq-7000, bare metal: hooks for registers, barriers, caches and a time limit, and one image.

   docs/zynq.md says how to build it. `program` is program.bin as an array: xxd -i program.bin > program_bin.h */
#include <stdio.h>
#include <string.h>

#include "network.h"
#include "program_bin.h"
#include "systoliq_dma.h"
#include "systoliq_engine.h"
#include "xil_cache.h"

#define REGISTERS 0x43C00000u /* s_axi_ctrl in the address map of the design: 4 MiB of device memory */
#define MOST_POLLS 10000000u  /* of DMA_STATUS for one list */

static uint32_t polls;

/* All memory accesses before it are complete, and those after it have not begun. */
static void barrier(void) {
#if defined(__arm__) || defined(__aarch64__)
    __asm__ volatile("dsb sy" ::: "memory");
#endif
}

static volatile uint32_t *at(uint32_t offset) { return (volatile uint32_t *)(uintptr_t)(REGISTERS + offset); }

static uint32_t read_register(void *user, uint32_t offset) {
    uint32_t value = *at(offset);
    (void)user;
    barrier(); /* results are read after the status that announces them */
    return value;
}

static void write_register(void *user, uint32_t offset, uint32_t value) {
    (void)user;
    barrier(); /* operands are in memory before the list starts */
    *at(offset) = value;
    polls = 0;
}

static void clean(void *user, const uint8_t *start, size_t bytes) {
    (void)user;
    Xil_DCacheFlushRange((INTPTR)start, bytes);
}

static void invalidate(void *user, const uint8_t *start, size_t bytes) {
    (void)user;
    Xil_DCacheInvalidateRange((INTPTR)start, bytes);
}

static int wait(void *user) {
    (void)user;
    return ++polls > MOST_POLLS;
}

/* Stop lists and transfers after an error or a timeout; -1 if the bus does not answer. */
static int recover(void) {
    uint32_t left = MOST_POLLS;
    write_register(0, SYSTOLIQ_DMA_HALT, SYSTOLIQ_DMA_HALT_HALT_MASK);
    write_register(0, SYSTOLIQ_ENGINE_CONTROL, SYSTOLIQ_ENGINE_CONTROL_CLEAR_MASK);
    while (read_register(0, SYSTOLIQ_ENGINE_STATUS) & SYSTOLIQ_ENGINE_STATUS_BUSY_MASK ||
           !(read_register(0, SYSTOLIQ_DMA_STATUS) & SYSTOLIQ_DMA_STATUS_RESTING_MASK))
        if (!left--) return -1;
    write_register(0, SYSTOLIQ_DMA_HALT, 0);
    return 0;
}

int main(void) {
    static const float image[NETWORK_PIXELS] = {
        0, 0, 5, 13, 9, 1, 0, 0, 0, 0, 13, 15, 10, 15, 5, 0, 0, 3, 15, 2, 0, 11, 8, 0, 0, 4, 12, 0, 0, 8, 8, 0,
        0, 5, 8, 0, 0, 9, 8, 0, 0, 4, 11, 0, 1, 12, 7, 0, 0, 2, 14, 5, 10, 12, 0, 0, 0, 0, 6, 13, 10, 0, 0, 0,
    }; /* a 0 of scikit-learn's digits */
    systoliq_board board = {0};
    int8_t scores[NETWORK_CLASSES];
    uint8_t *weights = (uint8_t *)(uintptr_t)SYSTOLIQ_PROGRAM_IMAGE;
    int class;

    board.memory = (uint8_t *)(uintptr_t)SYSTOLIQ_PROGRAM_BASE; /* addresses of processor and engine are the same */
    board.read = read_register;
    board.write = write_register;
    board.clean = clean;
    board.invalidate = invalidate;
    board.wait = wait;

    memset(board.memory, 0, SYSTOLIQ_PROGRAM_WORKING_SIZE);
    memcpy(weights, program_bin, SYSTOLIQ_PROGRAM_IMAGE_SIZE);
    clean(0, board.memory, SYSTOLIQ_PROGRAM_SIZE); /* no dirty line of a buffer is left to overwrite results */

    class = network_classify(&board, image, scores);
    if (class < 0) {
        printf("a step failed; %s\n", recover() ? "the engine does not rest: reset it" : "the engine is ready again");
        return 1;
    }
    printf("class %d\n", class);
    return 0;
}
