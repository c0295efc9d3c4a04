#include "CPNGShim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

struct tintype_png_writer {
    png_structp png;
    png_infop info;
    uint8_t *bytes;
    size_t count;
    size_t capacity;
    char message[128];
};

static void fail(png_structp png, png_const_charp message) {
    tintype_png_writer *writer = png_get_error_ptr(png);
    snprintf(writer->message, sizeof writer->message, "%s", message);
    png_longjmp(png, 1);
}

static void ignore_warning(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

static void write_bytes(png_structp png, png_bytep source, size_t count) {
    tintype_png_writer *writer = png_get_io_ptr(png);
    if (count > writer->capacity - writer->count) {
        size_t capacity = (writer->capacity + count) * 2;
        uint8_t *bytes = realloc(writer->bytes, capacity);
        if (!bytes) png_error(png, "the system has no memory for the file");
        writer->bytes = bytes;
        writer->capacity = capacity;
    }
    memcpy(writer->bytes + writer->count, source, count);
    writer->count += count;
}

static void flush_nothing(png_structp png) { (void)png; }

tintype_png_writer *tintype_png_writer_create(void) {
    tintype_png_writer *writer = calloc(1, sizeof *writer);
    if (!writer) return NULL;
    writer->png = png_create_write_struct(PNG_LIBPNG_VER_STRING, writer, fail, ignore_warning);
    if (writer->png) writer->info = png_create_info_struct(writer->png);
    if (!writer->info) {
        png_destroy_write_struct(&writer->png, &writer->info);
        free(writer);
        return NULL;
    }
    png_set_write_fn(writer->png, writer, write_bytes, flush_nothing);
    return writer;
}

void tintype_png_writer_destroy(tintype_png_writer *writer) {
    png_destroy_write_struct(&writer->png, &writer->info);
    free(writer->bytes);
    free(writer);
}

tintype_png_status tintype_png_writer_start(
    tintype_png_writer *writer, const tintype_png_settings *settings, int *passes
) {
    png_structp png = writer->png;
    if (setjmp(png_jmpbuf(png))) return TINTYPE_PNG_CORRUPT;
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_compression_level(png, settings->compression_level);
    png_set_filter(png, PNG_FILTER_TYPE_BASE, settings->filters);
    png_set_IHDR(
        png, writer->info, settings->width, settings->height, settings->bit_depth, settings->color_type,
        settings->interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
        PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (settings->is_srgb) png_set_sRGB(png, writer->info, PNG_sRGB_INTENT_PERCEPTUAL);
    // libpng copies both.
    if (settings->color_count > 0) {
        png_set_PLTE(png, writer->info, (png_const_colorp)settings->palette, settings->color_count);
    }
    if (settings->alpha_count > 0) png_set_tRNS(png, writer->info, settings->alphas, settings->alpha_count, NULL);
    png_write_info(png, writer->info);
    *passes = png_set_interlace_handling(png);
    return TINTYPE_PNG_OK;
}

tintype_png_status tintype_png_write_row(tintype_png_writer *writer, const uint8_t *row) {
    if (setjmp(png_jmpbuf(writer->png))) return TINTYPE_PNG_CORRUPT;
    png_write_row(writer->png, row);
    return TINTYPE_PNG_OK;
}

tintype_png_status tintype_png_writer_finish(tintype_png_writer *writer) {
    if (setjmp(png_jmpbuf(writer->png))) return TINTYPE_PNG_CORRUPT;
    png_write_end(writer->png, writer->info);
    return TINTYPE_PNG_OK;
}

const uint8_t *tintype_png_writer_bytes(const tintype_png_writer *writer, size_t *count) {
    *count = writer->count;
    return writer->bytes;
}

const char *tintype_png_writer_message(const tintype_png_writer *writer) { return writer->message; }
