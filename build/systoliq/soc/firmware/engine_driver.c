/* Driver of the systoliq engine; see engine_driver.h. */
#include "engine_driver.h"

#define FIELD(register_field, value) (((uint32_t)(value) << register_field##_SHIFT) & register_field##_MASK)
#define EXTRACT(register_field, word) (((word) & register_field##_MASK) >> register_field##_SHIFT)

#define LARGEST 65535u /* M, K and N are registers of 16 bits */

static uint32_t read_register(const systoliq_engine *e, uint32_t offset) {
    return e->hooks.read_register(e->hooks.user, offset);
}

static void write_register(const systoliq_engine *e, uint32_t offset, uint32_t value) {
    e->hooks.write_register(e->hooks.user, offset, value);
}

static uint32_t ceil_div(uint32_t a, uint32_t b) { return (a + b - 1) / b; }

static uint32_t beats(const systoliq_engine *e, const systoliq_job *job) { return ceil_div(job->k, e->depth); }

/* Words in the stream of A: group of rows after group, or chunk of K after chunk. */
static uint32_t a_words(const systoliq_engine *e, const systoliq_job *job) {
    if (e->weight_stationary) return job->m * ceil_div(job->k, e->rows * e->depth);
    return ceil_div(job->m, e->rows) * beats(e, job);
}

/* Words in the stream of B: column tile after column tile. */
static uint32_t b_words(const systoliq_engine *e, const systoliq_job *job) {
    return ceil_div(job->n, e->cols) * beats(e, job);
}

static uint32_t y_size(const systoliq_job *job) { return job->y_int32 ? 4 : 1; }

static int busy(const systoliq_engine *e) {
    return (read_register(e, SYSTOLIQ_ENGINE_STATUS) & SYSTOLIQ_ENGINE_STATUS_BUSY_MASK) != 0;
}

int systoliq_probe(systoliq_engine *e) {
    uint32_t array, buffers;
    if (read_register(e, SYSTOLIQ_ENGINE_ID) != 0x5351u) return SYSTOLIQ_NO_ENGINE;
    if (EXTRACT(SYSTOLIQ_ENGINE_VERSION_MAJOR, read_register(e, SYSTOLIQ_ENGINE_VERSION)) != SYSTOLIQ_ENGINE_MAP_MAJOR)
        return SYSTOLIQ_OTHER_VERSION;
    array = read_register(e, SYSTOLIQ_ENGINE_ARRAY);
    e->rows = EXTRACT(SYSTOLIQ_ENGINE_ARRAY_ROWS, array);
    e->cols = EXTRACT(SYSTOLIQ_ENGINE_ARRAY_COLS, array);
    e->depth = EXTRACT(SYSTOLIQ_ENGINE_ARRAY_DEPTH, array);
    e->weight_stationary = EXTRACT(SYSTOLIQ_ENGINE_ARRAY_WEIGHT_STATIONARY, array) != 0;
    e->lanes = EXTRACT(SYSTOLIQ_ENGINE_LANES_LANES, read_register(e, SYSTOLIQ_ENGINE_LANES));
    buffers = read_register(e, SYSTOLIQ_ENGINE_BUFFERS);
    e->a_words = (uint32_t)1 << EXTRACT(SYSTOLIQ_ENGINE_BUFFERS_A_WORDS_LOG2, buffers);
    e->b_words = (uint32_t)1 << EXTRACT(SYSTOLIQ_ENGINE_BUFFERS_B_WORDS_LOG2, buffers);
    e->max_columns = (uint32_t)1 << EXTRACT(SYSTOLIQ_ENGINE_BUFFERS_MAX_COLUMNS_LOG2, buffers);
    e->max_rows = (uint32_t)1 << EXTRACT(SYSTOLIQ_ENGINE_BUFFERS_MAX_ROWS_LOG2, buffers);
    return SYSTOLIQ_OK;
}

int systoliq_check(const systoliq_engine *e, const systoliq_job *job) {
    int a_again = job->n > e->cols, b_again = job->m > e->rows && !e->weight_stationary;
    if (!job->m || !job->k || !job->n || job->m > LARGEST || job->k > LARGEST || job->n > LARGEST)
        return SYSTOLIQ_ENGINE_ERROR_ILLEGAL_SHAPE;
    if (!e->weight_stationary && a_again && beats(e, job) > e->a_words) return SYSTOLIQ_ENGINE_ERROR_A_TOO_LARGE;
    if (e->weight_stationary && job->m > e->max_rows) return SYSTOLIQ_ENGINE_ERROR_TOO_MANY_ROWS;
    if (job->n > e->max_columns) return SYSTOLIQ_ENGINE_ERROR_TOO_MANY_COLUMNS;
    if (job->a_zero_points && job->m > e->max_rows) return SYSTOLIQ_ENGINE_ERROR_TOO_MANY_ROWS;
    if (e->weight_stationary && a_again && a_words(e, job) > e->a_words) return SYSTOLIQ_ENGINE_ERROR_A_TOO_LARGE;
    if (b_again && b_words(e, job) > e->b_words) return SYSTOLIQ_ENGINE_ERROR_B_TOO_LARGE;
    return SYSTOLIQ_OK;
}

size_t systoliq_a_bytes(const systoliq_engine *e, const systoliq_job *job) {
    return (size_t)a_words(e, job) * e->rows * e->depth;
}

size_t systoliq_b_bytes(const systoliq_engine *e, const systoliq_job *job) {
    return (size_t)b_words(e, job) * e->cols * e->depth;
}

size_t systoliq_y_bytes(const systoliq_engine *e, const systoliq_job *job) {
    size_t bytes = (size_t)job->m * job->n * y_size(job), beat = 4 * e->lanes;
    return (bytes + beat - 1) / beat * beat;
}

/* Output-stationary: word g ceil(k / depth) + t holds A[g rows + r][t depth + d] in byte r depth + d.
 * Weight-stationary: word q m + r holds A[r][q rows depth + i] in byte i. */
void systoliq_pack_a(const systoliq_engine *e, const systoliq_job *job, const void *a, void *words) {
    const uint8_t *from = (const uint8_t *)a;
    uint8_t *to = (uint8_t *)words;
    uint32_t span = e->weight_stationary ? 1 : e->rows;
    uint32_t depth = e->weight_stationary ? e->rows * e->depth : e->depth;
    uint32_t groups = ceil_div(job->m, span), steps = ceil_div(job->k, depth), g, t, r, d;
    for (g = 0; g < groups; g++)
        for (t = 0; t < steps; t++) {
            size_t word = e->weight_stationary ? (size_t)t * groups + g : (size_t)g * steps + t;
            for (r = 0; r < span; r++)
                for (d = 0; d < depth; d++) {
                    uint32_t row = g * span + r, k = t * depth + d;
                    to[word * span * depth + r * depth + d] =
                        row < job->m && k < job->k ? from[(size_t)row * job->k + k] : 0;
                }
        }
}

/* Word h ceil(k / depth) + t holds B[t depth + d][h cols + c] in byte p depth + d, where p is c sorted by lane:
 * c = (p mod (cols / lanes)) lanes + p div (cols / lanes). */
void systoliq_pack_b(const systoliq_engine *e, const systoliq_job *job, const void *b, void *words) {
    const uint8_t *from = (const uint8_t *)b;
    uint8_t *to = (uint8_t *)words;
    uint32_t steps = beats(e, job), tiles = ceil_div(job->n, e->cols), interval = e->cols / e->lanes, h, t, p, d;
    for (h = 0; h < tiles; h++)
        for (t = 0; t < steps; t++)
            for (p = 0; p < e->cols; p++)
                for (d = 0; d < e->depth; d++) {
                    uint32_t column = h * e->cols + p % interval * e->lanes + p / interval, k = t * e->depth + d;
                    *to++ = column < job->n && k < job->k ? from[(size_t)k * job->n + column] : 0;
                }
}

/* Group of rows by group (weight-stationary: all rows are one), column tile by column tile, row by row. */
void systoliq_unpack_y(const systoliq_engine *e, const systoliq_job *job, const void *stream, void *y) {
    const uint8_t *from = (const uint8_t *)stream;
    uint8_t *to = (uint8_t *)y;
    uint32_t size = y_size(job), span = e->weight_stationary ? job->m : e->rows, g, h, row, column, i;
    for (g = 0; g < job->m; g += span)
        for (h = 0; h < job->n; h += e->cols)
            for (row = g; row < job->m && row < g + span; row++)
                for (column = h; column < job->n && column < h + e->cols; column++)
                    for (i = 0; i < size; i++) to[((size_t)row * job->n + column) * size + i] = *from++;
}

/* The 24-bit mantissa and the exponent, read from the float's bits. Scales up to 2^-32 leave every sum at zero, and
 * those from 2^8 on saturate every sum but 0. */
int systoliq_scale(float scale, uint32_t *multiplier, uint8_t *shift) {
    uint32_t bits, i;
    for (i = 0; i < sizeof bits; i++) ((uint8_t *)&bits)[i] = ((const uint8_t *)&scale)[i];
    if (bits == 0x80000000u) bits = 0; /* -0 */
    if (bits >= 0x7F800000u) return SYSTOLIQ_BAD_SCALE;
    if (bits <= 0x2F800000u) { /* 2^-32 */
        *multiplier = 0;
        *shift = 14;
        return SYSTOLIQ_OK;
    }
    if (bits > 0x43800000u) bits = 0x43800000u; /* 2^8 */
    *multiplier = (bits & 0x007FFFFFu) | 0x00800000u;
    *shift = (uint8_t)(150 - (bits >> 23));
    return SYSTOLIQ_OK;
}

/* A zero point in the engine's form: eight bits, less 128 for an unsigned operand. */
static uint32_t zero_point_field(int32_t zero_point, int is_unsigned) {
    return (uint32_t)(zero_point - (is_unsigned ? 128 : 0)) & 0xFFu;
}

int systoliq_load_tables(const systoliq_engine *e, const systoliq_job *job) {
    uint32_t slots = 1, n, m, entry;
    int error = systoliq_check(e, job); /* entries beyond a table answer SLVERR, which is a fault on many systems */
    if (!error && busy(e)) error = SYSTOLIQ_BUSY;
    if (error) return error;
    while (slots < e->lanes) slots *= 2;
    for (n = 0; n < job->n; n++) {
        int32_t zero_point = job->b_zero_points ? job->b_zero_points[n] : job->b_zero_point;
        entry = SYSTOLIQ_ENGINE_COLUMN_TABLE +
                (n / e->lanes * slots + n % e->lanes) * SYSTOLIQ_ENGINE_COLUMN_TABLE_STRIDE;
        write_register(e, entry + SYSTOLIQ_ENGINE_COLUMN_TABLE_BIAS, job->bias ? (uint32_t)job->bias[n] : 0);
        write_register(e, entry + SYSTOLIQ_ENGINE_COLUMN_TABLE_MULTIPLIER, job->y_int32 ? 0 : job->multiplier[n]);
        write_register(e, entry + SYSTOLIQ_ENGINE_COLUMN_TABLE_SHIFT, job->y_int32 ? 14 : job->shift[n]);
        write_register(e, entry + SYSTOLIQ_ENGINE_COLUMN_TABLE_ZERO_POINT,
                       zero_point_field(zero_point, job->b_unsigned));
    }
    for (m = 0; job->a_zero_points && m < job->m; m++) {
        entry = SYSTOLIQ_ENGINE_ROW_TABLE + m * SYSTOLIQ_ENGINE_ROW_TABLE_STRIDE;
        write_register(e, entry + SYSTOLIQ_ENGINE_ROW_TABLE_ZERO_POINT,
                       zero_point_field(job->a_zero_points[m], job->a_unsigned));
    }
    return SYSTOLIQ_OK;
}

static void write_settings(const systoliq_engine *e, const systoliq_job *job) {
    write_register(e, SYSTOLIQ_ENGINE_INTERRUPT,
                   FIELD(SYSTOLIQ_ENGINE_INTERRUPT_ON_DONE, e->hooks.wait != 0) |
                       FIELD(SYSTOLIQ_ENGINE_INTERRUPT_ON_ERROR, e->hooks.wait != 0));
    write_register(e, SYSTOLIQ_ENGINE_M, job->m);
    write_register(e, SYSTOLIQ_ENGINE_K, job->k);
    write_register(e, SYSTOLIQ_ENGINE_N, job->n);
    write_register(e, SYSTOLIQ_ENGINE_FORMAT,
                   FIELD(SYSTOLIQ_ENGINE_FORMAT_A_UNSIGNED, job->a_unsigned != 0) |
                       FIELD(SYSTOLIQ_ENGINE_FORMAT_B_UNSIGNED, job->b_unsigned != 0) |
                       FIELD(SYSTOLIQ_ENGINE_FORMAT_Y_UNSIGNED, job->y_unsigned != 0) |
                       FIELD(SYSTOLIQ_ENGINE_FORMAT_Y_INT32, job->y_int32 != 0) |
                       FIELD(SYSTOLIQ_ENGINE_FORMAT_ROW_ZERO_POINTS, job->a_zero_points != 0));
    write_register(e, SYSTOLIQ_ENGINE_ZERO_POINTS,
                   FIELD(SYSTOLIQ_ENGINE_ZERO_POINTS_A, zero_point_field(job->a_zero_point, job->a_unsigned)) |
                       FIELD(SYSTOLIQ_ENGINE_ZERO_POINTS_Y, zero_point_field(job->y_zero_point, job->y_unsigned)));
}

/* Start the three transfers: 0, or not 0 if one failed. */
static int start_transfers(const systoliq_engine *e, const systoliq_job *job, const void *a, const void *b, void *y) {
    const systoliq_hooks *h = &e->hooks;
    size_t a_bytes = systoliq_a_bytes(e, job), b_bytes = systoliq_b_bytes(e, job), y_bytes = systoliq_y_bytes(e, job);
    if (h->clean) {
        h->clean(h->user, a, a_bytes);
        h->clean(h->user, b, b_bytes);
    }
    if (h->invalidate) h->invalidate(h->user, y, y_bytes); /* no line of it may be written back over the results */
    return h->receive(h->user, y, y_bytes) || h->send(h->user, SYSTOLIQ_A, a, a_bytes) ||
           h->send(h->user, SYSTOLIQ_B, b, b_bytes);
}

static void stop_transfers(const systoliq_engine *e) {
    int stream;
    for (stream = SYSTOLIQ_A; stream <= SYSTOLIQ_Y; stream++) e->hooks.stop(e->hooks.user, (systoliq_stream)stream);
}

static void wait_a_little(const systoliq_engine *e) {
    if (e->hooks.wait) e->hooks.wait(e->hooks.user);
}

/* Wait until the job has ended and the engine is idle: 0, an error of the engine, or SYSTOLIQ_TIMEOUT. */
static int wait_for_job(const systoliq_engine *e, uint32_t limit) {
    for (; limit; limit--) {
        uint32_t status = read_register(e, SYSTOLIQ_ENGINE_STATUS);
        uint32_t error = EXTRACT(SYSTOLIQ_ENGINE_STATUS_ERROR, status);
        if (error) return (int)error;
        if ((status & SYSTOLIQ_ENGINE_STATUS_DONE_MASK) && !(status & SYSTOLIQ_ENGINE_STATUS_BUSY_MASK))
            return SYSTOLIQ_OK;
        wait_a_little(e);
    }
    return SYSTOLIQ_TIMEOUT;
}

/* Wait until all transfers are complete: 0, SYSTOLIQ_TRANSFER_FAILED or SYSTOLIQ_TIMEOUT. */
static int wait_for_transfers(const systoliq_engine *e, uint32_t limit) {
    int stream = SYSTOLIQ_A;
    for (; limit; limit--) {
        int ended = 1;
        while (stream <= SYSTOLIQ_Y && (ended = e->hooks.ended(e->hooks.user, (systoliq_stream)stream)) > 0) stream++;
        if (ended < 0) return SYSTOLIQ_TRANSFER_FAILED;
        if (stream > SYSTOLIQ_Y) return SYSTOLIQ_OK;
        wait_a_little(e);
    }
    return SYSTOLIQ_TIMEOUT;
}

int systoliq_recover(const systoliq_engine *e, uint32_t limit) {
    int stuck;
    write_register(e, SYSTOLIQ_ENGINE_CONTROL, SYSTOLIQ_ENGINE_CONTROL_CLEAR_MASK);
    /* The engine ends an open frame of Y, with a beat that the transfer still has to take. */
    while ((stuck = busy(e)) && limit) {
        wait_a_little(e);
        limit--;
    }
    stop_transfers(e);
    return stuck ? SYSTOLIQ_STUCK : SYSTOLIQ_OK;
}

int systoliq_run(const systoliq_engine *e, const systoliq_job *job, const void *a, const void *b, void *y,
                 uint32_t limit) {
    int error = systoliq_check(e, job);
    if (!error && busy(e)) error = SYSTOLIQ_BUSY;
    if (error) return error;
    write_settings(e, job);
    error = start_transfers(e, job, a, b, y) ? SYSTOLIQ_TRANSFER_FAILED : SYSTOLIQ_OK;
    if (!error) {
        write_register(e, SYSTOLIQ_ENGINE_CONTROL, SYSTOLIQ_ENGINE_CONTROL_START_MASK);
        error = wait_for_job(e, limit);
    }
    if (!error) error = wait_for_transfers(e, limit);
    if (error) {
        int stuck = systoliq_recover(e, limit);
        return stuck ? stuck : error;
    }
    write_register(e, SYSTOLIQ_ENGINE_CONTROL, SYSTOLIQ_ENGINE_CONTROL_ACKNOWLEDGE_MASK);
    if (e->hooks.invalidate) e->hooks.invalidate(e->hooks.user, y, systoliq_y_bytes(e, job));
    return SYSTOLIQ_OK;
}
