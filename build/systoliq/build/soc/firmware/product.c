/* The same product by the processor alone; see product.h. */
#include "product.h"

/* Zero points are taken out of the inner loop: sum (a - za)(b - zb) = sum ab - za sum b - zb sum a + k za zb. */
#define DOT(name, a_type, b_type)                                                                     \
    static uint32_t name(const void *a_from, const void *b_from, uint32_t b_stride, uint32_t k) {     \
        const a_type *a = (const a_type *)a_from;                                                     \
        const b_type *b = (const b_type *)b_from;                                                     \
        uint32_t sum = 0;                                                                             \
        for (; k >= 4; k -= 4, a += 4) {                                                              \
            sum += (uint32_t)(a[0] * *b), b += b_stride;                                              \
            sum += (uint32_t)(a[1] * *b), b += b_stride;                                              \
            sum += (uint32_t)(a[2] * *b), b += b_stride;                                              \
            sum += (uint32_t)(a[3] * *b), b += b_stride;                                              \
        }                                                                                             \
        for (; k; k--, b += b_stride) sum += (uint32_t)(*a++ * *b);                                   \
        return sum;                                                                                   \
    }

DOT(dot_ss, int8_t, int8_t)
DOT(dot_su, int8_t, uint8_t)
DOT(dot_us, uint8_t, int8_t)
DOT(dot_uu, uint8_t, uint8_t)

static uint32_t sum_of(const void *from, uint32_t stride, uint32_t count, int is_unsigned) {
    const uint8_t *byte = (const uint8_t *)from;
    uint32_t sum = 0;
    for (; count; count--, byte += stride) sum += is_unsigned ? (uint32_t)*byte : (uint32_t)(int8_t)*byte;
    return sum;
}

static int32_t rescaled(const systoliq_job *job, int32_t sum, float scale) {
    int32_t least = job->y_unsigned ? 0 : -128, zero_point = job->y_zero_point;
    float y = (float)sum * scale, low = (float)(least - zero_point), high = (float)(least + 255 - zero_point);
    float round = y < 0 ? -8388608.0f : 8388608.0f; /* 2^23: what is added to it is rounded to a whole number */
    if (y < low) return least;
    if (y > high) return least + 255;
    y = (y + round) - round;
    return (int32_t)y + zero_point;
}

void product(const systoliq_job *job, const float *scale, const systoliq_place *place) {
    uint32_t (*dot)(const void *, const void *, uint32_t, uint32_t) =
        job->a_unsigned ? (job->b_unsigned ? dot_uu : dot_us) : (job->b_unsigned ? dot_su : dot_ss);
    uint32_t i, j, k = job->k;
    for (j = 0; j < job->n; j++) {
        const uint8_t *b = (const uint8_t *)(uintptr_t)place->b + j;
        int32_t b_zero = job->b_zero_points ? job->b_zero_points[j] : job->b_zero_point;
        uint32_t b_sum = sum_of(b, place->b_stride, k, job->b_unsigned), bias = job->bias ? (uint32_t)job->bias[j] : 0;
        for (i = 0; i < job->m; i++) {
            const uint8_t *a = (const uint8_t *)(uintptr_t)place->a + i * place->a_stride;
            uint8_t *y = (uint8_t *)(uintptr_t)place->y + i * place->y_stride;
            int32_t a_zero = job->a_zero_points ? job->a_zero_points[i] : job->a_zero_point;
            uint32_t sum = bias + dot(a, b, place->b_stride, k) - (uint32_t)a_zero * b_sum;
            if (b_zero)
                sum -= (uint32_t)b_zero * (sum_of(a, 1, k, job->a_unsigned) - k * (uint32_t)a_zero);
            uint32_t byte;
            if (!job->y_int32) y[j] = (uint8_t)rescaled(job, (int32_t)sum, scale[j]);
            for (byte = 0; job->y_int32 && byte < 4; byte++) y[4 * j + byte] = (uint8_t)(sum >> 8 * byte);
        }
    }
}
