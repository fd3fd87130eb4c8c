/* Lists of jobs for a systoliq DMA engine: written to memory, run by the engine. C99 and C++.
 *
 *   systoliq_list_begin   begin an empty list, in your memory
 *   systoliq_list_add     add a job, which runs after the previous ones without the processor
 *   systoliq_list_end     complete the list
 *   systoliq_list_play    run the list, with recovery after errors
 *   systoliq_tile_b       B as the engine's words, for arrays of a depth of more than 1, or to read it faster
 *
 * Use it with engine_driver.c, which defines engine, jobs and scales. The commands equal those of
 * systoliq.hw.dma.commands, word for word; docs/dma.md describes them.
 */
#ifndef SYSTOLIQ_ENGINE_LISTS_H
#define SYSTOLIQ_ENGINE_LISTS_H

#include "engine_driver.h"
#include "systoliq_dma.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Number of tables of constants that a list keeps, to share them between jobs; the oldest is dropped. */
#ifndef SYSTOLIQ_LIST_TABLES
#define SYSTOLIQ_LIST_TABLES 16
#endif

/* Return values in addition to the codes of engine_driver.h. */
enum {
    SYSTOLIQ_LIST_FULL = 270,    /* the memory of the list is too small: begin a new list */
    SYSTOLIQ_BAD_PLACE = 271,    /* B row by row on an engine of a depth of more than 1: see systoliq_tile_b */
    SYSTOLIQ_MEMORY_FAILED = 272, /* memory answered the engine with an error; the engine is ready again */
    SYSTOLIQ_LIST_REFUSED = 273   /* the list is invalid, or for another engine; the engine is ready again */
};

/* Placement of a job's matrices, row by row: addresses on the bus, and bytes from a row to the next.
 * b_stride 0: B has the layout of systoliq_tile_b. */
typedef struct {
    uint32_t a, a_stride, b, b_stride, y, y_stride;
} systoliq_place;

/* Entries of a table that jobs of the list use. Private. */
typedef struct {
    uint32_t first, count, last;
    const systoliq_job *job;
} systoliq_held;

typedef struct {
    uint32_t size, next, oldest, count, used;
    systoliq_held held[SYSTOLIQ_LIST_TABLES];
} systoliq_ring;

typedef struct {
    uint32_t *words; /* yours, a multiple of 4 on the bus too */
    uint32_t used;   /* words of the list */
    uint32_t jobs;
    uint32_t room, bus_bytes;
    int error;
    const systoliq_engine *engine;
    uint32_t walks[3][7]; /* settings of the previous jobs */
    systoliq_ring columns, rows;
} systoliq_list;

/* `bus_bytes` of the engine's masters; `room` words at `words`. */
void systoliq_list_begin(systoliq_list *list, const systoliq_engine *e, uint32_t bus_bytes, uint32_t *words,
                         uint32_t room);

/* The job and its arrays must stay until systoliq_list_end, the matrices until the list has run. After an error, only
 * the previous jobs of the list can be used: begin a new list. */
int systoliq_list_add(systoliq_list *list, const systoliq_job *job, const systoliq_place *place);
int systoliq_list_end(systoliq_list *list);

/* Run `words` words at `address` on the bus, with at most `limit` polls of the state: 0, or the error of the job that
 * failed, or one of the above. STATUS.jobs counts the jobs that ended. */
int systoliq_list_play(const systoliq_engine *e, uint32_t address, uint32_t words, uint32_t limit);

/* Make engine and masters ready after an error; systoliq_list_play calls this. */
int systoliq_list_recover(const systoliq_engine *e, uint32_t limit);

/* B [k][n], bytes, as the engine's words: for each tile of columns, `depth` rows side by side, column by column. */
size_t systoliq_tiled_bytes(const systoliq_engine *e, const systoliq_job *job);
void systoliq_tile_b(const systoliq_engine *e, const systoliq_job *job, const void *b, void *tiled);

#ifdef __cplusplus
}
#endif

#endif /* SYSTOLIQ_ENGINE_LISTS_H */
