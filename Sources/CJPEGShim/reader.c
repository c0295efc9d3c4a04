#include "CJPEGShim.h"
#include "coefficients.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

struct tintype_jpeg_reader {
    // The first field, so that `client_data` points to it too.
    tintype_jpeg_coefficients coefficients;
    struct jpeg_decompress_struct decoder;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    jmp_buf failure;
    tintype_jpeg_status status;
    char message[JMSG_LENGTH_MAX];
    int has_started;
    int ran_out;
    int missing_data;
    // The number of scans that have been read completely, and a bit for each component that they have.
    int whole_scans;
    unsigned seen_components;
    // Set if these scans have everything of the picture.
    int has_all_scans;
    // What a second frame header behind the picture would change before libjpeg refuses it.
    boolean is_progressive;
    int components;
    // Set if the file ends between two scans, inside a part that libjpeg cannot read without its end.
    int is_cut;
    // For a reader that receives its bytes gradually: the bytes that libjpeg has not used yet, and the number it wants to skip.
    int is_waiting;
    uint8_t *buffer;
    size_t capacity;
    size_t skipped;
};

static void fail(j_common_ptr common) {
    tintype_jpeg_reader *reader = common->client_data;
    common->err->format_message(common, reader->message);
    switch (common->err->msg_code) {
        // With a memory limit set, libjpeg asks for a temporary file, which this build of it does not have.
        case JERR_NO_BACKING_STORE:
        case JERR_TFILE_CREATE:
        case JERR_WIDTH_OVERFLOW:
            reader->status = TINTYPE_JPEG_OVER_LIMIT;
            break;
        case JERR_OUT_OF_MEMORY:
            reader->status = TINTYPE_JPEG_NO_MEMORY;
            break;
        case JERR_SOF_UNSUPPORTED:
        case JERR_ARITH_NOTIMPL:
        case JERR_BAD_PRECISION:
        case JERR_CONVERSION_NOTIMPL:
        case JERR_FRACT_SAMPLE_NOTIMPL:
        case JERR_CCIR601_NOTIMPL:
            reader->status = TINTYPE_JPEG_UNSUPPORTED;
            break;
        default:
            reader->status = TINTYPE_JPEG_CORRUPT;
    }
    longjmp(reader->failure, 1);
}

/// libjpeg continues after these messages, and so does the caller, up to its own limit.
static void note_message(j_common_ptr common, int level) {
    tintype_jpeg_reader *reader = common->client_data;
    if (level >= 0) return;
    if (common->err->num_warnings++ == 0) common->err->format_message(common, reader->message);
    // The entropy decoder needed more bits, but found the end of the image or of the file.
    if (common->err->msg_code == JWRN_HIT_MARKER && reader->decoder.unread_marker == JPEG_EOI) {
        reader->missing_data = 1;
    }
}

static void ignore_message(j_common_ptr common) { (void)common; }
static void ignore_source(j_decompress_ptr decoder) { (void)decoder; }

static const JOCTET end_of_image[] = {0xFF, JPEG_EOI};

/// When all bytes are used up, libjpeg waits for more, or receives an end marker.
static boolean fill_input_buffer(j_decompress_ptr decoder) {
    tintype_jpeg_reader *reader = decoder->client_data;
    if (reader->is_waiting) return FALSE;
    reader->ran_out = 1;
    // The arithmetic decoder pads with zeros without a message.
    if (decoder->arith_code && reader->has_started) reader->missing_data = 1;
    decoder->src->next_input_byte = end_of_image;
    decoder->src->bytes_in_buffer = sizeof end_of_image;
    return TRUE;
}

static void skip_input_data(j_decompress_ptr decoder, long count) {
    struct jpeg_source_mgr *source = decoder->src;
    if (count <= 0) return;
    if ((size_t)count > source->bytes_in_buffer) {
        tintype_jpeg_reader *reader = decoder->client_data;
        if (reader->is_waiting) {
            reader->skipped += (size_t)count - source->bytes_in_buffer;
            source->next_input_byte += source->bytes_in_buffer;
            source->bytes_in_buffer = 0;
        } else {
            fill_input_buffer(decoder);
        }
        return;
    }
    source->next_input_byte += count;
    source->bytes_in_buffer -= (size_t)count;
}

tintype_jpeg_reader *tintype_jpeg_reader_create(const uint8_t *bytes, size_t count, size_t memory_limit) {
    tintype_jpeg_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return NULL;
    reader->decoder.err = jpeg_std_error(&reader->errors);
    reader->decoder.client_data = reader;
    reader->errors.error_exit = fail;
    reader->errors.emit_message = note_message;
    reader->errors.output_message = ignore_message;
    if (setjmp(reader->failure)) {
        free(reader);
        return NULL;
    }
    // Preserves `err` and `client_data`, and clears the rest.
    jpeg_create_decompress(&reader->decoder);
    reader->decoder.mem->max_memory_to_use = (long)memory_limit;
    reader->coefficients.limit = memory_limit;
    tintype_jpeg_coefficients_install(&reader->decoder);
    reader->source.next_input_byte = bytes;
    reader->source.bytes_in_buffer = count;
    reader->source.init_source = ignore_source;
    reader->source.fill_input_buffer = fill_input_buffer;
    reader->source.skip_input_data = skip_input_data;
    reader->source.resync_to_restart = jpeg_resync_to_restart;
    reader->source.term_source = ignore_source;
    reader->decoder.src = &reader->source;
    return reader;
}

tintype_jpeg_reader *tintype_jpeg_reader_create_incremental(size_t memory_limit) {
    tintype_jpeg_reader *reader = tintype_jpeg_reader_create(NULL, 0, memory_limit);
    if (reader) reader->is_waiting = 1;
    return reader;
}

tintype_jpeg_status tintype_jpeg_append(tintype_jpeg_reader *reader, const uint8_t *bytes, size_t count) {
    size_t left_out = reader->skipped < count ? reader->skipped : count;
    reader->skipped -= left_out;
    bytes += left_out;
    count -= left_out;
    size_t unused = reader->source.bytes_in_buffer;
    if (count > reader->capacity - unused) {
        size_t capacity = (unused + count) * 2;
        uint8_t *larger = malloc(capacity);
        if (!larger) {
            snprintf(reader->message, sizeof reader->message, "no memory for %zu bytes", capacity);
            return TINTYPE_JPEG_NO_MEMORY;
        }
        if (unused) memcpy(larger, reader->source.next_input_byte, unused);
        free(reader->buffer);
        reader->buffer = larger;
        reader->capacity = capacity;
    } else if (unused) {
        memmove(reader->buffer, reader->source.next_input_byte, unused);
    }
    if (count) memcpy(reader->buffer + unused, bytes, count);
    reader->source.next_input_byte = reader->buffer;
    reader->source.bytes_in_buffer = unused + count;
    return TINTYPE_JPEG_OK;
}

void tintype_jpeg_end(tintype_jpeg_reader *reader) { reader->is_waiting = 0; }

void tintype_jpeg_reader_destroy(tintype_jpeg_reader *reader) {
    if (!setjmp(reader->failure)) jpeg_destroy_decompress(&reader->decoder);
    tintype_jpeg_coefficients_release(&reader->coefficients);
    free(reader->buffer);
    free(reader);
}

tintype_jpeg_status tintype_jpeg_read_header(tintype_jpeg_reader *reader, tintype_jpeg_header *header) {
    j_decompress_ptr decoder = &reader->decoder;
    if (setjmp(reader->failure)) {
        // A header that is cut off by the end of the file means a truncated file regardless of libjpeg's report.
        if (reader->ran_out) reader->missing_data = 1;
        return reader->status;
    }
    if (jpeg_read_header(decoder, TRUE) == JPEG_SUSPENDED) return TINTYPE_JPEG_SUSPENDED;
    header->width = decoder->image_width;
    header->height = decoder->image_height;
    header->components = decoder->num_components;
    header->is_cmyk = decoder->jpeg_color_space == JCS_CMYK || decoder->jpeg_color_space == JCS_YCCK;
    header->has_multiple_scans = jpeg_has_multiple_scans(decoder);
    return TINTYPE_JPEG_OK;
}

void tintype_jpeg_leave_gaps(tintype_jpeg_reader *reader) { reader->decoder.do_block_smoothing = FALSE; }

tintype_jpeg_status tintype_jpeg_start(
    tintype_jpeg_reader *reader, unsigned eighths, int as_cmyk, uint32_t *width, uint32_t *height
) {
    j_decompress_ptr decoder = &reader->decoder;
    if (setjmp(reader->failure)) return reader->status;
    reader->is_progressive = decoder->progressive_mode;
    reader->components = decoder->num_components;
    decoder->scale_num = eighths;
    decoder->scale_denom = 8;
    // libjpeg makes RGBA of gray one byte after the other.
    if (decoder->jpeg_color_space == JCS_GRAYSCALE) decoder->out_color_space = JCS_GRAYSCALE;
    else decoder->out_color_space = as_cmyk ? JCS_CMYK : JCS_EXT_RGBA;
    decoder->dct_method = JDCT_ISLOW;
    // Processes the scans a row of blocks at a time, instead of reading all of them in jpeg_start_decompress.
    decoder->buffered_image = jpeg_has_multiple_scans(decoder);
    reader->has_started = 1;
    jpeg_start_decompress(decoder);
    *width = decoder->output_width;
    *height = decoder->output_height;
    return TINTYPE_JPEG_OK;
}

/// Returns 1 if a coefficient of a progressive image is missing, or some of its bits (ITU-T T.81, annex G), or a component of any other one.
static int is_unfinished(tintype_jpeg_reader *reader) {
    j_decompress_ptr decoder = &reader->decoder;
    if (!decoder->progressive_mode) return reader->seen_components + 1 != 1u << decoder->num_components;
    if (!decoder->coef_bits) return 0;
    for (int component = 0; component < decoder->num_components; component++) {
        for (int coefficient = 0; coefficient < DCTSIZE2; coefficient++) {
            if (decoder->coef_bits[component][coefficient] != 0) return 1;
        }
    }
    return 0;
}

tintype_jpeg_status tintype_jpeg_consume(tintype_jpeg_reader *reader, int steps, int maximum_scans) {
    j_decompress_ptr decoder = &reader->decoder;
    if (setjmp(reader->failure)) {
        // What follows a whole picture is no part of it. A scan that failed may have changed what libjpeg knows of the others.
        if (reader->whole_scans) {
            decoder->progressive_mode = reader->is_progressive;
            decoder->num_components = reader->components;
        }
        int is_whole = reader->has_all_scans;
        if (!reader->ran_out && !is_whole) return reader->status;
        if (!is_whole) reader->missing_data = 1;
        if (!reader->whole_scans || reader->is_cut) return reader->status;
        // The previous scans are complete: libjpeg discards the marker that it was reading, and finds the end.
        reader->is_cut = 1;
        decoder->unread_marker = 0;
        reader->source.next_input_byte = end_of_image;
        reader->source.bytes_in_buffer = sizeof end_of_image;
        jpeg_consume_input(decoder);
        return TINTYPE_JPEG_OK;
    }
    for (int step = 0; step < steps; step++) {
        int event = jpeg_consume_input(decoder);
        if (event == JPEG_SCAN_COMPLETED) {
            reader->whole_scans = decoder->input_scan_number;
            for (int index = 0; index < decoder->comps_in_scan; index++) {
                reader->seen_components |= 1u << decoder->cur_comp_info[index]->component_index;
            }
            reader->has_all_scans = !is_unfinished(reader);
        }
        if (event == JPEG_REACHED_EOI) return TINTYPE_JPEG_OK;
        if (event == JPEG_SUSPENDED) return TINTYPE_JPEG_SUSPENDED;
        if (decoder->input_scan_number > maximum_scans) {
            snprintf(reader->message, sizeof reader->message, "more than %d scans", maximum_scans);
            return TINTYPE_JPEG_OVER_LIMIT;
        }
    }
    return TINTYPE_JPEG_MORE;
}

int tintype_jpeg_scan_count(tintype_jpeg_reader *reader) {
    j_decompress_ptr decoder = &reader->decoder;
    // Only the next scan's header proves that a scan is complete.
    return jpeg_input_complete(decoder) ? decoder->input_scan_number : decoder->input_scan_number - 1;
}

tintype_jpeg_status tintype_jpeg_start_output(tintype_jpeg_reader *reader) {
    j_decompress_ptr decoder = &reader->decoder;
    if (setjmp(reader->failure)) return reader->status;
    if (reader->ran_out && is_unfinished(reader)) reader->missing_data = 1;
    jpeg_start_output(decoder, reader->is_cut ? reader->whole_scans : decoder->input_scan_number);
    return TINTYPE_JPEG_OK;
}

tintype_jpeg_status tintype_jpeg_start_preview(tintype_jpeg_reader *reader, int scan) {
    if (setjmp(reader->failure)) return reader->status;
    jpeg_start_output(&reader->decoder, scan);
    return TINTYPE_JPEG_OK;
}

tintype_jpeg_status tintype_jpeg_finish_preview(tintype_jpeg_reader *reader) {
    if (setjmp(reader->failure)) return reader->status;
    return jpeg_finish_output(&reader->decoder) ? TINTYPE_JPEG_OK : TINTYPE_JPEG_SUSPENDED;
}

tintype_jpeg_status tintype_jpeg_read_row(tintype_jpeg_reader *reader, uint8_t *row) {
    if (setjmp(reader->failure)) return reader->status;
    JSAMPROW rows[] = {row};
    if (jpeg_read_scanlines(&reader->decoder, rows, 1) != 1) {
        if (reader->is_waiting) return TINTYPE_JPEG_SUSPENDED;
        snprintf(reader->message, sizeof reader->message, "there are fewer rows than the header says");
        return TINTYPE_JPEG_CORRUPT;
    }
    return TINTYPE_JPEG_OK;
}

int tintype_jpeg_is_missing_data(const tintype_jpeg_reader *reader) { return reader->missing_data; }
long tintype_jpeg_warning_count(const tintype_jpeg_reader *reader) { return reader->errors.num_warnings; }
const char *tintype_jpeg_reader_message(const tintype_jpeg_reader *reader) { return reader->message; }
