// The kernels, for the instruction set that VERSION and TARGET specify. Included once for each.

// A pixel of `size` bytes depends on the previous one, so only its components can be processed in parallel.
TARGET static inline void VERSION(sub)(uint8_t *row, const uint8_t *source, long bytes, const int size) {
    u8x8 left = {0};
    for (long i = 0; i < bytes; i += size) {
        left += load_pixel(source + i);
        store_pixel(row + i, left);
    }
}

TARGET static inline void VERSION(average)(
    uint8_t *row, const uint8_t *source, const uint8_t *above, long bytes, const int size
) {
    i16x8 left = {0};
    for (long i = 0; i < bytes; i += size) {
        const i16x8 mean = (left + WIDE(load_pixel(above + i))) >> 1;
        left = ADD_BYTES(WIDE(load_pixel(source + i)), mean);
        store_pixel(row + i, NARROW(left));
    }
}

TARGET static inline void VERSION(paeth)(
    uint8_t *row, const uint8_t *source, const uint8_t *above, long bytes, const int size
) {
    i16x8 left = {0}, corner = {0};
    for (long i = 0; i < bytes; i += size) {
        const i16x8 top = WIDE(load_pixel(above + i));
        // The distances of left + top - corner from left, from top and from corner.
        const i16x8 down = top - corner, across = left - corner;
        const i16x8 from_left = __builtin_elementwise_abs(down), from_top = __builtin_elementwise_abs(across);
        const i16x8 from_corner = __builtin_elementwise_abs(down + across);
        const i16x8 least =
            __builtin_elementwise_min(from_corner, __builtin_elementwise_min(from_left, from_top));
        const i16x8 is_left = least == from_left, is_top = least == from_top;
        const i16x8 other = (top & is_top) | (corner & ~is_top);
        left = ADD_BYTES(WIDE(load_pixel(source + i)), (left & is_left) | (other & ~is_left));
        corner = top;
        store_pixel(row + i, NARROW(left));
    }
}

TARGET static void VERSION(up)(uint8_t *row, const uint8_t *source, const uint8_t *above, long bytes) {
    for (long i = 0; i < bytes; i += 16) {
        u8x16 a, b;
        memcpy(&a, source + i, 16);
        memcpy(&b, above + i, 16);
        a += b;
        memcpy(row + i, &a, 16);
    }
}

// The compiler creates a separate loop for each constant size.
#define UNDO_PIXELS(size)                                                                  \
    switch (filter) {                                                                      \
        case 1: VERSION(sub)(row, source, bytes, size); return;                            \
        case 3: VERSION(average)(row, source, above, bytes, size); return;                 \
        case 4: VERSION(paeth)(row, source, above, bytes, size); return;                   \
    }

TARGET static void VERSION(undo)(
    uint8_t *row, const uint8_t *source, const uint8_t *above, long bytes, int pixel_bytes, int filter
) {
    if (filter == 0) {
        memcpy(row, source, (size_t)bytes);
    } else if (filter == 2) {
        VERSION(up)(row, source, above, bytes);
    } else if (pixel_bytes == 3) {
        UNDO_PIXELS(3)
    } else if (pixel_bytes == 4) {
        UNDO_PIXELS(4)
    } else {
        undo_small(row, source, above, bytes, pixel_bytes, filter);
    }
}

TARGET static void VERSION(expand)(uint8_t *pixels, const uint8_t *rgb, long count) {
    const u8x16 opaque = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
    for (long i = 0; i < count; i += 4) {
        u8x16 four;
        memcpy(&four, rgb + i * 3, 16);
        four = __builtin_shufflevector(four, opaque, 0, 1, 2, 16, 3, 4, 5, 16, 6, 7, 8, 16, 9, 10, 11, 16);
        memcpy(pixels + i * 4, &four, 16);
    }
}

#undef UNDO_PIXELS
#undef VERSION
#undef TARGET
