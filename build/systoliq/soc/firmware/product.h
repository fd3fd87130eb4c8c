/* The same product by the processor alone, to the bit. */
#ifndef PRODUCT_H
#define PRODUCT_H

#include "engine_lists.h"

/* Y of a job whose matrices lie row by row (b_stride is not 0). Sums wrap as int32 does. */
void product(const systoliq_job *job, const systoliq_place *place);

/* A sum of column n as Y has it: as a float32, times the scale as one, rounded half to even, plus the zero point; in
 * integers, since the processor has no floats. */
int32_t product_rescale(const systoliq_job *job, uint32_t n, int32_t sum);

#endif
