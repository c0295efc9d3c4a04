// Reads coefficients with libjpeg, for comparison.
#ifndef CJPEGCOEFFICIENTS_H
#define CJPEGCOEFFICIENTS_H

#include <stddef.h>
#include <stdint.h>

/// Reads the coefficients of all blocks in the order of an interleaved scan, 64 in zigzag order for each.
///
/// - coefficients: receives the numbers, which the caller frees; NULL after a failure
/// - warnings: receives the number of minor errors that libjpeg has ignored
/// - returns the number of blocks, or -1 for a file that libjpeg can't read
long jpeg_coefficients(const uint8_t *bytes, size_t count, int16_t **coefficients, long *warnings);

#endif
