#include "CLoops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <png.h>

void bare_jpeg(const uint8_t *bytes, size_t count, int eighths, uint8_t *pixels, size_t stride) {
    struct jpeg_decompress_struct decoder;
    struct jpeg_error_mgr errors;
    decoder.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&decoder);
    jpeg_mem_src(&decoder, bytes, count);
    jpeg_read_header(&decoder, TRUE);
    decoder.out_color_space = JCS_EXT_RGBA;
    decoder.scale_num = (unsigned)eighths;
    decoder.scale_denom = 8;
    jpeg_start_decompress(&decoder);
    while (decoder.output_scanline < decoder.output_height) {
        JSAMPROW row = pixels + stride * decoder.output_scanline;
        jpeg_read_scanlines(&decoder, &row, 1);
    }
    jpeg_finish_decompress(&decoder);
    jpeg_destroy_decompress(&decoder);
}

uint8_t *transcode_jpeg(const uint8_t *bytes, size_t count, int progressive, size_t *written) {
    struct jpeg_decompress_struct decoder;
    struct jpeg_compress_struct encoder;
    struct jpeg_error_mgr errors;
    decoder.err = encoder.err = jpeg_std_error(&errors);
    jpeg_create_decompress(&decoder);
    jpeg_create_compress(&encoder);
    jpeg_mem_src(&decoder, bytes, count);
    for (int marker = 0; marker < 16; marker++) jpeg_save_markers(&decoder, JPEG_APP0 + marker, 0xFFFF);
    jpeg_read_header(&decoder, TRUE);
    jvirt_barray_ptr *coefficients = jpeg_read_coefficients(&decoder);
    jpeg_copy_critical_parameters(&decoder, &encoder);
    encoder.optimize_coding = TRUE;
    if (progressive) jpeg_simple_progression(&encoder);
    unsigned char *file = NULL;
    unsigned long length = 0;
    jpeg_mem_dest(&encoder, &file, &length);
    jpeg_write_coefficients(&encoder, coefficients);
    for (jpeg_saved_marker_ptr marker = decoder.marker_list; marker; marker = marker->next) {
        int is_own = marker->marker == JPEG_APP0 || marker->marker == JPEG_APP0 + 14;
        if (!is_own) jpeg_write_marker(&encoder, marker->marker, marker->data, marker->data_length);
    }
    jpeg_finish_compress(&encoder);
    jpeg_destroy_compress(&encoder);
    jpeg_finish_decompress(&decoder);
    jpeg_destroy_decompress(&decoder);
    *written = length;
    return file;
}

struct source { const uint8_t *bytes; size_t offset; };

static void read_bytes(png_structp png, png_bytep to, size_t count) {
    struct source *source = png_get_io_ptr(png);
    memcpy(to, source->bytes + source->offset, count);
    source->offset += count;
}

void bare_png(const uint8_t *bytes, size_t count, uint8_t *pixels, size_t stride) {
    (void)count;
    struct source source = {bytes, 0};
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_set_read_fn(png, &source, read_bytes);
    png_read_info(png, info);
    png_set_expand(png);
    png_set_scale_16(png);
    png_set_gray_to_rgb(png);
    png_set_add_alpha(png, 0xFF, PNG_FILLER_AFTER);
    png_read_update_info(png, info);
    png_uint_32 height = png_get_image_height(png, info);
    for (png_uint_32 y = 0; y < height; y++) png_read_row(png, pixels + stride * y, NULL);
    png_destroy_read_struct(&png, &info, NULL);
}
