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
/// - pixel_bytes: 1, 2, 3, 4, 6 or 8; 1 for smaller pixels
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
/// - pixel_bytes: 1, 2, 3, 4, 6 or 8; 1 for smaller pixels
/// - filter: 0 to 4
/// - returns: the sum of the filtered bytes, taken as signed numbers without their sign; it wraps around for rows of over 32 MB
typedef uint32_t cunfilter_apply(
    uint8_t *target, const uint8_t *row, const uint8_t *above, long bytes, int pixel_bytes, int filter);

/// Converts RGBA of 8 bits, or of 16 bits in native byte order, to the samples of a file: 16 bits have the high byte first.
///
/// - row: the result
/// - rgba: `count` pixels
/// - is_deep: 1 for 16 bits
/// - samples: how many a pixel gets: 1 for gray, which is its red; 2 for gray and alpha; 3 for red, green and blue; 4 with alpha
void cunfilter_pack(uint8_t *row, const void *rgba, long count, int is_deep, int samples);

/// Converts samples of 16 bits, with the high byte first, to RGBA of 16 bits in native byte order, or of 8 bits, rounded to the nearest.
///
/// - rgba: the result
/// - row: `count` pixels
/// - is_deep: 1 for 16 bits
/// - samples: how many a pixel has, as for ``cunfilter_pack``
void cunfilter_unpack_deep(void *rgba, const uint8_t *row, long count, int is_deep, int samples);

/// The most colors of a palette, and the places in the table that finds them.
#define CUNFILTER_COLORS 256
#define CUNFILTER_PLACES 1024

/// Finds the colors of RGBA with 8 bits that a picture hasn't had so far.
///
/// - colors: CUNFILTER_COLORS colors as they are in memory, in the order in which they came
/// - places: CUNFILTER_PLACES numbers, zeros at first: by a hash of the color, 1 more than its index
/// - count: the number of colors so far
/// - most: the most colors, up to CUNFILTER_COLORS
/// - has_alpha: 0 to take all pixels for opaque
/// - returns: the number of all colors; -1 if it is over the most
int cunfilter_find_colors(
    uint32_t *colors, uint16_t *places, int count, int most, const void *rgba, long pixels, int has_alpha);

/// Converts RGBA with 8 bits to numbers of `bits` bits, the first in the highest bits of a byte. Bits behind the last are zero.
///
/// - row: the result
/// - colors, places: the colors of the picture, all of which were found
/// - numbers: the number for each index
/// - bits: 1, 2, 4 or 8
void cunfilter_pack_colors(
    uint8_t *row, const void *rgba, long pixels, int has_alpha, const uint32_t *colors, const uint16_t *places,
    const uint8_t *numbers, int bits);

/// The kernels for a particular instruction set.
typedef struct {
    cunfilter_undo *undo;
    cunfilter_undo_rows *undo_rows;
    cunfilter_apply *apply;
} cunfilter_kernels;

/// Writes the kernels that this processor supports to `kernels`, best first, and returns their number: 1 or 2.
int cunfilter_available(cunfilter_kernels kernels[2]);

#endif
