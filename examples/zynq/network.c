/* The host's steps of digits-cnn, as program.txt lists them: the rest runs on the engine.

   step 1: host    QuantizeLinear, Transpose     pixels
   step 2: engine  conv1                         8 x 8 pixels, 4 channels
   step 3: engine  conv2                         4 x 4 pixels, 8 channels
   step 4: host    Transpose, Flatten            channels, each with its pixels
   step 5: engine  fc                            10 scores
   step 6: host    DequantizeLinear              here: the class with the largest score */
#include "network.h"

#include <math.h>

/* Scale and zero point of the input: host_01.onnx, QuantizeLinear. */
#define IMAGE_SCALE 0.125f
#define IMAGE_ZERO_POINT (-128)

#define CONV1_BYTES (64 * 4)
#define CORNERS 16
#define CHANNELS 8

typedef struct {
    const float *image;
    uint8_t pixels[NETWORK_PIXELS];
    uint8_t conv1[CONV1_BYTES];
    uint8_t conv2[CORNERS * CHANNELS]; /* pixel after pixel, each with its channels */
    uint8_t flat[CHANNELS * CORNERS];  /* channel after channel, each with its pixels */
    uint8_t *scores;
} activations;

/* QuantizeLinear: halves are rounded to even. */
static uint8_t quantized(float x) {
    float q = rintf(x / IMAGE_SCALE) + (float)IMAGE_ZERO_POINT;
    if (q < -128.0f) q = -128.0f;
    if (q > 127.0f) q = 127.0f;
    return (uint8_t)(int8_t)q;
}

static const uint8_t *operand(void *user, uint32_t step, uint32_t operation, char which) {
    activations *of = user;
    (void)operation;
    (void)which; /* weights are in program.bin, so only A is asked for */
    return step == 2 ? of->pixels : of->flat;
}

static uint8_t *result(void *user, uint32_t step, uint32_t operation) {
    activations *of = user;
    (void)operation;
    return step == 2 ? of->conv1 : step == 3 ? of->conv2 : of->scores;
}

static int finish(void *user, uint32_t step) {
    activations *of = user;
    int i, j;
    if (step == 1)
        for (i = 0; i < NETWORK_PIXELS; i++) of->pixels[i] = quantized(of->image[i]);
    if (step == 4)
        for (i = 0; i < CHANNELS; i++)
            for (j = 0; j < CORNERS; j++) of->flat[i * CORNERS + j] = of->conv2[j * CHANNELS + i];
    return 0;
}

int network_classify(systoliq_board *board, const float *image, int8_t *scores) {
    activations of = {0};
    int i, best = 0;
    of.image = image;
    of.scores = (uint8_t *)scores;
    board->user = &of;
    board->operand = operand;
    board->result = result;
    board->finish = finish;
    board->zero_point = 0; /* all are in the lists */
    if (systoliq_run(board)) return -1;
    for (i = 1; i < NETWORK_CLASSES; i++)
        if (scores[i] > scores[best]) best = i;
    return best;
}
