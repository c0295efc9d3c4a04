#ifndef CUNFILTER_H
#define CUNFILTER_H

#include <stdint.h>

// What is done to every byte of a PNG's rows. It is in C because Swift has no function multiversioning: on x86-64 each kernel
// is compiled for AVX2 and SSE2. Every version makes the same bytes.

/// Undoes the filter of a row (PNG, third edition, section 9).
///
/// - row: where the row goes, with room for 16 bytes more, which may get any value
/// - source: the filtered row, behind the byte that names its filter; 16 bytes more are read
/// - above: the row above, undone; zeros above the first. 16 bytes more are read
/// - bytes: of the row, a multiple of `pixel_bytes`
/// - pixel_bytes: 1 to 4; 1 where pixels are smaller
/// - filter: 0 to 4
typedef void cunfilter_undo(
    uint8_t *row, const uint8_t *source, const uint8_t *above, long bytes, int pixel_bytes, int filter);

/// Makes opaque RGBA of RGB. Works in groups of 4 pixels: `pixels` has room for them, and of `rgb` 4 bytes more are read.
typedef void cunfilter_expand(uint8_t *pixels, const uint8_t *rgb, long count);

/// The kernels for one instruction set.
typedef struct {
    cunfilter_undo *undo;
    cunfilter_expand *expand;
} cunfilter_kernels;

/// Puts the kernels that this processor can run into `kernels`, best first, and returns how many they are: 1 or 2.
int cunfilter_available(cunfilter_kernels kernels[2]);

#endif
