#ifndef CRESAMPLE_DEEP_H
#define CRESAMPLE_DEEP_H

#include <stdbool.h>
#include <stdint.h>

// The kernels for pixels of 16 bits, integers and half-precision numbers (IEEE 754 binary16), which are worked on as 32-bit
// floating-point components, four to a pixel. On x86-64 each is compiled for AVX-512, AVX2 and SSE2. Products are rounded
// before they are added, on every machine, so every version makes the same pixels.

/// What a destination pixel is made of.
typedef struct {
    /// The first source pixel.
    int32_t first;
    int32_t count;
    /// Where its weights begin.
    int32_t first_weight;
} cresample_deep_span;

typedef struct {
    /// Components of integers from 0 to 65,535.
    void (*from_uint16)(float *components, const uint16_t *row, long count);
    /// Components of half-precision numbers.
    void (*from_half)(float *components, const uint16_t *row, long count);
    /// Pixels of premultiplied integers: components are rounded to the nearest, and colour is limited to alpha.
    void (*to_uint16)(uint16_t *row, const float *components, long pixels);
    /// Pixels of half-precision numbers, rounded to the nearest, ties to even. Alpha is limited to 0 to 1, colour to what is
    /// finite; what is not a number becomes 0.
    void (*to_half)(uint16_t *row, const float *components, long pixels);
    /// Adds components times a weight to sums; with `begin`, to zero instead of what `sums` holds.
    void (*add)(float *sums, const float *components, float weight, bool begin, long count);
    /// Makes `count` pixels of those of a row.
    void (*convolve)(
        float *pixels, const float *row, const cresample_deep_span *spans, const float *weights, long count);
} cresample_deep_kernels;

/// Puts the kernels that this processor can run into `kernels`, best first, and returns how many they are: 1 to 3.
int cresample_deep_available(cresample_deep_kernels kernels[3]);

#endif
