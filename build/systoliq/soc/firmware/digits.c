/* Handwritten digits, classified by the engine and again by the processor alone: checks the bits, reports cycles. */
#include "board.h"
#include "digits_data.h"
#include "product.h"

#define LIMIT 100000000u /* polls of the state */
#define ROOM 512u        /* words of a list: one job of few columns */

static uint32_t list_words[ROOM];
static int8_t of_engine[IMAGES][CLASSES], of_processor[IMAGES][CLASSES];
static uint8_t tiled[TILED_BYTES];

static void say(const char *text, uint32_t number) {
    put_text(text);
    put_number(number);
    put_text("\n");
}

static uint32_t differ(const int8_t *one, const int8_t *other) {
    uint32_t count = 0, i;
    for (i = 0; i < IMAGES * CLASSES; i++) count += one[i] != other[i];
    return count;
}

static uint32_t right(void) {
    uint32_t count = 0, i, c;
    for (i = 0; i < IMAGES; i++) {
        uint32_t best = 0;
        for (c = 1; c < CLASSES; c++)
            if (of_engine[i][c] > of_engine[i][best]) best = c;
        count += best == labels[i];
    }
    return count;
}

static int prepare(const systoliq_engine *e, systoliq_list *list, systoliq_job *job, systoliq_place *place) {
    static uint32_t multiplier[CLASSES];
    static uint8_t shift[CLASSES];
    uint32_t c;
    for (c = 0; c < CLASSES; c++)
        if (systoliq_scale(scale[c], &multiplier[c], &shift[c])) return SYSTOLIQ_BAD_SCALE;
    job->multiplier = multiplier;
    job->shift = shift;
    if (e->depth > 1) {
        systoliq_tile_b(e, job, weights, tiled);
        place->b = (uint32_t)(uintptr_t)tiled;
        place->b_stride = 0;
    }
    systoliq_list_begin(list, e, SOC_BUS_BYTES, list_words, ROOM);
    systoliq_list_add(list, job, place);
    return systoliq_list_end(list);
}

int main(void) {
    systoliq_engine e;
    systoliq_list list;
    systoliq_job job = {IMAGES, INPUTS, CLASSES, 0, 0, 0, 0, A_ZERO_POINT, 0, Y_ZERO_POINT, 0, 0, bias, 0, 0};
    systoliq_place rows = {0, INPUTS, 0, CLASSES, 0, CLASSES}, place;
    uint32_t begun, prepared, engine_cycles, processor_cycles, wrong;
    int error = find_engine(&e);
    set_leds(1);
    rows.a = (uint32_t)(uintptr_t)images;
    rows.b = (uint32_t)(uintptr_t)weights;
    rows.y = (uint32_t)(uintptr_t)of_engine;
    place = rows;
    if (!error) {
        put_text("engine ");
        put_number(e.rows);
        put_text(" x ");
        put_number(e.cols);
        say(", depth ", e.depth);
        begun = cycles();
        error = prepare(&e, &list, &job, &place);
        prepared = cycles() - begun;
    }
    if (!error) {
        begun = cycles();
        error = systoliq_list_play(&e, (uint32_t)(uintptr_t)list_words, list.used, LIMIT);
        engine_cycles = cycles() - begun;
    }
    if (error) {
        say("FAIL: error ", (uint32_t)error);
        put_end();
        return 1;
    }
    rows.y = (uint32_t)(uintptr_t)of_processor;
    begun = cycles();
    product(&job, &rows);
    processor_cycles = cycles() - begun;

    say("images ", IMAGES);
    say("classified right ", right());
    say("engine differs from golden in ", differ(&of_engine[0][0], &golden[0][0]));
    say("processor differs from golden in ", differ(&of_processor[0][0], &golden[0][0]));
    say("cycles to prepare the list ", prepared);
    say("cycles of the engine ", engine_cycles);
    say("cycles of the processor alone ", processor_cycles);
    say("times as fast ", processor_cycles / engine_cycles);
    say("times as fast, with the list ", processor_cycles / (engine_cycles + prepared));
    wrong = differ(&of_engine[0][0], &golden[0][0]) + differ(&of_processor[0][0], &golden[0][0]) + (uint32_t)fault();
    put_text(wrong ? "FAIL\n" : "PASS\n");
    set_leds(wrong ? 2 : 3);
    put_end();
    return wrong != 0;
}
