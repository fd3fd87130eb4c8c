/* A driver for the systoliq engine on a real system: memory-mapped registers and three DMA channels.
 *
 * The steps are those of systoliq.sim.engine.driver.sequence, which the simulations carry out; the layout of A, B and Y
 * in memory is that of systoliq.sim.engine.layout. C99, and C++. Yours to supply: the registers' address, the DMA.
 */
#include <stdint.h>
#include "systoliq_engine.h"

#define FIELD(register_field, value) (((uint32_t)(value) << register_field##_SHIFT) & register_field##_MASK)
#define EXTRACT(register_field, word) (((word) & register_field##_MASK) >> register_field##_SHIFT)

typedef struct {
    volatile uint32_t *registers;
    uint32_t rows, cols, depth, lanes;
    /* Start a transfer. send() puts tlast on the last word; receive() keeps the bytes that tkeep marks. */
    void (*send_a)(const void *words, uint32_t bytes);
    void (*send_b)(const void *words, uint32_t bytes);
    void (*receive_y)(void *y, uint32_t bytes);
    void (*stop_transfers)(void);
} systoliq_engine;

typedef struct {
    uint32_t m, k, n;
    int a_unsigned, b_unsigned, y_unsigned, y_int32;
    const uint8_t *a; /* [m][k], bytes of int8 or uint8 */
    const uint8_t *b; /* [k][n] */
    int32_t a_zero_point, y_zero_point;
    const int32_t *a_zero_points; /* [m], or 0: a_zero_point for all rows */
    const int32_t *b_zero_points; /* [n] */
    const int32_t *bias;          /* [n] */
    const uint32_t *multiplier;   /* [n]: the 24-bit mantissa of the float32 scale, top bit set; or 0 */
    const uint8_t *shift;         /* [n]: scale = multiplier / 2^shift */
} systoliq_job;

static void write_register(const systoliq_engine *e, uint32_t offset, uint32_t value) {
    e->registers[offset / 4] = value;
}

static uint32_t read_register(const systoliq_engine *e, uint32_t offset) { return e->registers[offset / 4]; }

static uint32_t ceil_div(uint32_t a, uint32_t b) { return (a + b - 1) / b; }

/* Returns 0 where there is no engine of a version that this driver knows. */
int systoliq_engine_probe(systoliq_engine *e) {
    uint32_t version = read_register(e, SYSTOLIQ_ENGINE_VERSION), array = read_register(e, SYSTOLIQ_ENGINE_ARRAY);
    if (read_register(e, SYSTOLIQ_ENGINE_ID) != 0x5351u) return 0;
    if (EXTRACT(SYSTOLIQ_ENGINE_VERSION_MAJOR, version) != SYSTOLIQ_ENGINE_MAP_MAJOR) return 0;
    e->rows = EXTRACT(SYSTOLIQ_ENGINE_ARRAY_ROWS, array);
    e->cols = EXTRACT(SYSTOLIQ_ENGINE_ARRAY_COLS, array);
    e->depth = EXTRACT(SYSTOLIQ_ENGINE_ARRAY_DEPTH, array);
    e->lanes = EXTRACT(SYSTOLIQ_ENGINE_LANES_LANES, read_register(e, SYSTOLIQ_ENGINE_LANES));
    return 1;
}

/* A as words of rows x depth bytes: word g ceil(k / depth) + t holds A[g rows + r][t depth + d] in byte r depth + d.
 * Returns the bytes written; elements beyond m and k may be anything. */
uint32_t systoliq_pack_a(const systoliq_engine *e, const systoliq_job *job, uint8_t *words) {
    uint32_t beats = ceil_div(job->k, e->depth), groups = ceil_div(job->m, e->rows), at = 0;
    for (uint32_t g = 0; g < groups; g++)
        for (uint32_t t = 0; t < beats; t++)
            for (uint32_t r = 0; r < e->rows; r++)
                for (uint32_t d = 0; d < e->depth; d++, at++) {
                    uint32_t row = g * e->rows + r, k = t * e->depth + d;
                    words[at] = row < job->m && k < job->k ? job->a[row * job->k + k] : 0;
                }
    return at;
}

/* B as words of cols x depth bytes: word h ceil(k / depth) + t holds B[t depth + d][h cols + c] in byte p depth + d,
 * where p is c sorted by lane: c = (p mod (cols / lanes)) lanes + p div (cols / lanes). */
uint32_t systoliq_pack_b(const systoliq_engine *e, const systoliq_job *job, uint8_t *words) {
    uint32_t beats = ceil_div(job->k, e->depth), tiles = ceil_div(job->n, e->cols), at = 0;
    uint32_t interval = e->cols / e->lanes;
    for (uint32_t h = 0; h < tiles; h++)
        for (uint32_t t = 0; t < beats; t++)
            for (uint32_t p = 0; p < e->cols; p++)
                for (uint32_t d = 0; d < e->depth; d++, at++) {
                    uint32_t column = h * e->cols + p % interval * e->lanes + p / interval, k = t * e->depth + d;
                    words[at] = column < job->n && k < job->k ? job->b[k * job->n + column] : 0;
                }
    return at;
}

/* Y [m][n] (elements of size bytes) from its stream: group of rows by group, column tile by column tile. */
void systoliq_unpack_y(const systoliq_engine *e, const systoliq_job *job, const uint8_t *stream, uint8_t *y) {
    uint32_t size = job->y_int32 ? 4 : 1;
    for (uint32_t g = 0; g < job->m; g += e->rows)
        for (uint32_t h = 0; h < job->n; h += e->cols)
            for (uint32_t row = g; row < job->m && row < g + e->rows; row++)
                for (uint32_t column = h; column < job->n && column < h + e->cols; column++)
                    for (uint32_t i = 0; i < size; i++) y[(row * job->n + column) * size + i] = *stream++;
}

static void write_tables(const systoliq_engine *e, const systoliq_job *job) {
    uint32_t slots = 1;
    while (slots < e->lanes) slots *= 2;
    for (uint32_t n = 0; n < job->n; n++) {
        uint32_t entry = SYSTOLIQ_ENGINE_COLUMN_TABLE +
                         (n / e->lanes * slots + n % e->lanes) * SYSTOLIQ_ENGINE_COLUMN_TABLE_STRIDE;
        int32_t zero_point = job->b_zero_points[n] - (job->b_unsigned ? 128 : 0);
        write_register(e, entry + SYSTOLIQ_ENGINE_COLUMN_TABLE_BIAS, (uint32_t)job->bias[n]);
        write_register(e, entry + SYSTOLIQ_ENGINE_COLUMN_TABLE_MULTIPLIER, job->y_int32 ? 0 : job->multiplier[n]);
        write_register(e, entry + SYSTOLIQ_ENGINE_COLUMN_TABLE_SHIFT, job->y_int32 ? 14 : job->shift[n]);
        write_register(e, entry + SYSTOLIQ_ENGINE_COLUMN_TABLE_ZERO_POINT, (uint32_t)zero_point & 0xFFu);
    }
    for (uint32_t m = 0; job->a_zero_points && m < job->m; m++)
        write_register(e, SYSTOLIQ_ENGINE_ROW_TABLE + m * SYSTOLIQ_ENGINE_ROW_TABLE_STRIDE,
                       (uint32_t)(job->a_zero_points[m] - (job->a_unsigned ? 128 : 0)) & 0xFFu);
}

/* Runs a job: 0, or a SYSTOLIQ_ENGINE_ERROR_. `a` and `b` are packed, `y` is the stream to unpack. */
uint32_t systoliq_engine_run(const systoliq_engine *e, const systoliq_job *job, const uint8_t *a, uint32_t a_bytes,
                             const uint8_t *b, uint32_t b_bytes, uint8_t *y) {
    uint32_t status, error;
    write_register(e, SYSTOLIQ_ENGINE_M, job->m);
    write_register(e, SYSTOLIQ_ENGINE_K, job->k);
    write_register(e, SYSTOLIQ_ENGINE_N, job->n);
    write_register(e, SYSTOLIQ_ENGINE_FORMAT,
                   FIELD(SYSTOLIQ_ENGINE_FORMAT_A_UNSIGNED, job->a_unsigned) |
                       FIELD(SYSTOLIQ_ENGINE_FORMAT_B_UNSIGNED, job->b_unsigned) |
                       FIELD(SYSTOLIQ_ENGINE_FORMAT_Y_UNSIGNED, job->y_unsigned) |
                       FIELD(SYSTOLIQ_ENGINE_FORMAT_Y_INT32, job->y_int32) |
                       FIELD(SYSTOLIQ_ENGINE_FORMAT_ROW_ZERO_POINTS, job->a_zero_points != 0));
    write_register(e, SYSTOLIQ_ENGINE_ZERO_POINTS,
                   FIELD(SYSTOLIQ_ENGINE_ZERO_POINTS_A, job->a_zero_point - (job->a_unsigned ? 128 : 0)) |
                       FIELD(SYSTOLIQ_ENGINE_ZERO_POINTS_Y, job->y_zero_point - (job->y_unsigned ? 128 : 0)));
    write_tables(e, job);
    e->receive_y(y, job->m * job->n * (job->y_int32 ? 4 : 1));
    e->send_a(a, a_bytes);
    e->send_b(b, b_bytes);
    write_register(e, SYSTOLIQ_ENGINE_CONTROL, SYSTOLIQ_ENGINE_CONTROL_START_MASK);
    do { /* or sleep until the interrupt: INTERRUPT.on_done and INTERRUPT.on_error */
        status = read_register(e, SYSTOLIQ_ENGINE_STATUS);
        error = EXTRACT(SYSTOLIQ_ENGINE_STATUS_ERROR, status);
    } while (!error && !(status & SYSTOLIQ_ENGINE_STATUS_DONE_MASK));
    if (error) { /* the clear comes first: what Y offers must be taken, and a frame that has begun is ended */
        write_register(e, SYSTOLIQ_ENGINE_CONTROL, SYSTOLIQ_ENGINE_CONTROL_CLEAR_MASK);
        while (read_register(e, SYSTOLIQ_ENGINE_STATUS) & SYSTOLIQ_ENGINE_STATUS_BUSY_MASK) continue;
        e->stop_transfers();
        return error;
    }
    write_register(e, SYSTOLIQ_ENGINE_CONTROL, SYSTOLIQ_ENGINE_CONTROL_ACKNOWLEDGE_MASK);
    return 0;
}
