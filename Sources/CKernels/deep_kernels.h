// The kernels for 16 bits, included once for each instruction set. VERSION names the functions, TARGET is their attribute.
// Plain loops, which the compiler vectorizes.

TARGET static void VERSION(from_uint16)(float *components, const uint16_t *row, long count) {
    for (long i = 0; i < count; i++) components[i] = (float)row[i];
}

#include "half_kernels.h"

TARGET static void VERSION(to_uint16)(uint16_t *row, const float *components, long pixels) {
    for (long x = 0; x < pixels; x++) {
        const float a = components[x * 4 + 3];
        const float alpha = a > 0 ? (a < 65535 ? a : 65535) : 0;
        for (long i = x * 4; i < x * 4 + 3; i++) {
            const float c = components[i];
            row[i] = (uint16_t)(int32_t)((c > 0 ? (c < alpha ? c : alpha) : 0) + 0.5f);
        }
        row[x * 4 + 3] = (uint16_t)(int32_t)(alpha + 0.5f);
    }
}

TARGET static void VERSION(to_half)(uint16_t *row, const float *components, long pixels) {
    for (long i = 0; i < pixels * 4; i++) {
        const bool is_alpha = (i & 3) == 3;
        const float low = is_alpha ? 0.0f : -65504.0f, high = is_alpha ? 1.0f : 65504.0f;
        const float c = components[i];
        // Both comparisons are false for NaN.
        const float limited = c >= low ? (c < high ? c : high) : (c < low ? low : 0);
        const uint32_t bits = BITS(limited);
        const uint32_t magnitude = bits & 0x7fffffff;
        const uint32_t rounded = (magnitude + 0xfff + (magnitude >> 13 & 1) - (112u << 23)) >> 13;
        // A number that is subnormal as a half counts steps of 2^-24. Adding 0.5 rounds to these steps.
        const uint32_t steps = BITS(FLOAT(magnitude) + 0.5f) - 0x3f000000;
        row[i] = (uint16_t)((magnitude < 0x38800000 ? steps : rounded) | (bits >> 16 & 0x8000));
    }
}

TARGET static void VERSION(add)(float *sums, const float *components, float weight, bool begin, long count) {
    if (begin) {
        for (long i = 0; i < count; i++) sums[i] = components[i] * weight;
    } else {
        for (long i = 0; i < count; i++) sums[i] += components[i] * weight;
    }
}

TARGET static void VERSION(convolve)(
    float *pixels, const float *row, const cresample_deep_span *spans, const float *weights, long count) {
    for (long x = 0; x < count; x++) {
        const cresample_deep_span span = spans[x];
        const float *pixel = row + (long)span.first * 4;
        const float *weight = weights + span.first_weight;
        f32x4 sum = {0}, component;
        for (long i = 0; i < span.count; i++) {
            LOAD(component, pixel + i * 4);
            sum += component * weight[i];
        }
        memcpy(pixels + x * 4, &sum, sizeof(sum));
    }
}

#undef VERSION
#undef TARGET
