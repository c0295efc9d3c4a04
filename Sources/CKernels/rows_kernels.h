// The kernels for rows, included once for each instruction set. VERSION names the functions, TARGET is their attribute.
// Plain loops but for the last, those between three and four components, which the compiler vectorizes.

#define CHROMA(name, type)                                                                                            \
    TARGET static void VERSION(subtract_##name)(                                                                      \
        int32_t *restrict differences, const void *chroma, int32_t gray, long count) {                                \
        const type *row = chroma;                                                                                     \
        for (long x = 0; x < count; x++) differences[x] = (row[x] - gray) * 16;                                       \
    }                                                                                                                 \
                                                                                                                      \
    TARGET static void VERSION(enlarge_##name)(                                                                       \
        int32_t *restrict differences, int32_t *restrict between, const void *near, const void *far, int32_t gray,    \
        long count) {                                                                                                 \
        const type *own = near, *neighbor = far;                                                                      \
        int32_t *middle = between + 1;                                                                                \
        for (long x = 0; x < count; x++) middle[x] = 3 * own[x] + neighbor[x];                                        \
        middle[-1] = middle[0];                                                                                       \
        middle[count] = middle[count - 1];                                                                            \
        long x = 0;                                                                                                   \
        for (; x + 8 <= count; x += 8) {                                                                              \
            i32x8 before, here, after;                                                                                \
            LOAD(before, middle + x - 1);                                                                             \
            LOAD(here, middle + x);                                                                                   \
            LOAD(after, middle + x + 1);                                                                              \
            const i32x8 weighted = here * 3 - gray * 16, even = weighted + before, odd = weighted + after;            \
            const i32x16 both = PAIRS(even, odd);                                                                     \
            memcpy(differences + 2 * x, &both, sizeof(both));                                                         \
        }                                                                                                             \
        for (; x < count; x++) {                                                                                      \
            const int32_t weighted = 3 * middle[x] - gray * 16;                                                       \
            differences[2 * x] = weighted + middle[x - 1];                                                            \
            differences[2 * x + 1] = weighted + middle[x + 1];                                                        \
        }                                                                                                             \
    }
CHROMA(bytes, uint8_t)
CHROMA(words, uint16_t)
#undef CHROMA

TARGET static void VERSION(combine_bytes)(
    void *pixels, const void *luma, const int32_t *blue, const int32_t *red, crows_matrix matrix, long count) {
    const int32_t maximum = matrix.maximum;
    uint32_t *restrict row = pixels;
    for (long x = 0; x < count; x++) {
        const uint32_t y = (uint32_t)(((const uint8_t *)luma)[x] - matrix.black);
        const int32_t r = COMPONENT(matrix.red), g = COMPONENT(matrix.green), b = COMPONENT(matrix.blue);
        row[x] = (uint32_t)(r | g << 8 | b << 16) | 0xff000000;
    }
}

TARGET static void VERSION(combine_words)(
    void *pixels, const void *luma, const int32_t *blue, const int32_t *red, crows_matrix matrix, long count) {
    const int32_t maximum = matrix.maximum;
    uint32_t *restrict row = pixels;
    for (long x = 0; x < count; x++) {
        const uint32_t y = (uint32_t)(((const uint16_t *)luma)[x] - matrix.black);
        const int32_t r = COMPONENT(matrix.red), g = COMPONENT(matrix.green), b = COMPONENT(matrix.blue);
        row[2 * x] = (uint32_t)(r | g << 16);
        row[2 * x + 1] = (uint32_t)(b | maximum << 16);
    }
}

TARGET static void VERSION(deepen)(uint16_t *restrict row, const uint8_t *numbers, uint32_t maximum, long count) {
    const uint32_t bits = 8, last = 255;
    for (long i = 0; i < count; i++) row[i] = (uint16_t)SCALED(numbers[i]);
}

TARGET static void VERSION(scale)(
    uint16_t *restrict row, const uint16_t *numbers, uint32_t bits, uint32_t maximum, long count) {
    const uint32_t last = (1u << bits) - 1;
    for (long i = 0; i < count; i++) row[i] = (uint16_t)SCALED(numbers[i] < last ? numbers[i] : last);
}

TARGET static void VERSION(narrow)(uint8_t *restrict row, const uint16_t *numbers, uint32_t bits, long count) {
    const uint32_t maximum = 255, last = (1u << bits) - 1;
    if (bits == 16) {
        // The same numbers, sooner.
        for (long i = 0; i < count; i++) row[i] = (uint8_t)((numbers[i] * 255u + 32895) >> 16);
        return;
    }
    for (long i = 0; i < count; i++) row[i] = (uint8_t)SCALED(numbers[i] < last ? numbers[i] : last);
}

// The compiler creates a separate loop for each order.
TARGET static inline __attribute__((always_inline)) void VERSION(expand_in_order)(
    uint8_t *restrict pixels, const uint8_t *source, const bool is_reversed, long count
) {
    const u8x16 opaque = {255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
    long x = 0;
    // Four pixels at once, of 16 bytes: five pixels and a third.
    for (; x + 6 <= count; x += 4) {
        u8x16 four;
        memcpy(&four, source + x * 3, 16);
        four = is_reversed
            ? __builtin_shufflevector(four, opaque, 2, 1, 0, 16, 5, 4, 3, 16, 8, 7, 6, 16, 11, 10, 9, 16)
            : __builtin_shufflevector(four, opaque, 0, 1, 2, 16, 3, 4, 5, 16, 6, 7, 8, 16, 9, 10, 11, 16);
        memcpy(pixels + x * 4, &four, 16);
    }
    for (; x < count; x++) {
        for (long i = 0; i < 3; i++) pixels[x * 4 + i] = source[x * 3 + (is_reversed ? 2 - i : i)];
        pixels[x * 4 + 3] = 255;
    }
}

TARGET static void VERSION(expand)(uint8_t *restrict pixels, const uint8_t *source, bool is_reversed, long count) {
    if (is_reversed) VERSION(expand_in_order)(pixels, source, true, count);
    else VERSION(expand_in_order)(pixels, source, false, count);
}

TARGET static void VERSION(expand_words)(uint16_t *restrict pixels, const uint16_t *source, long count) {
    const u16x8 opaque = (u16x8){0} + 65535;
    long x = 0;
    // Two pixels at once, of 16 bytes: two pixels and two thirds.
    for (; x + 3 <= count; x += 2) {
        u16x8 two;
        memcpy(&two, source + x * 3, 16);
        two = __builtin_shufflevector(two, opaque, 0, 1, 2, 8, 3, 4, 5, 8);
        memcpy(pixels + x * 4, &two, 16);
    }
    for (; x < count; x++) {
        for (long i = 0; i < 3; i++) pixels[x * 4 + i] = source[x * 3 + i];
        pixels[x * 4 + 3] = 65535;
    }
}

// The compiler creates a separate loop for each order.
TARGET static inline __attribute__((always_inline)) void VERSION(contract_in_order)(
    uint8_t *restrict row, const uint8_t *pixels, const bool is_reversed, long count
) {
    long x = 0;
    // Four pixels at once. The last four bytes belong to the next pixels, which overwrite them.
    for (; x + 6 <= count; x += 4) {
        u8x16 four;
        memcpy(&four, pixels + x * 4, 16);
        four = is_reversed
            ? __builtin_shufflevector(four, four, 2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, 3, 3, 3, 3)
            : __builtin_shufflevector(four, four, 0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 3, 3, 3, 3);
        memcpy(row + x * 3, &four, 16);
    }
    for (; x < count; x++)
        for (long i = 0; i < 3; i++) row[x * 3 + i] = pixels[x * 4 + (is_reversed ? 2 - i : i)];
}

TARGET static void VERSION(contract)(uint8_t *restrict row, const uint8_t *pixels, bool is_reversed, long count) {
    if (is_reversed) VERSION(contract_in_order)(row, pixels, true, count);
    else VERSION(contract_in_order)(row, pixels, false, count);
}

#undef VERSION
#undef TARGET
