// Memory for the coefficients of a file with several scans, which libjpeg keeps all of until the last.
#ifndef TINTYPE_CJPEG_COEFFICIENTS_H
#define TINTYPE_CJPEG_COEFFICIENTS_H

#include <stddef.h>
#include <stdio.h>

#include <jpeglib.h>

typedef struct {
    struct jvirt_barray_control *first;
    void *memory;
    size_t size;
    /// More than this is refused.
    size_t limit;
} tintype_jpeg_coefficients;

/// Lets a decoder take the memory from here. `client_data` must point to a tintype_jpeg_coefficients.
void tintype_jpeg_coefficients_install(j_decompress_ptr decoder);
/// Gives the memory back; the decoder must not be used after it.
void tintype_jpeg_coefficients_release(tintype_jpeg_coefficients *coefficients);

#endif
