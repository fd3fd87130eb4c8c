/* The same product by the processor alone, to the bit. */
#ifndef PRODUCT_H
#define PRODUCT_H

#include "engine_lists.h"

/* Y of a job whose matrices lie row by row (b_stride is not 0); `scale` [n] is what the job's multipliers were made
 * of. Sums wrap as int32 does; a sum becomes a float, is multiplied, and rounded half to even. */
void product(const systoliq_job *job, const float *scale, const systoliq_place *place);

#endif
