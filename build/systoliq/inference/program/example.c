/* Example of a host: runs the steps of systoliq_program.h on a systoliq DMA engine.

   The board provides the hooks. Three of them run the steps of the host (host_NN.onnx, or your own code) and provide
   the operands: see the listing program.txt. */
#include "systoliq_example.h"

#include <string.h>

#include "systoliq_dma.h"
#include "systoliq_engine.h"

#define FAILED                                                                                                    \
    (SYSTOLIQ_DMA_STATUS_LIST_ERROR_MASK | SYSTOLIQ_DMA_STATUS_A_FAILED_MASK | SYSTOLIQ_DMA_STATUS_B_FAILED_MASK | \
     SYSTOLIQ_DMA_STATUS_Y_FAILED_MASK | SYSTOLIQ_DMA_STATUS_LIST_FAILED_MASK)

static uint8_t *at(const systoliq_board *board, uint32_t address) {
    return board->memory + (address - SYSTOLIQ_PROGRAM_BASE);
}

static void clean(const systoliq_board *board, const uint8_t *start, size_t bytes) {
    if (board->clean) board->clean(board->user, start, bytes);
}

/* Bytes from the first row to the end of the last. */
static size_t extent(const systoliq_matrix *matrix) {
    return (size_t)(matrix->rows - 1) * matrix->stride + matrix->row_bytes;
}

/* Copy rows without gaps into memory. */
static void put_rows(const systoliq_board *board, const systoliq_matrix *matrix, const uint8_t *rows) {
    uint32_t row;
    for (row = 0; row < matrix->rows; row++)
        memcpy(at(board, matrix->address + row * matrix->stride), rows + (size_t)row * matrix->row_bytes,
               matrix->row_bytes);
    clean(board, at(board, matrix->address), extent(matrix));
}

static void take_rows(const systoliq_board *board, const systoliq_matrix *matrix, uint8_t *rows) {
    uint32_t row;
    if (board->invalidate) board->invalidate(board->user, at(board, matrix->address), extent(matrix));
    for (row = 0; row < matrix->rows; row++)
        memcpy(rows + (size_t)row * matrix->row_bytes, at(board, matrix->address + row * matrix->stride),
               matrix->row_bytes);
}

/* Columns of B [k, n] as words of the engine: for each COLS columns, for each DEPTH rows, for each column, those rows,
   padded with 0 at the edges. */
static void put_tile(const systoliq_board *board, const systoliq_operation *of, const systoliq_tile *tile,
                     const uint8_t *b) {
    uint8_t *to = at(board, tile->address);
    uint32_t first, row, column, d;
    b += (size_t)tile->batch * of->k * of->n + tile->column;
    for (first = 0; first < tile->columns; first += SYSTOLIQ_PROGRAM_COLS)
        for (row = 0; row < of->k; row += SYSTOLIQ_PROGRAM_DEPTH)
            for (column = first; column < first + SYSTOLIQ_PROGRAM_COLS; column++)
                for (d = row; d < row + SYSTOLIQ_PROGRAM_DEPTH; d++)
                    *to++ = column < tile->columns && d < of->k ? b[(size_t)d * of->n + column] : 0;
    clean(board, at(board, tile->address), (size_t)(to - at(board, tile->address)));
}

static int is_right_engine(const systoliq_board *board) {
    uint32_t version = board->read(board->user, SYSTOLIQ_ENGINE_VERSION);
    return board->read(board->user, SYSTOLIQ_ENGINE_ID) == SYSTOLIQ_PROGRAM_ENGINE_ID &&
           version >> SYSTOLIQ_ENGINE_VERSION_MAJOR_SHIFT == SYSTOLIQ_ENGINE_MAP_MAJOR &&
           board->read(board->user, SYSTOLIQ_ENGINE_ARRAY) == SYSTOLIQ_PROGRAM_ENGINE_ARRAY &&
           board->read(board->user, SYSTOLIQ_ENGINE_LANES) == SYSTOLIQ_PROGRAM_ENGINE_LANES &&
           board->read(board->user, SYSTOLIQ_ENGINE_BUFFERS) == SYSTOLIQ_PROGRAM_ENGINE_BUFFERS;
}

/* Run a list; 0, or -1 if it failed. */
static int play(const systoliq_board *board, const systoliq_list *list) {
    board->write(board->user, SYSTOLIQ_DMA_LIST_ADDRESS, list->address);
    board->write(board->user, SYSTOLIQ_DMA_LIST_EXTENT, list->size - 1);
    board->write(board->user, SYSTOLIQ_DMA_LIST_CONTROL, SYSTOLIQ_DMA_LIST_CONTROL_PLAY_MASK);
    for (;;) { /* or sleep until the interrupt: DMA_INTERRUPT */
        uint32_t status = board->read(board->user, SYSTOLIQ_DMA_STATUS);
        if (status & FAILED) return -1;
        if (status & SYSTOLIQ_DMA_STATUS_DONE_MASK) break;
        if (board->wait && board->wait(board->user)) return -1;
    }
    if (board->read(board->user, SYSTOLIQ_ENGINE_STATUS) & SYSTOLIQ_ENGINE_STATUS_ERROR_MASK) return -1;
    board->write(board->user, SYSTOLIQ_DMA_LIST_CONTROL, SYSTOLIQ_DMA_LIST_CONTROL_ACKNOWLEDGE_MASK);
    return 0;
}

static int product(const systoliq_board *board, const systoliq_product *of) {
    uint32_t i, tile;
    for (i = 0; i < of->operation_count; i++) {
        const systoliq_operation *operation = &of->operations[i];
        if (operation->a_filled) put_rows(board, &operation->a, board->operand(board->user, of->step, i, 'a'));
        if (operation->b_filled) {
            const uint8_t *b = board->operand(board->user, of->step, i, 'b');
            if (!operation->tile_count) put_rows(board, &operation->b, b);
            for (tile = 0; tile < operation->tile_count; tile++) put_tile(board, operation, &operation->tiles[tile], b);
        }
    }
    for (i = 0; i < of->patch_count; i++) {
        uint8_t *byte = at(board, of->patches[i].address);
        *byte = (uint8_t)(board->zero_point(board->user, of->step, of->patches[i].operand) ^ of->patches[i].flip);
        clean(board, byte, 1);
    }
    for (i = 0; i < of->list_count; i++)
        if (play(board, &of->lists[i])) return -1;
    for (i = 0; i < of->operation_count; i++)
        take_rows(board, &of->operations[i].y, board->result(board->user, of->step, i));
    return board->finish(board->user, of->step);
}

int systoliq_run(const systoliq_board *board) {
    uint32_t step;
    if (!is_right_engine(board)) return SYSTOLIQ_OTHER_ENGINE;
    for (step = 0; step < SYSTOLIQ_PROGRAM_STEPS; step++) {
        int place = systoliq_steps[step];
        int failed = place < 0 ? board->finish(board->user, step + 1) : product(board, &systoliq_products[place]);
        if (failed) return (int)step + 1;
    }
    return 0;
}
