// The kernels, for the instruction set that VERSION and TARGET specify. Included once for each.

// A pixel of `size` bytes depends on the previous pixel, so only its components can be processed in parallel.
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

// A step of four rows, at pixel `x` of the first. Lane 4j + i is component i of row j. Each row is a pixel behind the row above it, whose
// last result is just the pixel above: a wavefront. So a step does a pixel of each row, where a row alone waits for the pixel before.
//
// - state: the last results, and the pixels above them
// - is_whole: a constant, false where some of the rows haven't started, or have ended
TARGET static inline void VERSION(paeth_step)(
    i16x16 state[2], uint8_t *rows, long stride, const uint8_t *source, long source_stride, const uint8_t *above,
    long x, long pixels, const int size, const int is_whole
) {
    i16x16 left = state[0];
    const i16x16 corner = state[1];
    uint32_t first = 0, pixel[ROWS] = {0};
    if (is_whole || x < pixels) memcpy(&first, above + x * size, 4);
    for (int j = 0; j < ROWS; j++) {
        if (is_whole || (x >= j && x - j < pixels)) {
            memcpy(pixel + j, source + j * source_stride + (x - j) * size, 4);
        }
    }
    const i16x16 bytes =
        __builtin_convertvector((u8x16)(u32x4){pixel[0], pixel[1], pixel[2], pixel[3]}, i16x16);
    const i16x16 before = __builtin_convertvector((u8x16)(u32x4){first}, i16x16);
    const i16x16 top =
        __builtin_shufflevector(left, before, 16, 17, 18, 19, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
    // As in a single row.
    const i16x16 down = top - corner, across = left - corner;
    const i16x16 from_left = __builtin_elementwise_abs(down), from_top = __builtin_elementwise_abs(across);
    const i16x16 from_corner = __builtin_elementwise_abs(down + across);
    const i16x16 least = __builtin_elementwise_min(from_corner, __builtin_elementwise_min(from_left, from_top));
    const i16x16 is_left = least == from_left, is_top = least == from_top;
    const i16x16 other = (top & is_top) | (corner & ~is_top);
    left = (bytes + ((left & is_left) | (other & ~is_left))) & 255;
    state[1] = top;
    if (!is_whole) {
        // Nothing is to the left of the rows that haven't started.
        for (long j = x + 1; j < ROWS; j++) {
            for (int i = 0; i < 4; i++) left[j * 4 + i] = 0, state[1][j * 4 + i] = 0;
        }
    }
    state[0] = left;
    const u32x4 results = (u32x4)__builtin_convertvector(left, u8x16);
    for (int j = 0; j < ROWS; j++) {
        const uint32_t result = results[j];
        if (is_whole || (x >= j && x - j < pixels)) memcpy(rows + j * stride + (x - j) * size, &result, 4);
    }
}

TARGET static inline void VERSION(paeth_rows)(
    uint8_t *rows, long stride, const uint8_t *source, long source_stride, const uint8_t *above, long bytes,
    const int size
) {
    const long pixels = bytes / size;
    i16x16 state[2] = {{0}, {0}};
    long x = 0;
#define STEP(is_whole) \
    VERSION(paeth_step)(state, rows, stride, source, source_stride, above, x, pixels, size, is_whole)
    for (; x < ROWS - 1; x++) STEP(0);
    for (; x < pixels; x++) STEP(1);
    for (; x < pixels + ROWS - 1; x++) STEP(0);
#undef STEP
}

TARGET static void VERSION(undo_rows)(
    uint8_t *rows, long stride, const uint8_t *source, long source_stride, const uint8_t *above, long bytes, int pixel_bytes
) {
    if (pixel_bytes == 3) VERSION(paeth_rows)(rows, stride, source, source_stride, above, bytes, 3);
    else VERSION(paeth_rows)(rows, stride, source, source_stride, above, bytes, 4);
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
