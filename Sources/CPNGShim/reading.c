#include "reading.h"

// Chunks that don't affect the pixels: texts that may unpack to megabytes, suggestions, sizes in print.
static const png_byte skipped_chunks[] =
    "tEXt\0zTXt\0iTXt\0eXIf\0tIME\0hIST\0sPLT\0pCAL\0sCAL\0oFFs\0pHYs\0bKGD\0sBIT\0acTL\0fcTL\0fdAT"
    // The caller reads the profile itself: libpng rejects some that are in common use, and all profiles after an sRGB chunk.
    "\0iCCP";

void tintype_png_set_limits(png_structp png) {
    // Some writers state a window that is too small for their own distances. Browsers read their files.
    png_set_option(png, PNG_MAXIMUM_INFLATE_WINDOW, PNG_OPTION_ON);
    // The caller checks the size against its own limits before memory is allocated.
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_chunk_malloc_max(png, 16 << 20);
    png_set_chunk_cache_max(png, 128);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, skipped_chunks, sizeof skipped_chunks / 5);
}

void tintype_png_get_header(png_structp png, png_infop info, tintype_png_header *header) {
    int color_type = png_get_color_type(png, info);
    header->width = png_get_image_width(png, info);
    header->height = png_get_image_height(png, info);
    header->has_alpha =
        (color_type & PNG_COLOR_MASK_ALPHA) != 0 || png_get_valid(png, info, PNG_INFO_tRNS) != 0;
    header->passes = png_get_interlace_type(png, info) == PNG_INTERLACE_ADAM7 ? 7 : 1;
}

void tintype_png_want_rgba(png_structp png, png_infop info, int is_deep) {
    png_set_expand(png);
    if (is_deep) {
        png_set_expand_16(png);
        // The file stores the high byte first.
        if (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) png_set_swap(png);
    } else {
        png_set_scale_16(png);
    }
    png_set_gray_to_rgb(png);
    png_set_add_alpha(png, is_deep ? 0xFFFF : 0xFF, PNG_FILLER_AFTER);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
    size_t expected = (size_t)png_get_image_width(png, info) * (is_deep ? 8 : 4);
    if (png_get_rowbytes(png, info) != expected) png_error(png, "rows of an unexpected length");
}
