// The kernels, for the instruction set that VERSION and TARGET specify. Included once for each.

// A pixel of `size` bytes depends on the previous pixel, so only its components can be processed in parallel.
TARGET INLINED void VERSION(sub)(uint8_t *row, const uint8_t *source, long bytes, const int size) {
    u8x8 left = {0};
    for (long i = 0; i < bytes; i += size) {
        left += load_pixel(source + i, size);
        store_pixel(row + i, left, size);
    }
}

TARGET INLINED void VERSION(average)(
    uint8_t *row, const uint8_t *source, const uint8_t *above, long bytes, const int size
) {
    i16x8 left = {0};
    for (long i = 0; i < bytes; i += size) {
        const i16x8 mean = (left + WIDE(load_pixel(above + i, size))) >> 1;
        left = ADD_BYTES(WIDE(load_pixel(source + i, size)), mean);
        store_pixel(row + i, NARROW(left), size);
    }
}

// The Paeth filter: adds the neighbor that is nearest to left + top - corner.
TARGET static inline i16x8 VERSION(paeth_pixels)(i16x8 bytes, i16x8 left, i16x8 top, i16x8 corner) {
    // The distances from left, from top and from corner.
    const i16x8 down = top - corner, across = left - corner;
    const i16x8 from_left = __builtin_elementwise_abs(down), from_top = __builtin_elementwise_abs(across);
    const i16x8 from_corner = __builtin_elementwise_abs(down + across);
    const i16x8 least = __builtin_elementwise_min(from_corner, __builtin_elementwise_min(from_left, from_top));
    const i16x8 is_left = least == from_left, is_top = least == from_top;
    const i16x8 other = (top & is_top) | (corner & ~is_top);
    return ADD_BYTES(bytes, (left & is_left) | (other & ~is_left));
}

TARGET INLINED void VERSION(paeth)(
    uint8_t *row, const uint8_t *source, const uint8_t *above, long bytes, const int size
) {
    i16x8 left = {0}, corner = {0};
    for (long i = 0; i < bytes; i += size) {
        const i16x8 top = WIDE(load_pixel(above + i, size));
        left = VERSION(paeth_pixels)(WIDE(load_pixel(source + i, size)), left, top, corner);
        corner = top;
        store_pixel(row + i, NARROW(left), size);
    }
}

// A step of four rows, at pixel `x` of the first. Each of two vectors has two rows: lanes 0 to 3 and 4 to 7 are components. Each row is a
// pixel behind the row above it, whose last result is just the pixel above: a wavefront. So a step does a pixel of each row, where a row alone
// waits for the pixel before. A single vector of 256 bits takes longer, because values have to cross from one of its halves to the other.
//
// - left, corner: the last results, and the pixels above them
// - is_whole: a constant, false where some of the rows haven't started, or have ended
TARGET static inline void VERSION(paeth_step)(
    i16x8 left[2], i16x8 corner[2], uint8_t *rows, long stride, const uint8_t *source, long source_stride,
    const uint8_t *above, long x, long pixels, const int size, const int is_whole
) {
    uint32_t first = 0, pixel[ROWS] = {0};
    if (is_whole || x < pixels) memcpy(&first, above + x * size, 4);
    for (int j = 0; j < ROWS; j++) {
        if (is_whole || (x >= j && x - j < pixels)) {
            memcpy(pixel + j, source + j * source_stride + (x - j) * size, 4);
        }
    }
    const i16x8 before = WIDE((u8x8)(uint64_t)first);
    const i16x8 top[2] = {
        __builtin_shufflevector(before, left[0], 0, 1, 2, 3, 8, 9, 10, 11),
        __builtin_shufflevector(left[0], left[1], 4, 5, 6, 7, 8, 9, 10, 11)};
    for (int k = 0; k < 2; k++) {
        const u32x2 both = {pixel[2 * k], pixel[2 * k + 1]};
        left[k] = VERSION(paeth_pixels)(WIDE((u8x8)both), left[k], top[k], corner[k]);
        corner[k] = top[k];
    }
    if (!is_whole) {
        // Nothing is to the left of the rows that haven't started.
        for (long j = x + 1; j < ROWS; j++) {
            for (long i = j % 2 * 4; i < j % 2 * 4 + 4; i++) left[j / 2][i] = 0, corner[j / 2][i] = 0;
        }
    }
    for (int k = 0; k < 2; k++) {
        const u32x2 results = (u32x2)NARROW(left[k]);
        for (int j = 2 * k; j < 2 * k + 2; j++) {
            const uint32_t result = results[j % 2];
            if (is_whole || (x >= j && x - j < pixels)) memcpy(rows + j * stride + (x - j) * size, &result, 4);
        }
    }
}

TARGET static inline void VERSION(paeth_rows)(
    uint8_t *rows, long stride, const uint8_t *source, long source_stride, const uint8_t *above, long bytes,
    const int size
) {
    const long pixels = bytes / size;
    i16x8 left[2] = {{0}, {0}}, corner[2] = {{0}, {0}};
    long x = 0;
#define STEP(is_whole) \
    VERSION(paeth_step)(left, corner, rows, stride, source, source_stride, above, x, pixels, size, is_whole)
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
    } else if (pixel_bytes == 6) {
        UNDO_PIXELS(6)
    } else if (pixel_bytes == 8) {
        UNDO_PIXELS(8)
    } else {
        undo_small(row, source, above, bytes, pixel_bytes, filter);
    }
}

// The neighbor that the Paeth filter predicts a byte from. In 16 bits, so that the compiler puts many into a vector.
TARGET static inline uint8_t VERSION(nearest)(int16_t left, int16_t top, int16_t corner) {
    const int16_t down = top - corner, across = left - corner, both = down + across;
    const int16_t from_left = down < 0 ? -down : down, from_top = across < 0 ? -across : across;
    const int16_t from_corner = both < 0 ? -both : both;
    const int16_t other = from_top <= from_corner ? top : corner;
    return (uint8_t)(((from_left <= from_top) & (from_left <= from_corner)) ? left : other);
}

#define APPLY(name, guess)                                                                                   \
    TARGET static uint32_t VERSION(name)(                                                                    \
        uint8_t *restrict target, const uint8_t *restrict row, const uint8_t *restrict above, long bytes, long size \
    ) {                                                                                                      \
        const uint8_t *left = row - size, *corner = above - size;                                            \
        (void)left, (void)corner;                                                                            \
        uint32_t sum = 0;                                                                                    \
        for (long i = 0; i < bytes; i++) {                                                                   \
            const uint8_t value = (uint8_t)(row[i] - (guess));                                               \
            target[i] = value;                                                                               \
            sum += value < 128 ? value : 256 - value;                                                        \
        }                                                                                                    \
        return sum;                                                                                          \
    }
APPLY(apply_none, 0)
APPLY(apply_sub, left[i])
APPLY(apply_up, above[i])
APPLY(apply_average, (left[i] + above[i]) >> 1)
APPLY(apply_paeth, VERSION(nearest)(left[i], above[i], corner[i]))
#undef APPLY

TARGET static uint32_t VERSION(apply)(
    uint8_t *target, const uint8_t *row, const uint8_t *above, long bytes, int pixel_bytes, int filter
) {
    switch (filter) {
        case 1: return VERSION(apply_sub)(target, row, above, bytes, pixel_bytes);
        case 2: return VERSION(apply_up)(target, row, above, bytes, pixel_bytes);
        case 3: return VERSION(apply_average)(target, row, above, bytes, pixel_bytes);
        case 4: return VERSION(apply_paeth)(target, row, above, bytes, pixel_bytes);
        default: return VERSION(apply_none)(target, row, above, bytes, pixel_bytes);
    }
}

#undef UNDO_PIXELS
#undef VERSION
#undef TARGET
