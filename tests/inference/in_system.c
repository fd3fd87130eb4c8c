/* A network in a system's memory: its one list by the engine, or pixels of its convolutions by the processor alone. */
#include "board.h"
#include "product.h"

#define POLLS 100000000u
#define MOST_CHANNELS 1024

/* A pixel of a convolution with int8 in and out; channels lie side by side. Weights lie [out][y][x][channel], of a
 * depthwise one [y][x][channel]. A bias has -x_zero times its weights in it. Addresses and float32 bits are words. */
typedef struct {
    int32_t height, width, channels, kernel, stride, top, left, out, depthwise, row, column;
    uint32_t x, weights, bias, scale, y;
    int32_t x_zero, y_zero;
} pixel;

/* What to do: a list, if it has words, and Y behind it; then pixels. */
typedef struct {
    uint32_t list, words, y, y_bytes, pixels;
} task;

static uint32_t multipliers[MOST_CHANNELS];
static uint8_t shifts[MOST_CHANNELS];

static int32_t dot(const int8_t *a, const int8_t *b, int32_t k) {
    int32_t sum = 0;
    for (; k >= 4; k -= 4, a += 4, b += 4) sum += a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
    for (; k; k--) sum += *a++ * *b++;
    return sum;
}

static int32_t total(const int8_t *b, int32_t stride, int32_t k) {
    int32_t sum = 0;
    for (; k; k--, b += stride) sum += *b;
    return sum;
}

/* product_rescale, but where no rounding of a float32 can matter it takes the exact product's nearest integer. */
static int32_t rescaled(const systoliq_job *job, uint32_t n, int32_t sum) {
    uint32_t size = sum < 0 ? 0u - (uint32_t)sum : (uint32_t)sum, shift = job->shift[n];
    uint64_t exact = (uint64_t)size * job->multiplier[n], half, rest, far;
    int32_t y;
    if (!shift || shift > 47) return product_rescale(job, n, sum);
    half = (uint64_t)1 << (shift - 1);
    rest = exact & (2 * half - 1);
    far = rest > half ? rest - half : half - rest;
    if (far <= (exact >> 22) + 1 || exact >> shift > 1 << 20) return product_rescale(job, n, sum);
    y = (int32_t)(exact >> shift) + (rest > half);
    y = (sum < 0 ? -y : y) + job->y_zero_point;
    return y < -128 ? -128 : y > 127 ? 127 : y;
}

static int is_outside(int32_t at, int32_t size) { return at < 0 || at >= size; }

/* The sum of an output channel, all of whose taps are in the image, or not. */
static int32_t convolved(const pixel *p, int32_t m, int32_t y, int32_t x, int inside) {
    const int8_t *image = (const int8_t *)(uintptr_t)p->x;
    int32_t row = p->kernel * p->channels, sum = 0, down, across;
    const int8_t *weights = (const int8_t *)(uintptr_t)p->weights + m * p->kernel * row;
    for (down = 0; down < p->kernel; down++, weights += row) {
        const int8_t *line = image + ((y + down) * p->width + x) * p->channels;
        if (inside) {
            sum += dot(line, weights, row);
            continue;
        }
        for (across = 0; across < p->kernel; across++) {
            const int8_t *tap = weights + across * p->channels;
            if (is_outside(y + down, p->height) || is_outside(x + across, p->width))
                sum += p->x_zero * total(tap, 1, p->channels);
            else
                sum += dot(line + across * p->channels, tap, p->channels);
        }
    }
    return sum;
}

static int32_t depthwise(const pixel *p, int32_t m, int32_t y, int32_t x, int inside) {
    const int8_t *line = (const int8_t *)(uintptr_t)p->x + (y * p->width + x) * p->channels + m;
    const int8_t *weight = (const int8_t *)(uintptr_t)p->weights + m;
    int32_t c = p->channels, sum = 0, down, across;
    for (down = 0; down < p->kernel; down++, line += p->width * c) {
        const int8_t *tap = line;
        if (inside) {
            for (across = p->kernel; across; across--, tap += c, weight += c) sum += *tap * *weight;
            continue;
        }
        for (across = 0; across < p->kernel; across++, tap += c, weight += c)
            sum += (is_outside(y + down, p->height) || is_outside(x + across, p->width) ? p->x_zero : *tap) * *weight;
    }
    return sum;
}

static void compute(const pixel *p, const systoliq_job *job) {
    int32_t y = p->row * p->stride - p->top, x = p->column * p->stride - p->left, m;
    int inside = y >= 0 && x >= 0 && y + p->kernel <= p->height && x + p->kernel <= p->width;
    int32_t (*sum)(const pixel *, int32_t, int32_t, int32_t, int) = p->depthwise ? depthwise : convolved;
    const int32_t *bias = (const int32_t *)(uintptr_t)p->bias;
    int8_t *out = (int8_t *)(uintptr_t)p->y;
    for (m = 0; m < p->out; m++) out[m] = (int8_t)rescaled(job, (uint32_t)m, bias[m] + sum(p, m, y, x, inside));
}

static void send(const char *what, uint32_t took, uint32_t from, uint32_t bytes) {
    put_text(what);
    put_number(took);
    put_text(" ");
    for (; bytes; bytes--) put_hex(*(const uint8_t *)(uintptr_t)from++);
    put_text("\n");
}

static void run_pixel(const pixel *p) {
    systoliq_job job = {0};
    uint32_t begun;
    int32_t m;
    job.multiplier = multipliers;
    job.shift = shifts;
    job.y_zero_point = p->y_zero;
    for (m = 0; m < p->out; m++)
        if (systoliq_scale(((const float *)(uintptr_t)p->scale)[m], &multipliers[m], &shifts[m])) put_text("scale\n");
    begun = cycles();
    compute(p, &job);
    send("pixel ", cycles() - begun, p->y, (uint32_t)p->out);
}

int main(void) {
    systoliq_engine e;
    const task *given = (const task *)(uintptr_t)SOC_JOBS;
    const pixel *pixels = (const pixel *)(const void *)(given + 1);
    uint32_t begun, index;
    int error;
    if (find_engine(&e)) {
        put_text("no engine\n");
    } else if (given->words) {
        begun = cycles();
        error = systoliq_list_play(&e, given->list, given->words, POLLS);
        begun = cycles() - begun;
        if (error) {
            put_text("failed ");
            put_number((uint32_t)error);
            put_text("\n");
        }
        send("list ", begun, given->y, given->y_bytes);
    }
    for (index = 0; index < given->pixels; index++) run_pixel(&pixels[index]);
    put_text(fault() ? "fault\n" : "done\n");
    put_end();
    return 0;
}
