#include "CPNGShim.h"
#include "reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>


struct tintype_png_reader {
    png_structp png;
    png_infop info;
    const uint8_t *bytes;
    size_t count;
    size_t offset;
    int ran_out;
    char message[128];
};

static void fail(png_structp png, png_const_charp message) {
    tintype_png_reader *reader = png_get_error_ptr(png);
    snprintf(reader->message, sizeof reader->message, "%s", message);
    png_longjmp(png, 1);
}

static void ignore_warning(png_structp png, png_const_charp message) {
    (void)png;
    (void)message;
}

static void read_bytes(png_structp png, png_bytep destination, size_t count) {
    tintype_png_reader *reader = png_get_io_ptr(png);
    if (count > reader->count - reader->offset) {
        reader->ran_out = 1;
        png_error(png, "the file ends in the middle of a chunk");
    }
    memcpy(destination, reader->bytes + reader->offset, count);
    reader->offset += count;
}

static tintype_png_status failure(const tintype_png_reader *reader) {
    return reader->ran_out ? TINTYPE_PNG_TRUNCATED : TINTYPE_PNG_CORRUPT;
}

tintype_png_reader *tintype_png_reader_create(const uint8_t *bytes, size_t count, int checks_crc) {
    tintype_png_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return NULL;
    reader->bytes = bytes;
    reader->count = count;
    reader->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, reader, fail, ignore_warning);
    if (reader->png) reader->info = png_create_info_struct(reader->png);
    if (!reader->info || setjmp(png_jmpbuf(reader->png))) {
        png_destroy_read_struct(&reader->png, &reader->info, NULL);
        free(reader);
        return NULL;
    }
    png_set_read_fn(reader->png, reader, read_bytes);
    tintype_png_set_limits(reader->png);
    if (!checks_crc) png_set_crc_action(reader->png, PNG_CRC_QUIET_USE, PNG_CRC_QUIET_USE);
    return reader;
}

void tintype_png_reader_destroy(tintype_png_reader *reader) {
    png_destroy_read_struct(&reader->png, &reader->info, NULL);
    free(reader);
}

void tintype_png_expect_end(tintype_png_reader *reader) {
    if (setjmp(png_jmpbuf(reader->png))) return;
    png_set_compression_buffer_size(reader->png, 32);
}

tintype_png_status tintype_png_read_header(tintype_png_reader *reader, tintype_png_header *header) {
    if (setjmp(png_jmpbuf(reader->png))) return failure(reader);
    png_read_info(reader->png, reader->info);
    tintype_png_get_header(reader->png, reader->info, header);
    return TINTYPE_PNG_OK;
}

const uint8_t *tintype_png_icc_profile(tintype_png_reader *reader, size_t *count) {
    if (setjmp(png_jmpbuf(reader->png))) return NULL;
    return tintype_png_get_profile(reader->png, reader->info, count);
}

tintype_png_status tintype_png_start(tintype_png_reader *reader, int is_deep) {
    if (setjmp(png_jmpbuf(reader->png))) return failure(reader);
    tintype_png_want_rgba(reader->png, reader->info, is_deep);
    return TINTYPE_PNG_OK;
}

tintype_png_status tintype_png_read_row(tintype_png_reader *reader, uint8_t *row, int fills_gaps) {
    if (setjmp(png_jmpbuf(reader->png))) return failure(reader);
    png_read_row(reader->png, fills_gaps ? NULL : row, fills_gaps ? row : NULL);
    return TINTYPE_PNG_OK;
}

const char *tintype_png_reader_message(const tintype_png_reader *reader) { return reader->message; }
