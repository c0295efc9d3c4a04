#ifndef CUNFILTER_H
#define CUNFILTER_H

#include <stdint.h>

// The processing of every byte of a PNG's rows. It is in C because Swift has no function multiversioning: on x86-64 each kernel
// is compiled for AVX2 and SSE2. Every version produces the same bytes.

/// Reverses the filter of a row (PNG, third edition, section 9).
///
/// - row: the result, with room for 16 more bytes, which may receive any value
/// - source: the filtered row, after the byte that specifies its filter; 16 more bytes are read
/// - above: the unfiltered row above; zeros above the first. 16 more bytes are read
/// - bytes: the number of bytes in the row, a multiple of `pixel_bytes`
/// - pixel_bytes: 1 to 4; 1 for smaller pixels
/// - filter: 0 to 4
typedef void cunfilter_undo(
    uint8_t *row, const uint8_t *source, const uint8_t *above, long bytes, int pixel_bytes, int filter);

/// The rows that are processed at once.
#define CUNFILTER_ROWS 4

/// Reverses the Paeth filter (filter 4) of as many rows at once, of pixels of 3 or 4 bytes. Photographs have hardly any other.
///
/// - rows, stride: the results, each with room for 16 more bytes, which may receive any value
/// - source, source_stride: the filtered rows, each after its first byte; 16 more bytes are read
/// - above: the unfiltered row above the first; 16 more bytes are read
typedef void cunfilter_undo_rows(
    uint8_t *rows, long stride, const uint8_t *source, long source_stride, const uint8_t *above, long bytes, int pixel_bytes);

/// Applies a filter to a row.
///
/// - target: the filtered row, without the byte that specifies its filter
/// - row, above: the unfiltered row, and the row above it; zeros above the first. `pixel_bytes` zeros are to the left of each
/// - bytes: the number of bytes in the row
/// - pixel_bytes: 3, 4, 6 or 8
/// - filter: 0 to 4
/// - returns: the sum of the filtered bytes, taken as signed numbers without their sign; it wraps around for rows of over 32 MB
typedef uint32_t cunfilter_apply(
    uint8_t *target, const uint8_t *row, const uint8_t *above, long bytes, int pixel_bytes, int filter);

/// Converts RGBA of 8 bits, or of 16 bits in native byte order, to the samples of a file: 16 bits have the high byte first.
///
/// - row: the result
/// - rgba: `count` pixels
/// - is_deep: 1 for 16 bits
/// - has_alpha: 0 to leave alpha out
void cunfilter_pack(uint8_t *row, const void *rgba, long count, int is_deep, int has_alpha);

/// The kernels for a particular instruction set.
typedef struct {
    cunfilter_undo *undo;
    cunfilter_undo_rows *undo_rows;
    cunfilter_apply *apply;
} cunfilter_kernels;

/// Writes the kernels that this processor supports to `kernels`, best first, and returns their number: 1 or 2.
int cunfilter_available(cunfilter_kernels kernels[2]);

#endif
