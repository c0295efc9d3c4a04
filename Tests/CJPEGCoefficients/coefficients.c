#include "CJPEGCoefficients.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

static const int natural_order[64] = {
    0,  1,  8,  16, 9,  2,  3,  10, 17, 24, 32, 25, 18, 11, 4,  5,  12, 19, 26, 33, 40, 48, 41, 34, 27, 20, 13, 6,  7,  14, 21, 28,
    35, 42, 49, 56, 57, 50, 43, 36, 29, 22, 15, 23, 30, 37, 44, 51, 58, 59, 52, 45, 38, 31, 39, 46, 53, 60, 61, 54, 47, 55, 62, 63};

typedef struct {
    struct jpeg_error_mgr manager;
    jmp_buf failure;
} errors;

static void fail(j_common_ptr decoder) { longjmp(((errors *)decoder->err)->failure, 1); }

static void count_warning(j_common_ptr decoder, int level) {
    if (level < 0) decoder->err->num_warnings++;
}

/// Copies the coefficients; returns the number of blocks.
static long copy(j_decompress_ptr decoder, jvirt_barray_ptr *arrays, int16_t **coefficients) {
    // The factors of an only component say nothing.
    const int is_single = decoder->num_components == 1;
    const long across = 8L * (is_single ? 1 : decoder->max_h_samp_factor);
    const long down = 8L * (is_single ? 1 : decoder->max_v_samp_factor);
    const long columns = (decoder->image_width + across - 1) / across, rows = (decoder->image_height + down - 1) / down;
    long blocks = 0;
    for (int c = 0; c < decoder->num_components; c++) {
        const jpeg_component_info *info = decoder->comp_info + c;
        blocks += is_single ? 1 : info->h_samp_factor * info->v_samp_factor;
    }
    int16_t *next = malloc((size_t)(columns * rows * blocks) * 64 * sizeof *next);
    *coefficients = next;
    if (!next) return -1;
    for (long mcu = 0; mcu < columns * rows; mcu++) {
        for (int c = 0; c < decoder->num_components; c++) {
            const int width = is_single ? 1 : decoder->comp_info[c].h_samp_factor;
            const int height = is_single ? 1 : decoder->comp_info[c].v_samp_factor;
            for (int block = 0; block < width * height; block++) {
                const JDIMENSION row = (JDIMENSION)(mcu / columns * height + block / width);
                JBLOCKARRAY array =
                    decoder->mem->access_virt_barray((j_common_ptr)decoder, arrays[c], row, 1, FALSE);
                const JCOEF *values = array[0][mcu % columns * width + block % width];
                for (int k = 0; k < 64; k++) *next++ = values[natural_order[k]];
            }
        }
    }
    return columns * rows * blocks;
}

long jpeg_coefficients(const uint8_t *bytes, size_t count, int16_t **coefficients, long *warnings) {
    struct jpeg_decompress_struct decoder;
    errors errors;
    decoder.err = jpeg_std_error(&errors.manager);
    errors.manager.error_exit = fail;
    errors.manager.emit_message = count_warning;
    *coefficients = NULL;
    *warnings = 0;
    if (setjmp(errors.failure)) {
        jpeg_destroy_decompress(&decoder);
        free(*coefficients);
        *coefficients = NULL;
        return -1;
    }
    jpeg_create_decompress(&decoder);
    jpeg_mem_src(&decoder, bytes, count);
    jpeg_read_header(&decoder, TRUE);
    jvirt_barray_ptr *arrays = jpeg_read_coefficients(&decoder);
    const long blocks = copy(&decoder, arrays, coefficients);
    *warnings = errors.manager.num_warnings;
    jpeg_destroy_decompress(&decoder);
    return blocks;
}
