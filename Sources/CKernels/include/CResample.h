#ifndef CRESAMPLE_H
#define CRESAMPLE_H

#include "CResampleDeep.h"

#include <stdbool.h>
#include <stdint.h>

// The two kernels of the resampler. They are in C because Swift has no function multiversioning: on x86-64 each is compiled for
// AVX-512, AVX2 and SSE2. All arithmetic uses integers, so every version produces the same pixels.
//
// Kernels process blocks of 16 pixels, which are 64 bytes of RGBA. Rows have room for whole blocks.

/// The fractional bits of a component between the vertical and the horizontal pass.
#define CRESAMPLE_FRACTION_BITS 5

/// The source pixels of a destination pixel.
typedef struct {
    /// The first pair of source pixels.
    int32_t first_pair;
    /// The number of groups of 4 pairs.
    int32_t groups;
    /// The index of its first weight, with 8 weights per group.
    int32_t first_weight;
} cresample_span;

/// The vertical pass: sums rows of 8-bit pixels, each multiplied by its weight.
///
/// - pairs: receives the sums as 16-bit components with CRESAMPLE_FRACTION_BITS, by pairs of pixels (r r g g b b a a); NULL if
///   more rows will be added. 64 per block, aligned to 64 bytes.
/// - sums: holds the sums between calls, in the kernel's own order; unused if the work starts and ends with this call. 64 per
///   block, aligned to 64 bytes.
/// - start: starts at zero instead of the contents of `sums`
/// - rows: the rows, of `blocks` × 64 bytes each
/// - count: the number of rows and weights; even
/// - weight_bits: the fractional bits of the weights, more than CRESAMPLE_FRACTION_BITS
typedef void cresample_accumulate(
    int16_t *pairs, int32_t *sums, bool begin, const uint8_t *const *rows, const int16_t *weights, long count,
    int weight_bits, long blocks);

/// The horizontal pass: creates a row of 8-bit pixels. Color is limited to alpha, as required for premultiplied pixels.
///
/// - pixels, spans: `count` of them, a multiple of 4
/// - pairs: the output of the vertical pass, with room for another block of any contents
/// - weight_bits: the fractional bits of the weights
typedef void cresample_convolve(
    uint8_t *pixels, const int16_t *pairs, const cresample_span *spans, const int16_t *weights, int weight_bits,
    long count);

/// The kernels for a particular instruction set.
typedef struct {
    cresample_accumulate *accumulate;
    cresample_convolve *convolve;
} cresample_kernels;

/// Writes the kernels that this processor supports to `kernels`, best first, and returns their number: 1 to 3.
int cresample_available(cresample_kernels kernels[3]);

#endif
