#include "CPNGShim.h"
#include "reading.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tintype_png_pusher {
    png_structp png;
    png_infop info;
    tintype_png_rows rows;
    /// The number of unused bytes of the current call.
    size_t unused;
    int has_header;
    int has_ended;
    int has_all_rows;
    int has_odd_end;
    char message[128];
};

static void fail(png_structp png, png_const_charp message) {
    tintype_png_pusher *pusher = png_get_error_ptr(png);
    snprintf(pusher->message, sizeof pusher->message, "%s", message);
    png_longjmp(png, 1);
}

/// Once all rows have arrived, libpng only warns about data with a damaged end.
static void note_warning(png_structp png, png_const_charp message) {
    tintype_png_pusher *pusher = png_get_error_ptr(png);
    if (pusher && strstr(message, "Truncated compressed data")) pusher->has_odd_end = 1;
}

/// Called at the start of the pixels: the caller reads the header first.
static void take_header(png_structp png, png_infop info) {
    tintype_png_pusher *pusher = png_get_progressive_ptr(png);
    (void)info;
    pusher->has_header = 1;
    pusher->unused = png_process_data_pause(png, 0);
}

static void take_row(png_structp png, png_bytep row, png_uint_32 y, int pass) {
    tintype_png_pusher *pusher = png_get_progressive_ptr(png);
    // Called for every row of each pass, even if the pass has no pixels for it.
    int is_interlaced = png_get_interlace_type(png, pusher->info) == PNG_INTERLACE_ADAM7;
    pusher->has_all_rows = y + 1 == png_get_image_height(png, pusher->info) && (!is_interlaced || pass == 6);
    if (!row || !pusher->rows.row_to_fill) return;
    uint8_t *target = pusher->rows.row_to_fill(pusher->rows.context, y);
    if (!target) return;
    png_progressive_combine_row(png, target, row);
    pusher->rows.row_is_filled(pusher->rows.context, y);
}

static void take_end(png_structp png, png_infop info) {
    tintype_png_pusher *pusher = png_get_progressive_ptr(png);
    (void)info;
    pusher->has_ended = 1;
}

tintype_png_pusher *tintype_png_pusher_create(void) {
    tintype_png_pusher *pusher = calloc(1, sizeof *pusher);
    if (!pusher) return NULL;
    pusher->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, pusher, fail, note_warning);
    if (pusher->png) pusher->info = png_create_info_struct(pusher->png);
    if (!pusher->info || setjmp(png_jmpbuf(pusher->png))) {
        png_destroy_read_struct(&pusher->png, &pusher->info, NULL);
        free(pusher);
        return NULL;
    }
    tintype_png_set_limits(pusher->png);
    png_set_progressive_read_fn(pusher->png, pusher, take_header, take_row, take_end);
    return pusher;
}

void tintype_png_pusher_destroy(tintype_png_pusher *pusher) {
    png_destroy_read_struct(&pusher->png, &pusher->info, NULL);
    free(pusher);
}

tintype_png_status tintype_png_push(
    tintype_png_pusher *pusher, const uint8_t *bytes, size_t count, size_t *used
) {
    *used = 0;
    if (setjmp(png_jmpbuf(pusher->png))) return TINTYPE_PNG_CORRUPT;
    pusher->unused = 0;
    // libpng reads the bytes through a pointer that is not const, but does not write to them.
    png_process_data(pusher->png, pusher->info, (png_bytep)bytes, count);
    *used = count - pusher->unused;
    return TINTYPE_PNG_OK;
}

int tintype_png_pusher_has_header(const tintype_png_pusher *pusher) { return pusher->has_header; }
int tintype_png_pusher_has_ended(const tintype_png_pusher *pusher) { return pusher->has_ended; }
int tintype_png_pusher_has_all_rows(const tintype_png_pusher *pusher) { return pusher->has_all_rows; }
int tintype_png_pusher_has_odd_end(const tintype_png_pusher *pusher) { return pusher->has_odd_end; }

tintype_png_status tintype_png_pusher_start(tintype_png_pusher *pusher, tintype_png_header *header) {
    if (setjmp(png_jmpbuf(pusher->png))) return TINTYPE_PNG_CORRUPT;
    tintype_png_get_header(pusher->png, pusher->info, header);
    tintype_png_want_rgba(pusher->png, pusher->info, 0);
    return TINTYPE_PNG_OK;
}

void tintype_png_pusher_set_rows(tintype_png_pusher *pusher, tintype_png_rows rows) { pusher->rows = rows; }

const char *tintype_png_pusher_message(const tintype_png_pusher *pusher) { return pusher->message; }
