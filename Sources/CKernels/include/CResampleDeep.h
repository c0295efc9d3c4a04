#ifndef CRESAMPLE_DEEP_H
#define CRESAMPLE_DEEP_H

#include <stdbool.h>
#include <stdint.h>

// The kernels for pixels of 16 bits, integers and half-precision numbers (IEEE 754 binary16). They are processed as 32-bit
// floating-point components, four per pixel. On x86-64 each is compiled for AVX-512, AVX2 and SSE2. Products are rounded before
// they are added on every machine, so every version produces the same pixels.

/// The source pixels of a destination pixel.
typedef struct {
    /// The first source pixel.
    int32_t first;
    int32_t count;
    /// The index of its first weight.
    int32_t first_weight;
} cresample_deep_span;

typedef struct {
    /// Converts integers from 0 to 65,535 to components.
    void (*from_uint16)(float *components, const uint16_t *row, long count);
    /// Converts half-precision numbers to components.
    void (*from_half)(float *components, const uint16_t *row, long count);
    /// Converts components to pixels of premultiplied integers, rounded to the nearest, with color limited to alpha.
    void (*to_uint16)(uint16_t *row, const float *components, long pixels);
    /// Converts components to half-precision pixels, rounded to the nearest, ties to even. Alpha is limited to 0 to 1, color to
    /// finite numbers; NaN becomes 0.
    void (*to_half)(uint16_t *row, const float *components, long pixels);
    /// Adds components, multiplied by a weight, to sums; with `begin`, to zero instead of the contents of `sums`.
    void (*add)(float *sums, const float *components, float weight, bool begin, long count);
    /// Creates `count` pixels from the pixels of a row.
    void (*convolve)(
        float *pixels, const float *row, const cresample_deep_span *spans, const float *weights, long count);
} cresample_deep_kernels;

/// Writes the kernels that this processor supports to `kernels`, best first, and returns their number: 1 to 3.
int cresample_deep_available(cresample_deep_kernels kernels[3]);

#endif
