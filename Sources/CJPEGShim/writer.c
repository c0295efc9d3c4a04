#include "CJPEGShim.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>
#include <jerror.h>

struct tintype_jpeg_writer {
    struct jpeg_compress_struct encoder;
    struct jpeg_error_mgr errors;
    struct jpeg_destination_mgr destination;
    jmp_buf failure;
    tintype_jpeg_status status;
    char message[JMSG_LENGTH_MAX];
    uint8_t *bytes;
    size_t capacity;
    size_t count;
    size_t maximum;
};

static void fail(j_common_ptr common) {
    tintype_jpeg_writer *writer = common->client_data;
    common->err->format_message(common, writer->message);
    writer->status = common->err->msg_code == JERR_OUT_OF_MEMORY ? TINTYPE_JPEG_NO_MEMORY : TINTYPE_JPEG_CORRUPT;
    longjmp(writer->failure, 1);
}

static void ignore_message(j_common_ptr common) { (void)common; }
static void ignore_level(j_common_ptr common, int level) { (void)common; (void)level; }

static void stop(tintype_jpeg_writer *writer, tintype_jpeg_status status) {
    writer->status = status;
    longjmp(writer->failure, 1);
}

/// Enlarges the buffer. (libjpeg's own memory destination loses its buffer when writing fails.)
static void grow(tintype_jpeg_writer *writer) {
    size_t capacity = writer->capacity ? writer->capacity * 2 : 1 << 16;
    uint8_t *bytes = realloc(writer->bytes, capacity);
    if (!bytes) stop(writer, TINTYPE_JPEG_NO_MEMORY);
    writer->destination.next_output_byte = bytes + writer->capacity;
    writer->destination.free_in_buffer = capacity - writer->capacity;
    writer->bytes = bytes;
    writer->capacity = capacity;
}

static void init_destination(j_compress_ptr encoder) { grow(encoder->client_data); }

static boolean empty_output_buffer(j_compress_ptr encoder) {
    tintype_jpeg_writer *writer = encoder->client_data;
    if (writer->maximum && writer->capacity > writer->maximum) stop(writer, TINTYPE_JPEG_OVER_LIMIT);
    grow(writer);
    return TRUE;
}

static void term_destination(j_compress_ptr encoder) {
    tintype_jpeg_writer *writer = encoder->client_data;
    writer->count = writer->capacity - writer->destination.free_in_buffer;
    if (writer->maximum && writer->count > writer->maximum) stop(writer, TINTYPE_JPEG_OVER_LIMIT);
}

tintype_jpeg_writer *tintype_jpeg_writer_create(void) {
    tintype_jpeg_writer *writer = calloc(1, sizeof *writer);
    if (!writer) return NULL;
    writer->encoder.err = jpeg_std_error(&writer->errors);
    writer->encoder.client_data = writer;
    writer->errors.error_exit = fail;
    writer->errors.emit_message = ignore_level;
    writer->errors.output_message = ignore_message;
    if (setjmp(writer->failure)) {
        free(writer);
        return NULL;
    }
    jpeg_create_compress(&writer->encoder);
    writer->destination.init_destination = init_destination;
    writer->destination.empty_output_buffer = empty_output_buffer;
    writer->destination.term_destination = term_destination;
    writer->encoder.dest = &writer->destination;
    return writer;
}

void tintype_jpeg_writer_destroy(tintype_jpeg_writer *writer) {
    if (!setjmp(writer->failure)) jpeg_destroy_compress(&writer->encoder);
    free(writer->bytes);
    free(writer);
}

tintype_jpeg_status tintype_jpeg_writer_start(tintype_jpeg_writer *writer, const tintype_jpeg_settings *settings) {
    j_compress_ptr encoder = &writer->encoder;
    if (setjmp(writer->failure)) return writer->status;
    writer->maximum = settings->maximum_bytes;
    encoder->image_width = settings->width;
    encoder->image_height = settings->height;
    encoder->input_components = 4;
    encoder->in_color_space = JCS_EXT_RGBX;
    jpeg_set_defaults(encoder);
    if (settings->is_gray) jpeg_set_colorspace(encoder, JCS_GRAYSCALE);
    jpeg_set_quality(encoder, settings->quality, TRUE);
    encoder->comp_info[0].h_samp_factor = settings->is_gray ? 1 : settings->horizontal_factor;
    encoder->comp_info[0].v_samp_factor = settings->is_gray ? 1 : settings->vertical_factor;
    encoder->restart_in_rows = settings->restart_rows;
    if (settings->optimize) encoder->optimize_coding = TRUE;
    if (settings->progressive) jpeg_simple_progression(encoder);
    jpeg_start_compress(encoder, TRUE);
    if (settings->icc_profile_size > 0) {
        jpeg_write_icc_profile(encoder, settings->icc_profile, (unsigned)settings->icc_profile_size);
    }
    return TINTYPE_JPEG_OK;
}

tintype_jpeg_status tintype_jpeg_write_marker(
    tintype_jpeg_writer *writer, int marker, const uint8_t *bytes, size_t count
) {
    if (setjmp(writer->failure)) return writer->status;
    jpeg_write_marker(&writer->encoder, marker, bytes, (unsigned)count);
    return TINTYPE_JPEG_OK;
}

tintype_jpeg_status tintype_jpeg_write_row(tintype_jpeg_writer *writer, const uint8_t *row) {
    if (setjmp(writer->failure)) return writer->status;
    // libjpeg reads rows through a pointer that is not const, but does not write to them.
    JSAMPROW rows[] = {(JSAMPROW)row};
    jpeg_write_scanlines(&writer->encoder, rows, 1);
    return TINTYPE_JPEG_OK;
}

tintype_jpeg_status tintype_jpeg_writer_finish(tintype_jpeg_writer *writer) {
    if (setjmp(writer->failure)) return writer->status;
    jpeg_finish_compress(&writer->encoder);
    return TINTYPE_JPEG_OK;
}

const uint8_t *tintype_jpeg_writer_bytes(const tintype_jpeg_writer *writer, size_t *count) {
    *count = writer->count;
    return writer->bytes;
}

const char *tintype_jpeg_writer_message(const tintype_jpeg_writer *writer) { return writer->message; }
