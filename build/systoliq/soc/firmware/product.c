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

/* value / 2^bits, rounded half to even; bits from 1 to 31. */
static uint32_t halved(uint32_t value, uint32_t bits) {
    uint32_t whole = value >> bits, half = (uint32_t)1 << (bits - 1), rest = value & (2 * half - 1);
    return whole + (rest > half || (rest == half && (whole & 1)));
}

/* The product of two mantissas of 24 bits as a mantissa, and its left shift. */
static uint32_t multiplied(uint32_t one, uint32_t other, int32_t *exponent) {
    uint64_t exact = (uint64_t)one * other;
    uint32_t bits = exact >> 47 ? 24 : 23, rest = (uint32_t)exact & (((uint32_t)1 << bits) - 1);
    uint32_t whole = (uint32_t)(exact >> bits), half = (uint32_t)1 << (bits - 1);
    *exponent += (int32_t)bits;
    return whole + (rest > half || (rest == half && (whole & 1)));
}

/* The bits of a number that is not 0. */
static uint32_t bits_of(uint32_t value) {
    uint32_t bits = 1, step;
    for (step = 16; step; step /= 2)
        if (value >> step) {
            value >>= step;
            bits += step;
        }
    return bits;
}

int32_t product_rescale(const systoliq_job *job, uint32_t n, int32_t sum) {
    int32_t least = job->y_unsigned ? 0 : -128, exponent, y;
    uint32_t size = sum < 0 ? 0u - (uint32_t)sum : (uint32_t)sum, bits;
    if (!size || !job->multiplier[n]) return job->y_zero_point;
    bits = bits_of(size);
    exponent = (int32_t)bits - 24;
    size = bits > 24 ? halved(size, bits - 24) : size << (24 - bits); /* 2^24 at the most: then a bit more below */
    if (size >> 24) {
        size >>= 1;
        exponent++;
    }
    size = multiplied(size, job->multiplier[n], &exponent);
    exponent -= job->shift[n];
    if (exponent >= 0)
        y = 1 << 24; /* beyond any result */
    else
        y = exponent < -25 ? 0 : (int32_t)halved(size, (uint32_t)-exponent);
    y = (sum < 0 ? -y : y) + job->y_zero_point;
    return y < least ? least : y > least + 255 ? least + 255 : y;
}

void product(const systoliq_job *job, const systoliq_place *place) {
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
            if (!job->y_int32) y[j] = (uint8_t)product_rescale(job, j, (int32_t)sum);
            for (byte = 0; job->y_int32 && byte < 4; byte++) y[4 * j + byte] = (uint8_t)(sum >> 8 * byte);
        }
    }
}
