// The kernels, included once for each instruction set. VERSION names the functions, and TARGET is their attribute.

// VERSION names a macro too.
#define MULTIPLY_ADD VERSION(MULTIPLY_ADD)

TARGET static long VERSION(place)(
    void *rows, const void *records, long end, long record_size, long mcus, long blocks, const uint8_t *components,
    const int32_t *offsets, const int32_t *steps, const int16_t *quantizers, const uint8_t *sizes,
    int32_t *predictions, long index, const ccoefficients_large *large, long used, long count
) {
    const int8_t *record = (const int8_t *)records + end;
    for (long mcu = 0; mcu < mcus; mcu++) {
        for (long b = 0; b < blocks; b++, index++) {
            const int component = components[b];
            int16_t *block = (int16_t *)rows + offsets[b] + mcu * steps[b];
            const int16_t *quantizer = quantizers + component * 32;
            record -= record_size;
            if (used < count && large[used].record == index) {
                const long now = place_large(
                    block, record + record_size, sizes[component], quantizer, predictions + component, index, large + used,
                    count - used);
                if (now < 0) return -1;
                used += now;
                continue;
            }
            const int32_t mean = predictions[component] += record[record_size - 1];
            if (!is_short((long)mean * quantizer[0]) || !is_short(mean)) return -1;
            // The value of a byte times a quantizer of at most 255 has 16 bits.
            if (sizes[component] == 16) {
                PLACE(i8x16, WIDE, i16x16);
            } else if (sizes[component] == 8) {
                PLACE(i8x16, NARROW, i16x8);
            } else {
                PLACE(i8x32, BROAD, i16x32);
            }
        }
    }
    return used;
}

TARGET static int VERSION(multiply)(
    void *rows, long first, long vectors, const int16_t *quantizers, long quantizer, long size
) {
    int16_t *values = (int16_t *)rows + first;
    i16x32 factors, least = {0}, most = {0};
    for (int i = 0; i < 32; i++) factors[i] = quantizers[quantizer + i % size];
    for (long x = 0; x < vectors; x++, values += 32) {
        i16x32 v;
        LOAD(v, values);
        least = __builtin_elementwise_min(least, v);
        most = __builtin_elementwise_max(most, v);
        v *= factors;
        STORE(values, v);
    }
    for (int i = 0; i < 32; i++) {
        if (!is_short((long)least[i] * factors[i]) || !is_short((long)most[i] * factors[i])) return -1;
    }
    return 0;
}

TARGET static void VERSION(sum_rows)(
    void *sums, const void *rows, const int32_t *offsets, const int16_t *weights, long size, long first, long count,
    long vectors
) {
    if (size == 32) {
        SUM_ROWS(i16x32, w);
    } else {
        SUM_ROWS(i16x16, TWICE(w));
    }
}

TARGET static void VERSION(sum_columns)(
    void *columns, const void *sums, long stride, const ccoefficients_span *spans, const float *weights, long count
) {
    for (long x = 0; x < count; x++) {
        const float *from = (const float *)sums + spans[x].first, *weight = weights + spans[x].first_weight;
        f32x8 a = {0}, b = {0}, c = {0}, d = {0};
        for (long group = 0; group < spans[x].groups; group++, from += 8, weight += 8) {
            f32x8 w, v0, v1, v2, v3;
            LOAD(w, weight);
            LOAD(v0, from);
            LOAD(v1, from + stride);
            LOAD(v2, from + 2 * stride);
            LOAD(v3, from + 3 * stride);
            a += v0 * w, b += v1 * w, c += v2 * w, d += v3 * w;
        }
        // Transposes and adds: in the end each lane is the sum of a row.
        const f32x8 ab = __builtin_shufflevector(a, b, 0, 2, 8, 10, 4, 6, 12, 14)
            + __builtin_shufflevector(a, b, 1, 3, 9, 11, 5, 7, 13, 15);
        const f32x8 cd = __builtin_shufflevector(c, d, 0, 2, 8, 10, 4, 6, 12, 14)
            + __builtin_shufflevector(c, d, 1, 3, 9, 11, 5, 7, 13, 15);
        const f32x8 all = __builtin_shufflevector(ab, cd, 0, 2, 8, 10, 4, 6, 12, 14)
            + __builtin_shufflevector(ab, cd, 1, 3, 9, 11, 5, 7, 13, 15);
        const f32x4 column = __builtin_shufflevector(all, all, 0, 1, 2, 3) + __builtin_shufflevector(all, all, 4, 5, 6, 7);
        STORE((float *)columns + x * 4, column);
    }
}

TARGET static void VERSION(color)(
    void *pixels, long stride, long rows, const void *luminance, const void *blue, const void *red, long count
) {
    const f32x16 zero = {0}, white = zero + 255.0f;
    for (long x = 0; x < count; x += 4) {
        // Lane 4i + j is column i of row j. With a half, cutting off the fraction rounds.
        f32x16 y, b, r;
        LOAD(y, (const float *)luminance + x * 4);
        LOAD(b, (const float *)blue + x * 4);
        LOAD(r, (const float *)red + x * 4);
        y = y * (1.0f / 32768) + 128.5f, b *= 1.0f / 32768, r *= 1.0f / 32768;
        const f32x16 rgb[3] = {y + r * 1.402f, y - b * 0.344136286f - r * 0.714136286f, y + b * 1.772f};
        i32x16 result = (i32x16){0} + (int32_t)0xff000000;
        for (int i = 0; i < 3; i++) {
            const f32x16 limited = __builtin_elementwise_min(__builtin_elementwise_max(rgb[i], zero), white);
            result |= __builtin_convertvector(limited, i32x16) << (8 * i);
        }
        const i32x4 row0 = __builtin_shufflevector(result, result, 0, 4, 8, 12);
        const i32x4 row1 = __builtin_shufflevector(result, result, 1, 5, 9, 13);
        const i32x4 row2 = __builtin_shufflevector(result, result, 2, 6, 10, 14);
        const i32x4 row3 = __builtin_shufflevector(result, result, 3, 7, 11, 15);
        uint8_t *to = (uint8_t *)pixels + x * 4;
        STORE(to, row0);
        if (rows > 1) STORE(to + stride, row1);
        if (rows > 2) STORE(to + 2 * stride, row2);
        if (rows > 3) STORE(to + 3 * stride, row3);
    }
}

#undef MULTIPLY_ADD
#undef VERSION
#undef TARGET
