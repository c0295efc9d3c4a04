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
    /// The start of a chunk that ends after the available bytes.
    size_t cut_chunk;
    int ran_out;
    int has_wrong_sum;
    char message[128];
};

static void fail(png_structp png, png_const_charp message) {
    tintype_png_reader *reader = png_get_error_ptr(png);
    snprintf(reader->message, sizeof reader->message, "%s", message);
    png_longjmp(png, 1);
}

/// After the last row, libpng only warns about data with a wrong checksum.
static void note_warning(png_structp png, png_const_charp message) {
    tintype_png_reader *reader = png_get_error_ptr(png);
    if (!reader || !strstr(message, "incorrect data check")) return;
    reader->has_wrong_sum = 1;
    snprintf(reader->message, sizeof reader->message, "%s", message);
}

static void read_bytes(png_structp png, png_bytep destination, size_t count) {
    tintype_png_reader *reader = png_get_io_ptr(png);
    if (count > reader->count - reader->offset) {
        reader->ran_out = 1;
        png_error(png, "the file ends in the middle of a chunk");
    }
    memcpy(destination, reader->bytes + reader->offset, count);
    // libpng reads data in blocks, and would lose the last block. So the chunk's length is replaced with the length of the
    // available data.
    if (reader->offset == reader->cut_chunk && count == 8) {
        size_t rest = reader->count - reader->offset - 8;
        for (int byte = 0; byte < 4; byte++) destination[byte] = (png_byte)(rest >> (24 - 8 * byte));
    }
    reader->offset += count;
}

static tintype_png_status failure(const tintype_png_reader *reader) {
    return reader->ran_out ? TINTYPE_PNG_TRUNCATED : TINTYPE_PNG_CORRUPT;
}

/// An answer of 1 tells libpng that the chunk was handled.
static int skip_chunk(png_structp png, png_unknown_chunkp chunk) {
    (void)png;
    (void)chunk;
    return 1;
}

tintype_png_reader *tintype_png_reader_create(
    const uint8_t *bytes, size_t count, size_t cut_chunk, int checks_crc, int skips_palette
) {
    tintype_png_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return NULL;
    reader->bytes = bytes;
    reader->count = count;
    reader->cut_chunk = cut_chunk;
    reader->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, reader, fail, note_warning);
    if (reader->png) reader->info = png_create_info_struct(reader->png);
    if (!reader->info || setjmp(png_jmpbuf(reader->png))) {
        png_destroy_read_struct(&reader->png, &reader->info, NULL);
        free(reader);
        return NULL;
    }
    png_set_read_fn(reader->png, reader, read_bytes);
    tintype_png_set_limits(reader->png);
    if (skips_palette) {
        png_set_read_user_chunk_fn(reader->png, NULL, skip_chunk);
        png_set_keep_unknown_chunks(reader->png, PNG_HANDLE_CHUNK_ALWAYS, (png_const_bytep)"PLTE", 1);
    }
    if (!checks_crc) png_set_crc_action(reader->png, PNG_CRC_QUIET_USE, PNG_CRC_QUIET_USE);
    return reader;
}

void tintype_png_reader_destroy(tintype_png_reader *reader) {
    png_destroy_read_struct(&reader->png, &reader->info, NULL);
    free(reader);
}

tintype_png_status tintype_png_read_header(tintype_png_reader *reader, tintype_png_header *header) {
    if (setjmp(png_jmpbuf(reader->png))) return failure(reader);
    png_read_info(reader->png, reader->info);
    tintype_png_get_header(reader->png, reader->info, header);
    return TINTYPE_PNG_OK;
}

tintype_png_status tintype_png_start(tintype_png_reader *reader, int is_deep) {
    if (setjmp(png_jmpbuf(reader->png))) return failure(reader);
    tintype_png_want_rgba(reader->png, reader->info, is_deep);
    return TINTYPE_PNG_OK;
}

/// Returns 1 if libpng has decoded the last row of the last pass, but found no end of the data after it.
static int lacks_end_only(const tintype_png_reader *reader) {
    if (!reader->ran_out && strcmp(reader->message, "Not enough image data") != 0) return 0;
    if (png_get_interlace_type(reader->png, reader->info) == PNG_INTERLACE_ADAM7) {
        return png_get_current_pass_number(reader->png) >= 7;
    }
    return png_get_current_row_number(reader->png) >= png_get_image_height(reader->png, reader->info);
}

tintype_png_status tintype_png_read_row(tintype_png_reader *reader, uint8_t *row, int fills_gaps) {
    // Data that ends directly after the last pixel is visually complete.
    if (setjmp(png_jmpbuf(reader->png))) return lacks_end_only(reader) ? TINTYPE_PNG_OK : failure(reader);
    png_read_row(reader->png, fills_gaps ? NULL : row, fills_gaps ? row : NULL);
    return reader->has_wrong_sum ? TINTYPE_PNG_CORRUPT : TINTYPE_PNG_OK;
}

const char *tintype_png_reader_message(const tintype_png_reader *reader) { return reader->message; }
