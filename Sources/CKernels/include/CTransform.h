#ifndef CTRANSFORM_H
#define CTRANSFORM_H

#include <stdint.h>

// The inner loops of transformers. They are in C because Swift has no function multiversioning: on x86-64 each is compiled for
// AVX-512, AVX2 and SSE2. Products are rounded before they are added on every machine, so every version produces the same
// pixels.
//
// Components are premultiplied, four per pixel, and 1 is the maximum of the integer formats. A line is a sequence of vectors of
// 16 components: four neighbors in a row for every row, or a column of four rows for every column.

/// Pixels in memory.
typedef struct {
    const uint8_t *base;
    long bytes_per_row, width, height;
} ctransform_picture;

/// Samples `count` pixels over a background: the first at a point of the picture, whose first pixel has its center at (0, 0), and each further pixel a step from
/// the one before.
///
/// The filter is cubic (Catmull and Rom, "A class of local interpolating splines", 1974). Outside of the picture everything is transparent.
typedef void ctransform_sample(
    float *row, const ctransform_picture *picture, double x, double y, double step_x, double step_y, const float background[4],
    long count);

typedef struct {
    /// Converts 8-bit components.
    void (*read8)(float *components, const uint8_t *row, long pixels);
    /// Converts 16-bit components.
    void (*read16)(float *components, const uint16_t *row, long pixels);
    /// Converts to 8-bit components, rounded to the nearest. Alpha is limited to 0 to 1, color to 0 to alpha; NaN becomes 0.
    void (*write8)(uint8_t *row, const float *components, long pixels);
    /// Converts to 16-bit components, like `write8`.
    void (*write16)(uint16_t *row, const float *components, long pixels);
    /// Multiplies each pixel by a matrix of four columns.
    void (*matrix)(float *components, const float columns[16], long pixels);
    /// Multiplies each 8-bit pixel by a matrix of four columns.
    void (*matrix8)(uint8_t *row, const uint8_t *source, const float columns[16], long pixels);
    /// Applies a symmetric filter: each sum is the component at the center times the first weight, plus, for each further
    /// weight, that weight times the sum of the components at `before` and `after`. `count` is a multiple of 16.
    void (*filter)(
        float *sums, const float *center, const float *const *before, const float *const *after, const float *weights,
        long taps, long count);
    /// Applies an extended box filter to a line three times: `2 × radius + 1` vectors of weight `weight`, and another on each
    /// side of weight `end_weight`. The first and last vectors are repeated beyond the ends. The result is in `other`; both
    /// lines are overwritten.
    void (*boxes)(float *line, float *other, long count, long radius, float weight, float end_weight);
    /// Copies the pixels of a row to four lanes of a line. Lanes are 0 to 3.
    void (*spread)(float *line, const float *row, long lane, long pixels);
    /// Copies four lanes of a line to the pixels of a row.
    void (*gather)(float *row, const float *line, long lane, long pixels);
    /// Reads four neighboring 16-bit pixels in each of `count` rows.
    void (*read_columns16)(float *line, const uint8_t *top, long bytes_per_row, long count);
    /// Writes four neighboring 8-bit pixels in each of `count` rows, like `write8`.
    void (*write_columns8)(uint8_t *top, long bytes_per_row, const float *line, long count);
    /// Writes four neighboring 16-bit pixels in each of `count` rows, like `write8`.
    void (*write_columns16)(uint8_t *top, long bytes_per_row, const float *line, long count);
    /// Samples 8-bit pixels. Alpha is limited to 0 to 1, color to 0 to alpha.
    ctransform_sample *sample8;
    /// Samples 16-bit pixels, like `sample8`.
    ctransform_sample *sample16;
    /// Samples pixels of half-precision numbers. Color isn't limited.
    ctransform_sample *sample_half;
    /// Converts 8-bit components to fixed-point numbers of 16 bits, 7 of them behind the point.
    void (*read8_fixed)(uint16_t *components, const uint8_t *row, long pixels);
    /// Converts fixed-point numbers to 8-bit components, rounded to the nearest, and limits color to alpha.
    void (*write8_fixed)(uint8_t *row, const uint16_t *components, long pixels);
    /// Applies a symmetric filter, like `filter`, to fixed-point numbers that are at most 255. A weight of 65,536 would be 1. `count` is a multiple of 64.
    void (*filter_fixed)(
        uint16_t *sums, const uint16_t *center, const uint16_t *const *before, const uint16_t *const *after,
        const uint16_t *weights, long taps, long count);
} ctransform_kernels;

/// Writes the kernels that this processor supports to `kernels`, best first, and returns their number: 1 to 3.
int ctransform_available(ctransform_kernels kernels[3]);

#endif
