#ifndef CRESAMPLE_H
#define CRESAMPLE_H

#include "CResampleDeep.h"

#include <stdbool.h>
#include <stdint.h>

// The two kernels of the resampler. They are in C because Swift has no function multiversioning: on x86-64 each is
// compiled for AVX-512, AVX2 and SSE2. The arithmetic is in integers, so every version makes the same pixels.
//
// Kernels work in blocks of 16 pixels, which are 64 bytes of RGBA; rows have room for whole blocks.

/// The bits behind the point of a component between the vertical and the horizontal pass.
#define CRESAMPLE_FRACTION_BITS 5

/// What a destination pixel is made of.
typedef struct {
    /// The first pair of source pixels.
    int32_t first_pair;
    /// How many groups of 4 pairs.
    int32_t groups;
    /// Where its weights begin: 8 a group.
    int32_t first_weight;
} cresample_span;

/// The vertical pass: adds up rows of 8-bit pixels, each times its weight.
///
/// - pairs: where the sums go as 16-bit components with CRESAMPLE_FRACTION_BITS, by pairs of pixels (r r g g b b a a);
///   or NULL if more rows will be added. 64 per block, aligned to 64 bytes.
/// - sums: where the sums are kept between calls, in an order that is the kernel's own; not used if it begins and ends
///   with this call. 64 per block, aligned to 64 bytes.
/// - begin: starts at zero instead of with what `sums` holds
/// - rows: of `blocks` × 64 bytes each
/// - count: how many rows and weights; even
/// - weight_bits: the bits behind the point of the weights, more than CRESAMPLE_FRACTION_BITS
typedef void cresample_accumulate(
    int16_t *pairs, int32_t *sums, bool begin, const uint8_t *const *rows, const int16_t *weights, long count,
    int weight_bits, long blocks);

/// The horizontal pass: makes a row of 8-bit pixels. Colour is limited to alpha, as premultiplied pixels must be.
///
/// - pixels, spans: `count` of them, a multiple of 4
/// - pairs: what the vertical pass made, with room for one more block, which may hold anything
/// - weight_bits: the bits behind the point of the weights
typedef void cresample_convolve(
    uint8_t *pixels, const int16_t *pairs, const cresample_span *spans, const int16_t *weights, int weight_bits,
    long count);

/// The kernels for one instruction set.
typedef struct {
    cresample_accumulate *accumulate;
    cresample_convolve *convolve;
} cresample_kernels;

/// Puts the kernels that this processor can run into `kernels`, best first, and returns how many they are: 1 to 3.
int cresample_available(cresample_kernels kernels[3]);

#endif
