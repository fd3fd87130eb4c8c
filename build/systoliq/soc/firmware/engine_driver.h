/* Driver of the systoliq engine: registers, tables, operands in memory, and a job from start to end. C99 and C++.
 *
 *   systoliq_probe        is there an engine, and what size is it?
 *   systoliq_check        would it take this job?
 *   systoliq_pack_a, _b   operands as the words of their streams
 *   systoliq_scale        a scale as the multiplier and shift of the column table
 *   systoliq_load_tables  constants of columns and rows; once for jobs that share them
 *   systoliq_run          run a job, with recovery after errors
 *   systoliq_unpack_y     results from their stream
 *
 * It allocates no memory, has no state, and uses the system through the hooks below only. The steps follow
 * systoliq.hw.engine.host.driver, and the packing systoliq.hw.engine.host.packing; docs/engine.md describes both.
 */
#ifndef SYSTOLIQ_ENGINE_DRIVER_H
#define SYSTOLIQ_ENGINE_DRIVER_H

#include <stddef.h>
#include <stdint.h>

#include "systoliq_engine.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What functions return: 0, a SYSTOLIQ_ENGINE_ERROR_ of the register map (1 to 255), or one of these. */
enum {
    SYSTOLIQ_OK = 0,
    SYSTOLIQ_NO_ENGINE = 256,       /* ID is not an engine's */
    SYSTOLIQ_OTHER_VERSION = 257,   /* the register map's major version is not this driver's */
    SYSTOLIQ_BAD_SCALE = 258,       /* the scale is negative, infinite or NaN */
    SYSTOLIQ_TIMEOUT = 259,         /* the limit was reached; the engine is ready again */
    SYSTOLIQ_TRANSFER_FAILED = 260, /* a hook for transfers failed; the engine is ready again */
    SYSTOLIQ_STUCK = 261,           /* the engine stays busy: its results are not taken. Reset it. */
    SYSTOLIQ_BUSY = 262             /* a job runs and needs its tables */
};

typedef enum { SYSTOLIQ_A, SYSTOLIQ_B, SYSTOLIQ_Y } systoliq_stream;

/* The hooks, which you supply. `user` is passed to each; hooks marked so may be 0. */
typedef struct {
    void *user;
    uint32_t (*read_register)(void *user, uint32_t offset);
    void (*write_register)(void *user, uint32_t offset, uint32_t value);
    /* Start a transfer, with tlast on its last word; return 0, or not 0 on failure. */
    int (*send)(void *user, systoliq_stream stream, const void *words, size_t bytes);
    int (*receive)(void *user, void *y, size_t bytes);
    /* 1 when the transfer is complete and, for Y, all of it is in memory; 0 while it runs; -1 on failure. */
    int (*ended)(void *user, systoliq_stream stream);
    /* Stop a running transfer, as the reset of a DMA controller does, and drop its remaining data. */
    void (*stop)(void *user, systoliq_stream stream);
    /* Write the cache back before A and B are sent; invalidate it before and after Y. May be 0. */
    void (*clean)(void *user, const void *data, size_t bytes);
    void (*invalidate)(void *user, void *data, size_t bytes);
    /* Between two polls of the state: sleep until the interrupt, with a time limit. May be 0. */
    void (*wait)(void *user);
} systoliq_hooks;

typedef struct {
    systoliq_hooks hooks;
    /* Filled in by systoliq_probe. */
    uint32_t rows, cols, depth, lanes;
    uint32_t a_words, b_words, max_columns, max_rows;
    int weight_stationary;
} systoliq_engine;

/* A [m, k] times B [k, n]. If an array of zero points is given (not 0), it replaces the single zero point. */
typedef struct {
    uint32_t m, k, n;
    int a_unsigned, b_unsigned, y_unsigned; /* uint8, not int8 */
    int y_int32;                            /* results are the int32 sums; y_unsigned does not matter then */
    int32_t a_zero_point, b_zero_point, y_zero_point;
    const int32_t *a_zero_points; /* [m] */
    const int32_t *b_zero_points; /* [n] */
    const int32_t *bias;          /* [n], or 0: no bias */
    const uint32_t *multiplier;   /* [n], from systoliq_scale; may be 0 with y_int32 */
    const uint8_t *shift;         /* [n], the same */
} systoliq_job;

int systoliq_probe(systoliq_engine *e);

/* The error that the engine would end the job with, from its sizes alone. */
int systoliq_check(const systoliq_engine *e, const systoliq_job *job);

/* Bytes of each stream; Y is rounded up to a whole beat, which some transfers write to memory. */
size_t systoliq_a_bytes(const systoliq_engine *e, const systoliq_job *job);
size_t systoliq_b_bytes(const systoliq_engine *e, const systoliq_job *job);
size_t systoliq_y_bytes(const systoliq_engine *e, const systoliq_job *job);

/* `a` is [m][k], `b` [k][n], bytes of int8 or uint8; the functions above return the size of `words`. */
void systoliq_pack_a(const systoliq_engine *e, const systoliq_job *job, const void *a, void *words);
void systoliq_pack_b(const systoliq_engine *e, const systoliq_job *job, const void *b, void *words);

/* `y` becomes [m][n], bytes or int32_t in the byte order of the stream, which is little-endian. */
void systoliq_unpack_y(const systoliq_engine *e, const systoliq_job *job, const void *stream, void *y);

/* scale = multiplier / 2^shift, exactly. `scale` is (float)((float)(a_scale * b_scale) / y_scale). */
int systoliq_scale(float scale, uint32_t *multiplier, uint8_t *shift);

/* Write the column table and, with a_zero_points, the row table. Not while a job runs. */
int systoliq_load_tables(const systoliq_engine *e, const systoliq_job *job);

/* Run a job whose tables are loaded. `a` and `b` are packed, `y` receives the stream. `limit` is the largest number of
 * polls for each of: the job, its transfers, the recovery. BUSY_CYCLES and the other counters can be read afterwards. */
int systoliq_run(const systoliq_engine *e, const systoliq_job *job, const void *a, const void *b, void *y,
                 uint32_t limit);

/* Make the engine ready after an error; systoliq_run calls this. Do not stop the transfer of Y before. */
int systoliq_recover(const systoliq_engine *e, uint32_t limit);

#ifdef __cplusplus
}
#endif

#endif /* SYSTOLIQ_ENGINE_DRIVER_H */
