#include "CPNGShim.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <png.h>

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

// Chunks that say nothing of the pixels: texts that may unpack to megabytes, suggestions, sizes in print.
static const png_byte skipped_chunks[] =
    "tEXt\0zTXt\0iTXt\0eXIf\0tIME\0hIST\0sPLT\0pCAL\0sCAL\0oFFs\0pHYs\0bKGD\0sBIT\0acTL\0fcTL\0fdAT";

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
    // The caller compares the size with limits of its own before memory is taken.
    png_set_user_limits(reader->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_chunk_malloc_max(reader->png, 16 << 20);
    png_set_chunk_cache_max(reader->png, 128);
    png_set_keep_unknown_chunks(reader->png, PNG_HANDLE_CHUNK_NEVER, skipped_chunks, sizeof skipped_chunks / 5);
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
    int color_type = png_get_color_type(reader->png, reader->info);
    header->width = png_get_image_width(reader->png, reader->info);
    header->height = png_get_image_height(reader->png, reader->info);
    header->bit_depth = png_get_bit_depth(reader->png, reader->info);
    header->has_alpha =
        (color_type & PNG_COLOR_MASK_ALPHA) != 0 || png_get_valid(reader->png, reader->info, PNG_INFO_tRNS) != 0;
    header->is_gray = (color_type & PNG_COLOR_MASK_COLOR) == 0;
    header->passes = png_get_interlace_type(reader->png, reader->info) == PNG_INTERLACE_ADAM7 ? 7 : 1;
    return TINTYPE_PNG_OK;
}

const uint8_t *tintype_png_icc_profile(tintype_png_reader *reader, size_t *count) {
    if (setjmp(png_jmpbuf(reader->png))) return NULL;
    png_charp name;
    png_bytep profile;
    png_uint_32 size;
    int compression;
    if (!png_get_iCCP(reader->png, reader->info, &name, &compression, &profile, &size)) return NULL;
    *count = size;
    return profile;
}

tintype_png_status tintype_png_start(tintype_png_reader *reader) {
    if (setjmp(png_jmpbuf(reader->png))) return failure(reader);
    png_set_expand(reader->png);
    png_set_scale_16(reader->png);
    png_set_gray_to_rgb(reader->png);
    png_set_add_alpha(reader->png, 0xFF, PNG_FILLER_AFTER);
    png_set_interlace_handling(reader->png);
    png_read_update_info(reader->png, reader->info);
    size_t expected = (size_t)png_get_image_width(reader->png, reader->info) * 4;
    if (png_get_rowbytes(reader->png, reader->info) != expected) png_error(reader->png, "rows of an unexpected length");
    return TINTYPE_PNG_OK;
}

tintype_png_status tintype_png_read_row(tintype_png_reader *reader, uint8_t *row, int fills_gaps) {
    if (setjmp(png_jmpbuf(reader->png))) return failure(reader);
    png_read_row(reader->png, fills_gaps ? NULL : row, fills_gaps ? row : NULL);
    return TINTYPE_PNG_OK;
}

const char *tintype_png_reader_message(const tintype_png_reader *reader) { return reader->message; }
