// Memory for the coefficients of a file with several scans, which libjpeg stores until the last scan.
#ifndef TINTYPE_CJPEG_COEFFICIENTS_H
#define TINTYPE_CJPEG_COEFFICIENTS_H

#include <stddef.h>
#include <stdio.h>

#include <jpeglib.h>

typedef struct {
    struct jvirt_barray_control *first;
    void *memory;
    size_t size;
    /// The largest number of bytes.
    size_t limit;
} tintype_jpeg_coefficients;

/// Makes a decoder use this memory. `client_data` must point to a tintype_jpeg_coefficients.
void tintype_jpeg_coefficients_install(j_decompress_ptr decoder);
/// Frees the memory. The decoder must not be used afterward.
void tintype_jpeg_coefficients_release(tintype_jpeg_coefficients *coefficients);

#endif
