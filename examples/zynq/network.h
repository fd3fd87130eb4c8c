/* The network digits-cnn on a systoliq DMA engine: one call for an image. */
#ifndef NETWORK_H
#define NETWORK_H

#include <stdint.h>

#include "systoliq_example.h"

#define NETWORK_PIXELS 64
#define NETWORK_CLASSES 10

/* Classify an image of 8 x 8 pixels, 0 to 16 each, line by line. `board` has the hooks read, write and memory, and
   those for caches and time limit; this function sets the others. Returns the class, or -1 if a step failed; `scores`
   are the int8 results of the last layer. */
int network_classify(systoliq_board *board, const float *image, int8_t *scores);

#endif /* NETWORK_H */
