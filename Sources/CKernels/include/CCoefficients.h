#ifndef CCOEFFICIENTS_H
#define CCOEFFICIENTS_H

#include <stdint.h>

// Resamples pictures straight from the coefficients of their 8×8 blocks (ITU-T T.81, annex A.3). The inverse transform, the
// enlargement of subsampled color and the filter are linear, so that together they are a single weight for each coefficient: no picture in
// between is ever made.
//
// The low frequencies of a block are stored as numbers of 16 bits, 8 ("narrow"), 16 ("wide"), or 32 ("broad"), in pairs that differ in
// their vertical frequency alone. The vertical pass multiplies and adds each pair, and leaves a sum for it. Each sum belongs to
// a horizontal frequency, which the horizontal pass weighs. By position, the coefficients are these of the zigzag order:
//
//     narrow  0 2   3 -   1 4   5 -
//     wide    0 2   3 9   1 4   8 11   5 7   12 -   6 13   10 -
//     broad   0 2   3 9   10 20   21 -   1 4   8 11   19 22   5 7   12 18   23 -   6 13   17 24   14 16   25 -   15 26   27 -
//
// Rows and records are the caller's memory, and have no type. Floating-point numbers are summed in the same order by all versions, so that
// all produce the same pixels.

/// A coefficient that doesn't fit into the byte it has in a record.
typedef struct {
    /// The record, counted from the first of a part.
    int32_t record;
    /// The position in zigzag order.
    int16_t position;
    int16_t value;
} ccoefficients_large;

/// Multiplies the coefficients of records with the quantizers, and stores them at their places.
///
/// A record has 16 bytes for a block, or 32 where some are broad: coefficient k is k bytes before the last. The first is a difference from the block before it. Records are
/// stored downwards.
///
/// - rows: where blocks are stored, as numbers of 16 bits
/// - records, end, record_size: the records, the end of the first of them, and the bytes of each
/// - mcus, blocks: the number of MCUs, and of the blocks of each; an MCU interleaves components (A.2.3)
/// - components, offsets, steps: for each block, the component, the place in the first MCU, and the distance to that in the next
/// - quantizers: 32 for each component, by position in the block; zero for coefficients that aren't used, and at most 255
/// - sizes: for each component, the numbers of a block: 8, 16, or 32
/// - predictions: the last first coefficient of each component; updated
/// - index: the number of records of this part before these
/// - large, used, count: the coefficients that don't fit, in the order of records, and how many of them belong to earlier records
/// - returns the number of large coefficients that are used now, or -1 if a product has more than 16 bits
typedef long ccoefficients_place(
    void *rows, const void *records, long end, long record_size, long mcus, long blocks, const uint8_t *components,
    const int32_t *offsets, const int32_t *steps, const int16_t *quantizers, const uint8_t *sizes,
    int32_t *predictions, long index, const ccoefficients_large *large, long used, long count);

/// Multiplies a row of blocks with the quantizers, in place.
///
/// - rows, first, vectors: the numbers, from `first` on, in units of 32 numbers
/// - quantizers, quantizer: as above, from the number `quantizer` on
/// - returns 0, or -1 if a product has more than 16 bits
typedef int ccoefficients_multiply(
    void *rows, long first, long vectors, const int16_t *quantizers, long quantizer, long size);

/// The vertical pass: the sums of block rows, each multiplied by its weights.
///
/// - sums: receives `vectors` × 16 numbers
/// - rows, offsets: where each of `count` rows starts, in numbers of 16 bits
/// - weights: `size` for each row, 32 for broad blocks and else 16, by position in the block, those of narrow blocks twice; starting with
///   the row `first`
/// - vectors: the length of a row, in units of 32 numbers
typedef void ccoefficients_sum_rows(
    void *sums, const void *rows, const int32_t *offsets, const int16_t *weights, long size, long first, long count,
    long vectors);

/// The sums that contribute to a column of the result.
typedef struct {
    /// The first sum.
    int32_t first;
    /// The number of groups of 8 sums.
    int32_t groups;
    /// The index of its first weight.
    int32_t first_weight;
} ccoefficients_span;

/// The horizontal pass, over four rows at once.
///
/// - columns: receives four numbers for each of `count` spans, in the order of the rows
/// - sums: four rows at a distance of `stride` numbers
typedef void ccoefficients_sum_columns(
    void *columns, const void *sums, long stride, const ccoefficients_span *spans, const float *weights, long count);

/// Converts luminance and color differences (ITU-T T.871) to RGBA of 8 bits.
///
/// - pixels: at most four rows at a distance of `stride` bytes
/// - luminance, blue, red: four numbers for each column, in the order of the rows, with 15 fractional bits; the colors of gray are zero
/// - count: the number of columns, a multiple of 4
typedef void ccoefficients_color(
    void *pixels, long stride, long rows, const void *luminance, const void *blue, const void *red, long count);

/// The kernels for a particular instruction set.
typedef struct {
    ccoefficients_place *place;
    ccoefficients_multiply *multiply;
    ccoefficients_sum_rows *sum_rows;
    ccoefficients_sum_columns *sum_columns;
    ccoefficients_color *color;
} ccoefficients_kernels;

/// Writes the kernels that this processor supports to `kernels`, best first, and returns their number: 1 to 3.
int ccoefficients_available(ccoefficients_kernels kernels[3]);

#endif
