// The kernels of transformers, included once for each instruction set. VERSION names the functions, TARGET is their attribute.

#include "half_kernels.h"

// Calls `body` with the number of each group of four pixels, then copies the rest through a group of its own.
#define ROW(type, group, source, target_type, target_group, target, body)              \
    long x = 0;                                                                        \
    for (; x + 4 <= pixels; x += 4) {                                                  \
        group in;                                                                      \
        LOAD(in, (source) + x * 4);                                                    \
        target_group out = body;                                                       \
        STORE((target) + x * 4, out);                                                  \
    }                                                                                  \
    if (x < pixels) {                                                                  \
        group in = {0};                                                                \
        memcpy(&in, (source) + x * 4, (size_t)(pixels - x) * 4 * sizeof(type));        \
        target_group out = body;                                                       \
        memcpy((target) + x * 4, &out, (size_t)(pixels - x) * 4 * sizeof(target_type)); \
    }

TARGET static void VERSION(read8)(float *components, const uint8_t *row, long pixels) {
    ROW(uint8_t, u8x16, row, float, f32x16, components, READ8(in))
}

TARGET static void VERSION(read16)(float *components, const uint16_t *row, long pixels) {
    ROW(uint16_t, u16x16, row, float, f32x16, components, READ16(in))
}

TARGET static void VERSION(write8)(uint8_t *row, const float *components, long pixels) {
    ROW(float, f32x16, components, uint8_t, u8x16, row, WRITE8(in))
}

TARGET static void VERSION(write16)(uint16_t *row, const float *components, long pixels) {
    ROW(float, f32x16, components, uint16_t, u16x16, row, WRITE16(in))
}

#define COLUMNS                                            \
    f32x4 r, g, b, a;                                      \
    LOAD(r, columns);                                      \
    LOAD(g, columns + 4);                                  \
    LOAD(b, columns + 8);                                  \
    LOAD(a, columns + 12);                                 \
    const f32x16 red = REPEAT(r), green = REPEAT(g), blue = REPEAT(b), alpha = REPEAT(a);
#define PRODUCT(v) (EACH(v, 0) * red + EACH(v, 1) * green + EACH(v, 2) * blue + EACH(v, 3) * alpha)

TARGET static void VERSION(matrix)(float *components, const float columns[16], long pixels) {
    COLUMNS
    ROW(float, f32x16, components, float, f32x16, components, PRODUCT(in))
}

#define PRODUCT8(bytes)                           \
    ({                                            \
        const f32x16 components = READ8(bytes);   \
        const f32x16 product = PRODUCT(components); \
        WRITE8(product);                          \
    })

// Alpha less each color, and 0 if that is negative; alpha as it is.
#define INVERTED(v)                                                                                        \
    ((__builtin_elementwise_max(__builtin_shufflevector(v, v, 3, 3, 3, 3, 7, 7, 7, 7, 11, 11, 11, 11, 15, 15, 15, 15), v) - v) \
     | (v & (u8x16){0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255}))

TARGET static void VERSION(matrix8)(uint8_t *row, const uint8_t *source, const float columns[16], long pixels) {
    // Needs no rounding.
    const float inversion[16] = {-1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1, 0, 1, 1, 1, 1};
    if (memcmp(columns, inversion, sizeof inversion) == 0) {
        ROW(uint8_t, u8x16, source, uint8_t, u8x16, row, INVERTED(in))
        return;
    }
    COLUMNS
    ROW(uint8_t, u8x16, source, uint8_t, u8x16, row, PRODUCT8(in))
}

TARGET static void VERSION(filter)(
    float *sums, const float *center, const float *const *before, const float *const *after, const float *weights,
    long taps, long count) {
    for (long i = 0; i < count; i += 16) {
        f32x16 sum, one, other;
        LOAD(sum, center + i);
        sum *= weights[0];
        for (long tap = 0; tap < taps; tap++) {
            LOAD(one, before[tap] + i);
            LOAD(other, after[tap] + i);
            sum += (one + other) * weights[tap + 1];
        }
        STORE(sums + i, sum);
    }
}

// The upper halves of 16 products.
#define PRODUCTS(v, weight) \
    __builtin_convertvector((__builtin_convertvector(v, u32x16) * __builtin_convertvector(weight, u32x16)) >> 16, u16x16)

TARGET static void VERSION(filter_fixed)(
    uint16_t *sums, const uint16_t *center, const uint16_t *const *before, const uint16_t *const *after,
    const uint16_t *weights, long taps, long count) {
    for (long i = 0; i < count; i += 64) {
        u16x16 sum[4], one, other;
        for (long k = 0; k < 4; k++) {
            LOAD(one, center + i + k * 16);
            // Each product loses half a unit in the mean.
            sum[k] = PRODUCTS(one, (u16x16){0} + weights[0]) + (uint16_t)((taps + 1) / 2);
        }
        for (long tap = 0; tap < taps; tap++) {
            const u16x16 weight = (u16x16){0} + weights[tap + 1];
            for (long k = 0; k < 4; k++) {
                LOAD(one, before[tap] + i + k * 16);
                LOAD(other, after[tap] + i + k * 16);
                sum[k] += PRODUCTS(one + other, weight);
            }
        }
        memcpy(sums + i, sum, sizeof(sum));
    }
}

TARGET static void VERSION(read8_fixed)(uint16_t *components, const uint8_t *row, long pixels) {
    ROW(uint8_t, u8x16, row, uint16_t, u16x16, components, __builtin_convertvector(in, u16x16) << 7)
}

TARGET static void VERSION(write8_fixed)(uint8_t *row, const uint16_t *components, long pixels) {
    ROW(uint16_t, u16x16, components, uint8_t, u8x16, row, FIXED8((in + 64) >> 7))
}

#define NEAREST(index) (source + ((index) < 0 ? 0 : (index) < count ? (index) : count - 1) * 16)
#define DIRECT(index) (source + (index) * 16)

// The sum of a box around the first vector. Vectors that are repeated beyond the ends are multiplied instead of added up.
TARGET static void VERSION(box_begin)(f32x16 *sum, const float *source, long count, long radius) {
    f32x16 vector, total;
    LOAD(total, source);
    total *= (float)(radius + 1);
    const long inner = radius < count - 1 ? radius : count - 1;
    for (long i = 1; i <= inner; i++) {
        LOAD(vector, source + i * 16);
        total += vector;
    }
    // Otherwise the last vector may not exist yet.
    if (radius > inner) {
        LOAD(vector, source + (count - 1) * 16);
        total += vector * (float)(radius - inner);
    }
    *sum = total;
}

// Applies a box to the vectors from `from` to `to`.
TARGET static void VERSION(box_part)(
    float *target, const float *source, long count, long radius, float weight, float end_weight, f32x16 *running,
    long from, long to) {
    f32x16 sum = *running;
    const long first = radius + 1 < to ? radius + 1 : to;
    const long last = count - radius - 1 < to ? count - radius - 1 : to;
    long i = from;
#define STEP(address)                                              \
    {                                                              \
        f32x16 before, oldest, after;                              \
        LOAD(before, address(i - radius - 1));                     \
        LOAD(oldest, address(i - radius));                         \
        LOAD(after, address(i + radius + 1));                      \
        const f32x16 result = sum * weight + (before + after) * end_weight; \
        STORE(target + i * 16, result);                            \
        sum += after - oldest;                                     \
    }
    for (; i < first; i++) STEP(NEAREST)
    for (; i < last; i++) STEP(DIRECT)
    for (; i < to; i++) STEP(NEAREST)
#undef STEP
    *running = sum;
}

// Each box follows the previous box as closely as it can, so that shared values stay in the first-level cache.
TARGET static void VERSION(boxes)(
    float *line, float *other, long count, long radius, float weight, float end_weight) {
    float *const lines[4] = {line, other, line, other};
    long done[4] = {count, 0, 0, 0};
    f32x16 sums[4];
    while (done[3] < count) {
        for (int stage = 1; stage <= 3; stage++) {
            const long available = done[stage - 1];
            long to = available == count ? count : available - radius - 1;
            if (stage == 1 && to > done[1] + 64) to = done[1] + 64;
            if (to <= done[stage]) continue;
            if (done[stage] == 0) VERSION(box_begin)(&sums[stage], lines[stage - 1], count, radius);
            VERSION(box_part)(
                lines[stage], lines[stage - 1], count, radius, weight, end_weight, &sums[stage], done[stage], to);
            done[stage] = to;
        }
    }
}

TARGET static void VERSION(spread)(float *line, const float *row, long lane, long pixels) {
    for (long x = 0; x < pixels; x++) memcpy(line + x * 16 + lane * 4, row + x * 4, 16);
}

TARGET static void VERSION(gather)(float *row, const float *line, long lane, long pixels) {
    for (long x = 0; x < pixels; x++) memcpy(row + x * 4, line + x * 16 + lane * 4, 16);
}

TARGET static void VERSION(read_columns16)(float *line, const uint8_t *top, long bytes_per_row, long count) {
    for (long y = 0; y < count; y++) {
        u16x16 words;
        LOAD(words, top + y * bytes_per_row);
        const f32x16 components = READ16(words);
        STORE(line + y * 16, components);
    }
}

TARGET static void VERSION(write_columns8)(uint8_t *top, long bytes_per_row, const float *line, long count) {
    for (long y = 0; y < count; y++) {
        f32x16 components;
        LOAD(components, line + y * 16);
        const u8x16 bytes = WRITE8(components);
        STORE(top + y * bytes_per_row, bytes);
    }
}

TARGET static void VERSION(write_columns16)(uint8_t *top, long bytes_per_row, const float *line, long count) {
    for (long y = 0; y < count; y++) {
        f32x16 components;
        LOAD(components, line + y * 16);
        const u16x16 words = WRITE16(components);
        STORE(top + y * bytes_per_row, words);
    }
}

// The numbers of four pixels, which are integers or numbers of half precision.
TARGET static inline void VERSION(numbers)(f32x16 *numbers, const uint8_t *pixels, long size, bool is_half) {
    if (size == 4) {
        u8x16 bytes;
        LOAD(bytes, pixels);
        *numbers = NUMBERS(bytes);
    } else if (is_half) {
        float components[16];
        VERSION(from_half)(components, (const uint16_t *)pixels, 16);
        LOAD(*numbers, components);
    } else {
        u16x16 words;
        LOAD(words, pixels);
        *numbers = NUMBERS(words);
    }
}

// The weights of the four samples around a point that lies `t` after the second sample.
#define CUBIC(t)                                                                                            \
    ((((f32x4){-0.5f, 1.5f, -1.5f, 0.5f} * (t) + (f32x4){1, -2.5f, 2, -0.5f}) * (t) + (f32x4){-0.5f, 0, 0.5f, 0}) * (t) \
     + (f32x4){0, 1, 0, 0})

// The addresses of four rows of four pixels of `size` bytes. At the edge of the picture they are copied, transparent outside of it.
TARGET static inline void VERSION(around)(
    const uint8_t *rows[4], uint8_t copies[4][32], const ctransform_picture *picture, long column, long line, long size) {
    const long start = line * picture->bytes_per_row + column * size;
    if (column >= 0 && line >= 0 && column + 4 <= picture->width && line + 4 <= picture->height) {
        for (long k = 0; k < 4; k++) rows[k] = picture->base + (start + k * picture->bytes_per_row);
        return;
    }
    const long first = column < 0 ? -column : 0;
    const long end = picture->width - column < 4 ? picture->width - column : 4;
    for (long k = 0; k < 4; k++) {
        rows[k] = memset(copies[k], 0, (size_t)size * 4);
        if (line + k < 0 || line + k >= picture->height || end <= first) continue;
        memcpy(
            copies[k] + first * size, picture->base + (start + k * picture->bytes_per_row + first * size),
            (size_t)((end - first) * size));
    }
}

TARGET __attribute__((always_inline)) static inline void VERSION(sample)(
    float *row, const ctransform_picture *picture, double x, double y, double step_x, double step_y, const float background[4],
    long count, long size, bool is_half) {
    const float scale = is_half ? 1.0f : size == 4 ? 1.0f / 255 : 1.0f / 65535;
    f32x4 color;
    LOAD(color, background);
    for (long i = 0; i < count; i++) {
        const double across = x + (double)i * step_x, down = y + (double)i * step_y;
        f32x4 sample = {0};
        if (across > -3 && down > -3 && across < (double)picture->width + 1 && down < (double)picture->height + 1) {
            const long left = (long)across - (across < (double)(long)across);
            const long top = (long)down - (down < (double)(long)down);
            const uint8_t *rows[4];
            _Alignas(16) uint8_t copies[4][32];
            VERSION(around)(rows, copies, picture, left - 1, top - 1, size);
            const float t = (float)(across - (double)left), u = (float)(down - (double)top);
            const f32x4 horizontal = CUBIC(t) * scale, vertical = CUBIC(u);
            f32x16 numbers[4];
            for (long k = 0; k < 4; k++) VERSION(numbers)(&numbers[k], rows[k], size, is_half);
            const f32x16 columns = numbers[0] * vertical[0] + numbers[1] * vertical[1] + numbers[2] * vertical[2]
                + numbers[3] * vertical[3];
            const f32x16 parts = columns
                * __builtin_shufflevector(horizontal, horizontal, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
            sample = __builtin_shufflevector(parts, parts, 0, 1, 2, 3) + __builtin_shufflevector(parts, parts, 4, 5, 6, 7)
                + __builtin_shufflevector(parts, parts, 8, 9, 10, 11) + __builtin_shufflevector(parts, parts, 12, 13, 14, 15);
            // The filter overshoots at edges.
            sample[3] = sample[3] < 0 ? 0 : sample[3] > 1 ? 1 : sample[3];
            const f32x4 alpha = __builtin_shufflevector(sample, sample, 3, 3, 3, 3);
            if (!is_half) sample = __builtin_elementwise_max(__builtin_elementwise_min(sample, alpha), (f32x4){0});
        }
        sample += color * (1 - sample[3]);
        STORE(row + i * 4, sample);
    }
}

#define SAMPLE(name, size, is_half)                                                                          \
    TARGET static void VERSION(name)(                                                                        \
        float *row, const ctransform_picture *picture, double x, double y, double step_x, double step_y,     \
        const float background[4], long count) {                                                             \
        VERSION(sample)(row, picture, x, y, step_x, step_y, background, count, size, is_half);               \
    }

SAMPLE(sample8, 4, false)
SAMPLE(sample16, 8, false)
SAMPLE(sample_half, 8, true)

#undef ROW
#undef COLUMNS
#undef PRODUCT
#undef PRODUCT8
#undef INVERTED
#undef PRODUCTS
#undef NEAREST
#undef DIRECT
#undef CUBIC
#undef SAMPLE
#undef VERSION
#undef TARGET
