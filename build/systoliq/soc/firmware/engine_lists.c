/* Lists of jobs for a systoliq DMA engine; see engine_lists.h. */
#include "engine_lists.h"

#define FIELD(register_field, value) (((uint32_t)(value) << register_field##_SHIFT) & register_field##_MASK)
#define EXTRACT(register_field, word) (((word) & register_field##_MASK) >> register_field##_SHIFT)

#define MOST 256u /* words of a command */
#define FAILURES                                                                                                  \
    (SYSTOLIQ_DMA_STATUS_A_FAILED_MASK | SYSTOLIQ_DMA_STATUS_B_FAILED_MASK | SYSTOLIQ_DMA_STATUS_Y_FAILED_MASK |   \
     SYSTOLIQ_DMA_STATUS_LIST_FAILED_MASK)
#define QUEUED                                                                                                      \
    (SYSTOLIQ_DMA_STATUS_A_QUEUED_MASK | SYSTOLIQ_DMA_STATUS_B_QUEUED_MASK | SYSTOLIQ_DMA_STATUS_Y_QUEUED_MASK)
#define TILE_BYTES (1u << 24) /* largest run */

static uint32_t ceil_div(uint32_t a, uint32_t b) { return (a + b - 1) / b; }

static void put(systoliq_list *list, uint32_t word) {
    if (list->used < list->room)
        list->words[list->used++] = word;
    else
        list->error = SYSTOLIQ_LIST_FULL;
}

/* The head of a command (WRITE or TABLE) for `count` words from `address` on; they follow. */
static void put_head(systoliq_list *list, uint32_t command, uint32_t address, uint32_t count) {
    put(list, command << 30 | (count - 1) << 22 | address);
}

static void put_write(systoliq_list *list, uint32_t address, uint32_t value) {
    put_head(list, SYSTOLIQ_DMA_COMMAND_WRITE, address, 1);
    put(list, value);
}

/* The head of a command before word `at` of the `count` words of a table, where one is needed. */
static void put_table_head(systoliq_list *list, uint32_t address, uint32_t at, uint32_t count) {
    uint32_t left = count - at;
    if (at % MOST == 0) put_head(list, SYSTOLIQ_DMA_COMMAND_TABLE, address + 4 * at, left < MOST ? left : MOST);
}

static void put_wait(systoliq_list *list, uint32_t address, uint32_t mask, uint32_t value, uint32_t failing) {
    put(list, SYSTOLIQ_DMA_COMMAND_WAIT << 30 | address);
    put(list, mask);
    put(list, value);
    put(list, failing);
}

/* Wait until this number of jobs has ended or, if it is not the last, until the queued job has begun. */
static void put_ended(systoliq_list *list, uint32_t jobs) {
    if (jobs == list->jobs)
        put_wait(list, SYSTOLIQ_ENGINE_STATUS, SYSTOLIQ_ENGINE_STATUS_JOBS_MASK,
                 FIELD(SYSTOLIQ_ENGINE_STATUS_JOBS, jobs), SYSTOLIQ_ENGINE_STATUS_ERROR_MASK);
    else
        put_wait(list, SYSTOLIQ_ENGINE_STATUS, SYSTOLIQ_ENGINE_STATUS_QUEUED_MASK, 0,
                 SYSTOLIQ_ENGINE_STATUS_ERROR_MASK);
}

static uint32_t zero_point_field(int32_t zero_point, int is_unsigned) {
    return (uint32_t)(zero_point - (is_unsigned ? 128 : 0)) & 0xFFu;
}

static int32_t b_zero_point(const systoliq_job *job, uint32_t n) {
    return job->b_zero_points ? job->b_zero_points[n] : job->b_zero_point;
}

/* A word of a job's entry of the column table, 0 to 3: bias, multiplier, shift, zero point. */
static uint32_t column_word(const systoliq_job *job, uint32_t n, uint32_t word) {
    switch (word) {
    case 0: return job->bias ? (uint32_t)job->bias[n] : 0;
    case 1: return job->y_int32 ? 0 : job->multiplier[n];
    case 2: return job->y_int32 ? 14 : job->shift[n];
    default: return zero_point_field(b_zero_point(job, n), job->b_unsigned);
    }
}

static uint32_t row_word(const systoliq_job *job, uint32_t m) {
    return zero_point_field(job->a_zero_points[m], job->a_unsigned);
}

static int same_columns(const systoliq_job *one, const systoliq_job *other) {
    uint32_t n, word;
    if (one->n != other->n) return 0;
    for (n = 0; n < one->n; n++)
        for (word = 0; word < 4; word++)
            if (column_word(one, n, word) != column_word(other, n, word)) return 0;
    return 1;
}

static int same_rows(const systoliq_job *one, const systoliq_job *other) {
    uint32_t m;
    if (one->m != other->m) return 0;
    for (m = 0; m < one->m; m++)
        if (row_word(one, m) != row_word(other, m)) return 0;
    return 1;
}

static systoliq_held *held(systoliq_ring *ring, uint32_t index) {
    return &ring->held[(ring->oldest + index) % SYSTOLIQ_LIST_TABLES];
}

/* Where `count` entries of a job go: behind those before, once *after jobs have ended; 1 where they are to be written,
 * 0 where a job before has the same. */
static int place_entries(systoliq_ring *ring, uint32_t count, const systoliq_job *job, uint32_t number,
                         int (*same)(const systoliq_job *, const systoliq_job *), uint32_t *first, uint32_t *after) {
    uint32_t i;
    systoliq_held *newest;
    *after = 0;
    for (i = 0; i < ring->count; i++)
        if (same(held(ring, i)->job, job)) {
            held(ring, i)->last = number;
            *first = held(ring, i)->first;
            return 0;
        }
    while (ring->size - ring->used < count || ring->count == SYSTOLIQ_LIST_TABLES) {
        const systoliq_held *oldest = held(ring, 0);
        if (oldest->last + 1 > *after) *after = oldest->last + 1;
        ring->used -= oldest->count;
        ring->oldest = (ring->oldest + 1) % SYSTOLIQ_LIST_TABLES;
        ring->count--;
    }
    newest = held(ring, ring->count++);
    newest->first = *first = ring->next;
    newest->count = count;
    newest->last = number;
    newest->job = job;
    ring->used += count;
    ring->next = (ring->next + count) % ring->size;
    return 1;
}

/* Entries of the column table, in stretches that end where the table does: their lanes lie side by side. */
static void put_columns(systoliq_list *list, const systoliq_job *job, uint32_t first) {
    const systoliq_engine *e = list->engine;
    uint32_t n = 0, words = SYSTOLIQ_ENGINE_COLUMN_TABLE_STRIDE / 4;
    while (n < job->n) {
        uint32_t entry = (first + n / e->lanes) % list->columns.size;
        uint32_t address = SYSTOLIQ_ENGINE_COLUMN_TABLE + entry * e->lanes * SYSTOLIQ_ENGINE_COLUMN_TABLE_STRIDE;
        uint32_t count = (list->columns.size - entry) * e->lanes, at;
        if (count > job->n - n) count = job->n - n;
        for (at = 0; at < count * words; at++) {
            put_table_head(list, address, at, count * words);
            put(list, column_word(job, n + at / words, at % words));
        }
        n += count;
    }
}

static void put_rows(systoliq_list *list, const systoliq_job *job, uint32_t first) {
    uint32_t m = 0;
    while (m < job->m) {
        uint32_t entry = (first + m) % list->rows.size, count = list->rows.size - entry, at;
        uint32_t address = SYSTOLIQ_ENGINE_ROW_TABLE + entry * SYSTOLIQ_ENGINE_ROW_TABLE_STRIDE;
        if (count > job->m - m) count = job->m - m;
        for (at = 0; at < count; at++) {
            put_table_head(list, address, at, count);
            put(list, row_word(job, m + at));
        }
        m += count;
    }
}

/* The tables that are to be written. */
static void put_tables(systoliq_list *list, const systoliq_job *job, int columns, uint32_t first_column, int rows,
                       uint32_t first_row) {
    if (columns) put_columns(list, job, first_column);
    if (rows) put_rows(list, job, first_row);
}

/* Settings of a walk that differ from the previous job's. */
static void put_walk(systoliq_list *list, int operand, uint32_t registers, const uint32_t words[7]) {
    uint32_t *held = list->walks[operand], i = 0, end;
    while (i < 7) {
        for (end = i; end < 7 && !(list->jobs && held[end] == words[end]); end++) held[end] = words[end];
        if (end > i) put_head(list, SYSTOLIQ_DMA_COMMAND_WRITE, registers + 4 * i, end - i);
        for (; i < end; i++) put(list, words[i]);
        i++; /* unchanged, or none left */
    }
}

/* A: a step is a beat of the bus. B and Y: a tile of columns. */
static void put_walks(systoliq_list *list, const systoliq_job *job, const systoliq_place *place) {
    const systoliq_engine *e = list->engine;
    uint32_t bus = list->bus_bytes, word = e->cols * e->depth, beats = ceil_div(job->k, e->depth);
    uint32_t tiles = ceil_div(job->n, e->cols), last = (job->n - 1) % e->cols + 1, size = job->y_int32 ? 4 : 1;
    int whole = word % bus == 0 && (uint64_t)beats * word <= TILE_BYTES; /* a tile in one run */
    uint32_t run = whole ? beats * word : word;
    const uint32_t a[7] = {place->a, place->a_stride, bus, job->m, ceil_div(job->k, bus), bus - 1, (job->k - 1) % bus};
    const uint32_t by_rows[7] = {place->b, place->b_stride, e->cols, job->k, tiles, e->cols - 1, last - 1};
    const uint32_t as_words[7] = {place->b, run, beats * word, whole ? 1 : beats, tiles, run - 1, run - 1};
    const uint32_t y[7] = {place->y, place->y_stride, e->cols * size, job->m, tiles, e->cols * size - 1,
                           last * size - 1};
    put_walk(list, 0, SYSTOLIQ_DMA_A_ADDRESS, a);
    put_walk(list, 1, SYSTOLIQ_DMA_B_ADDRESS, place->b_stride ? by_rows : as_words);
    put_walk(list, 2, SYSTOLIQ_DMA_Y_ADDRESS, y);
    put_write(list, SYSTOLIQ_DMA_QUEUE,
              SYSTOLIQ_DMA_QUEUE_A_MASK | SYSTOLIQ_DMA_QUEUE_B_MASK | SYSTOLIQ_DMA_QUEUE_Y_MASK);
}

static void put_settings(systoliq_list *list, const systoliq_job *job, uint32_t first_row, uint32_t first_column) {
    put_write(list, SYSTOLIQ_ENGINE_M, job->m | FIELD(SYSTOLIQ_ENGINE_M_FIRST_ENTRY, first_row));
    put_write(list, SYSTOLIQ_ENGINE_K, job->k);
    put_write(list, SYSTOLIQ_ENGINE_N, job->n | FIELD(SYSTOLIQ_ENGINE_N_FIRST_ENTRY, first_column));
    put_write(list, SYSTOLIQ_ENGINE_FORMAT,
              FIELD(SYSTOLIQ_ENGINE_FORMAT_A_UNSIGNED, job->a_unsigned != 0) |
                  FIELD(SYSTOLIQ_ENGINE_FORMAT_B_UNSIGNED, job->b_unsigned != 0) |
                  FIELD(SYSTOLIQ_ENGINE_FORMAT_Y_UNSIGNED, job->y_unsigned != 0) |
                  FIELD(SYSTOLIQ_ENGINE_FORMAT_Y_INT32, job->y_int32 != 0) |
                  FIELD(SYSTOLIQ_ENGINE_FORMAT_ROW_ZERO_POINTS, job->a_zero_points != 0));
    put_write(list, SYSTOLIQ_ENGINE_ZERO_POINTS,
              FIELD(SYSTOLIQ_ENGINE_ZERO_POINTS_A,
                    zero_point_field(job->a_zero_points ? job->a_zero_points[0] : job->a_zero_point, job->a_unsigned)) |
                  FIELD(SYSTOLIQ_ENGINE_ZERO_POINTS_Y, zero_point_field(job->y_zero_point, job->y_unsigned)));
    put_write(list, SYSTOLIQ_ENGINE_CONTROL, SYSTOLIQ_ENGINE_CONTROL_START_MASK);
}

static void empty(systoliq_ring *ring, uint32_t size) {
    ring->size = size;
    ring->next = ring->oldest = ring->count = ring->used = 0;
}

void systoliq_list_begin(systoliq_list *list, const systoliq_engine *e, uint32_t bus_bytes, uint32_t *words,
                         uint32_t room) {
    uint32_t entries = ceil_div(e->max_columns, e->lanes); /* a power of two: lanes are one, too */
    list->words = words;
    list->room = room;
    list->bus_bytes = bus_bytes;
    list->engine = e;
    list->used = list->jobs = 0;
    list->error = SYSTOLIQ_OK;
    empty(&list->columns, entries < 2 ? 2 : entries);
    empty(&list->rows, e->max_rows);
    put_write(list, SYSTOLIQ_ENGINE_CONTROL, SYSTOLIQ_ENGINE_CONTROL_CLEAR_MASK);
    put_wait(list, SYSTOLIQ_ENGINE_STATUS, SYSTOLIQ_ENGINE_STATUS_BUSY_MASK, 0, SYSTOLIQ_ENGINE_STATUS_ERROR_MASK);
}

int systoliq_list_add(systoliq_list *list, const systoliq_job *job, const systoliq_place *place) {
    uint32_t first_column = 0, first_row = 0, of_columns = 0, of_rows = 0, ended;
    int new_columns, new_rows = 0, early, error = systoliq_check(list->engine, job);
    if (!place->b_stride || list->engine->depth == 1) {
        if (list->error) error = list->error;
    } else if (!error) {
        error = SYSTOLIQ_BAD_PLACE;
    }
    if (error) return list->error = error;
    new_columns = place_entries(&list->columns, ceil_div(job->n, list->engine->lanes), job, list->jobs, same_columns,
                                &first_column, &of_columns);
    if (job->a_zero_points)
        new_rows = place_entries(&list->rows, job->m, job, list->jobs, same_rows, &first_row, &of_rows);
    ended = of_columns > of_rows ? of_columns : of_rows;
    early = ended + 2 <= list->jobs || !ended; /* the tables need not wait */
    if (early) put_tables(list, job, new_columns, first_column, new_rows, first_row);
    if (list->jobs > 0 && list->jobs - 1 > ended) ended = list->jobs - 1; /* then only the previous job is left */
    if (ended) put_ended(list, ended);
    if (!early) put_tables(list, job, new_columns, first_column, new_rows, first_row);
    put_wait(list, SYSTOLIQ_DMA_STATUS, QUEUED, 0, FAILURES);
    put_walks(list, job, place);
    put_settings(list, job, first_row, first_column);
    list->jobs++;
    return list->error;
}

int systoliq_list_end(systoliq_list *list) {
    put_ended(list, list->jobs);
    put_write(list, SYSTOLIQ_ENGINE_CONTROL, SYSTOLIQ_ENGINE_CONTROL_ACKNOWLEDGE_MASK);
    put_wait(list, SYSTOLIQ_DMA_STATUS, SYSTOLIQ_DMA_STATUS_Y_BUSY_MASK, 0, FAILURES);
    return list->error;
}

static uint32_t read_register(const systoliq_engine *e, uint32_t offset) {
    return e->hooks.read_register(e->hooks.user, offset);
}

static void write_register(const systoliq_engine *e, uint32_t offset, uint32_t value) {
    e->hooks.write_register(e->hooks.user, offset, value);
}

/* Wait until the bits of `mask` in a register are `value`: whether they are. */
static int wait_until(const systoliq_engine *e, uint32_t offset, uint32_t mask, uint32_t value, uint32_t limit) {
    for (; limit; limit--) {
        if ((read_register(e, offset) & mask) == value) return 1;
        if (e->hooks.wait) e->hooks.wait(e->hooks.user);
    }
    return 0;
}

int systoliq_list_recover(const systoliq_engine *e, uint32_t limit) {
    int rests;
    write_register(e, SYSTOLIQ_DMA_HALT, SYSTOLIQ_DMA_HALT_HALT_MASK);
    write_register(e, SYSTOLIQ_ENGINE_CONTROL, SYSTOLIQ_ENGINE_CONTROL_CLEAR_MASK);
    rests = wait_until(e, SYSTOLIQ_ENGINE_STATUS, SYSTOLIQ_ENGINE_STATUS_BUSY_MASK, 0, limit) &&
            wait_until(e, SYSTOLIQ_DMA_STATUS, SYSTOLIQ_DMA_STATUS_RESTING_MASK, SYSTOLIQ_DMA_STATUS_RESTING_MASK,
                       limit);
    if (!rests) return SYSTOLIQ_STUCK; /* halted: a transfer that has begun never ends */
    write_register(e, SYSTOLIQ_DMA_HALT, 0);
    write_register(e, SYSTOLIQ_DMA_LIST_CONTROL, SYSTOLIQ_DMA_LIST_CONTROL_ACKNOWLEDGE_MASK);
    return SYSTOLIQ_OK;
}

/* The error of a list that did not reach its end. */
static int list_error(uint32_t dma, uint32_t engine) {
    if (EXTRACT(SYSTOLIQ_ENGINE_STATUS_ERROR, engine)) return (int)EXTRACT(SYSTOLIQ_ENGINE_STATUS_ERROR, engine);
    if (dma & FAILURES) return SYSTOLIQ_MEMORY_FAILED;
    if (EXTRACT(SYSTOLIQ_DMA_STATUS_LIST_ERROR, dma)) return SYSTOLIQ_LIST_REFUSED;
    return SYSTOLIQ_TIMEOUT;
}

int systoliq_list_play(const systoliq_engine *e, uint32_t address, uint32_t words, uint32_t limit) {
    uint32_t status = 0, ends = SYSTOLIQ_DMA_STATUS_DONE_MASK | SYSTOLIQ_DMA_STATUS_LIST_ERROR_MASK | FAILURES;
    int error, stuck;
    write_register(e, SYSTOLIQ_DMA_LIST_ADDRESS, address);
    write_register(e, SYSTOLIQ_DMA_LIST_EXTENT, 4 * words - 1);
    write_register(e, SYSTOLIQ_DMA_INTERRUPT,
                   FIELD(SYSTOLIQ_DMA_INTERRUPT_ON_DONE, e->hooks.wait != 0) |
                       FIELD(SYSTOLIQ_DMA_INTERRUPT_ON_ERROR, e->hooks.wait != 0));
    write_register(e, SYSTOLIQ_DMA_LIST_CONTROL, SYSTOLIQ_DMA_LIST_CONTROL_PLAY_MASK);
    for (; limit && !(status & ends); limit--) {
        status = read_register(e, SYSTOLIQ_DMA_STATUS);
        if (!(status & ends) && e->hooks.wait) e->hooks.wait(e->hooks.user);
    }
    if (status & SYSTOLIQ_DMA_STATUS_DONE_MASK) {
        write_register(e, SYSTOLIQ_DMA_LIST_CONTROL, SYSTOLIQ_DMA_LIST_CONTROL_ACKNOWLEDGE_MASK);
        return SYSTOLIQ_OK;
    }
    error = list_error(status, read_register(e, SYSTOLIQ_ENGINE_STATUS));
    stuck = systoliq_list_recover(e, 1000);
    return stuck ? stuck : error;
}

size_t systoliq_tiled_bytes(const systoliq_engine *e, const systoliq_job *job) { return systoliq_b_bytes(e, job); }

void systoliq_tile_b(const systoliq_engine *e, const systoliq_job *job, const void *b, void *tiled) {
    const uint8_t *from = (const uint8_t *)b;
    uint8_t *to = (uint8_t *)tiled;
    uint32_t steps = ceil_div(job->k, e->depth), tiles = ceil_div(job->n, e->cols), h, t, c, d;
    for (h = 0; h < tiles; h++)
        for (t = 0; t < steps; t++)
            for (c = 0; c < e->cols; c++)
                for (d = 0; d < e->depth; d++) {
                    uint32_t column = h * e->cols + c, k = t * e->depth + d;
                    *to++ = column < job->n && k < job->k ? from[(size_t)k * job->n + column] : 0;
                }
}
