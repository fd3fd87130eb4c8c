/* A table of jobs in memory, behind this program: each of its lists is carried out by the engine, and its results are
 * sent as hexadecimal digits; where the table asks for it, the processor does them again. */
#include "board.h"
#include "product.h"

#define LIMIT 10000000u /* polls of the state */

enum { A_UNSIGNED = 1, B_UNSIGNED = 2, Y_UNSIGNED = 4, Y_INT32 = 8, PER_ROW = 16 };

/* All fields are words; places are addresses, or 0 for none. */
typedef struct {
    uint32_t m, k, n, flags;
    int32_t a_zero_point, y_zero_point;
    uint32_t a_zero_points, b_zero_points, bias, scale;
    systoliq_place place;
    uint32_t b_rows; /* B row by row without gaps, for the processor */
} entry;

typedef struct {
    uint32_t lists, room, room_end, again; /* free memory; whether the processor repeats the jobs */
} table;

static uint32_t allocate(uint32_t *room, uint32_t bytes) {
    uint32_t at = *room;
    *room += (bytes + 15) & ~15u;
    return at;
}

static void make_job(const entry *from, systoliq_job *job, uint32_t *room) {
    uint32_t *multiplier = (uint32_t *)(uintptr_t)allocate(room, 4 * from->n);
    uint8_t *shift = (uint8_t *)(uintptr_t)allocate(room, from->n);
    const float *scale = (const float *)(uintptr_t)from->scale;
    uint32_t n;
    job->m = from->m;
    job->k = from->k;
    job->n = from->n;
    job->a_unsigned = (from->flags & A_UNSIGNED) != 0;
    job->b_unsigned = (from->flags & B_UNSIGNED) != 0;
    job->y_unsigned = (from->flags & Y_UNSIGNED) != 0;
    job->y_int32 = (from->flags & Y_INT32) != 0;
    job->a_zero_point = from->a_zero_point;
    job->b_zero_point = 0;
    job->y_zero_point = from->y_zero_point;
    job->a_zero_points = (from->flags & PER_ROW) ? (const int32_t *)(uintptr_t)from->a_zero_points : 0;
    job->b_zero_points = (const int32_t *)(uintptr_t)from->b_zero_points;
    job->bias = (const int32_t *)(uintptr_t)from->bias;
    job->multiplier = multiplier;
    job->shift = shift;
    for (n = 0; scale && n < from->n; n++)
        if (systoliq_scale(scale[n], &multiplier[n], &shift[n])) put_text("bad scale\n");
}

static void send(const entry *from, const char *who) {
    uint32_t row, byte, bytes = from->n * ((from->flags & Y_INT32) ? 4 : 1);
    put_text(who);
    for (row = 0; row < from->m; row++)
        for (byte = 0; byte < bytes; byte++)
            put_hex(((const uint8_t *)(uintptr_t)from->place.y)[row * from->place.y_stride + byte]);
    put_text("\n");
}

/* A list of `count` jobs. */
static void run(const systoliq_engine *e, const entry *entries, uint32_t count, const table *of, uint32_t again) {
    uint32_t room = of->room, i, begun;
    systoliq_job *jobs = (systoliq_job *)(uintptr_t)allocate(&room, count * sizeof(systoliq_job));
    systoliq_list list;
    int error = SYSTOLIQ_OK;
    for (i = 0; i < count; i++) make_job(&entries[i], &jobs[i], &room);
    systoliq_list_begin(&list, e, SOC_BUS_BYTES, (uint32_t *)(uintptr_t)room, (of->room_end - room) / 4);
    for (i = 0; i < count && !error; i++) error = systoliq_list_add(&list, &jobs[i], &entries[i].place);
    if (!error) error = systoliq_list_end(&list);
    begun = cycles();
    if (!error) error = systoliq_list_play(e, room, list.used, LIMIT);
    begun = cycles() - begun;
    put_text("list ");
    put_number((uint32_t)error);
    put_text(" ");
    put_number(begun);
    put_text("\n");
    for (i = 0; i < count && !error; i++) {
        send(&entries[i], "engine ");
        if (again) {
            systoliq_place place = entries[i].place;
            place.b = entries[i].b_rows;
            place.b_stride = entries[i].n;
            product(&jobs[i], &place);
            send(&entries[i], "processor ");
        }
    }
}

int main(void) {
    systoliq_engine e;
    const table *of = (const table *)(uintptr_t)SOC_JOBS;
    const uint32_t *at = (const uint32_t *)(const void *)(of + 1);
    uint32_t list;
    int error = find_engine(&e);
    if (error) {
        put_text("no engine\n");
    } else {
        for (list = 0; list < of->lists; list++) {
            uint32_t count = *at++;
            run(&e, (const entry *)(const void *)at, count, of, of->again);
            at += count * (sizeof(entry) / 4);
        }
        put_text(fault() ? "fault\n" : "done\n");
    }
    put_end();
    return 0;
}
