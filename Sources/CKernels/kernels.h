// The kernels, included once for each instruction set. VERSION names the functions, TARGET is their attribute, and
// MULTIPLY_ADD(a, b) computes 16 sums a[2i] * b[2i] + a[2i + 1] * b[2i + 1] from 32 products.

TARGET static void VERSION(accumulate)(
    int16_t *pairs, int32_t *sums, bool begin, const uint8_t *const *rows, const int16_t *weights, long count,
    int weight_bits, long blocks) {
    const u8x64 zero = {0};
    const int32_t shift = weight_bits - CRESAMPLE_FRACTION_BITS;
    const int32_t half = 1 << (shift - 1);
    for (long block = 0; block < blocks; block++) {
        // Interleaving works in lanes of 16 bytes: lane i of `sum<j>` is pixel 4i + j of the block.
        i32x16 sum0 = {0}, sum1 = {0}, sum2 = {0}, sum3 = {0};
        i32x16 *kept = (i32x16 *)(sums + block * 64);
        if (!begin) sum0 = kept[0], sum1 = kept[1], sum2 = kept[2], sum3 = kept[3];

        for (long row = 0; row < count; row += 2) {
            u8x64 upper, lower;
            int32_t two_weights;
            LOAD(upper, rows[row] + block * 64);
            LOAD(lower, rows[row + 1] + block * 64);
            LOAD(two_weights, weights + row);
            const i16x32 weight = (i16x32)((i32x16){0} + two_weights);
            const u8x64 low = INTERLEAVE_LOW(upper, lower);
            const u8x64 high = INTERLEAVE_HIGH(upper, lower);
            sum0 += MULTIPLY_ADD((i16x32)INTERLEAVE_LOW(low, zero), weight);
            sum1 += MULTIPLY_ADD((i16x32)INTERLEAVE_HIGH(low, zero), weight);
            sum2 += MULTIPLY_ADD((i16x32)INTERLEAVE_LOW(high, zero), weight);
            sum3 += MULTIPLY_ADD((i16x32)INTERLEAVE_HIGH(high, zero), weight);
        }

        if (pairs) {
            const i32x16 even0 = (sum0 + half) >> shift, odd0 = (sum1 + half) >> shift;
            const i32x16 even1 = (sum2 + half) >> shift, odd1 = (sum3 + half) >> shift;
            const i64x8 pair0 = (i64x8)((even0 & 0xffff) | (odd0 << 16));
            const i64x8 pair1 = (i64x8)((even1 & 0xffff) | (odd1 << 16));
            i64x8 *result = (i64x8 *)(pairs + block * 64);
            result[0] = __builtin_shufflevector(pair0, pair1, 0, 1, 8, 9, 2, 3, 10, 11);
            result[1] = __builtin_shufflevector(pair0, pair1, 4, 5, 12, 13, 6, 7, 14, 15);
        } else {
            kept[0] = sum0, kept[1] = sum1, kept[2] = sum2, kept[3] = sum3;
        }
    }
}

TARGET static void VERSION(convolve)(
    uint8_t *pixels, const int16_t *pairs, const cresample_span *spans, const int16_t *weights, int weight_bits,
    long count) {
    const int32_t shift = weight_bits + CRESAMPLE_FRACTION_BITS;
    const int32_t half = 1 << (shift - 1);
    for (long x = 0; x < count; x += 4) {
        // Lane i of sum[j] collects every fourth pair of pixel x + j.
        i32x16 sum[4];
        for (long j = 0; j < 4; j++) {
            i32x16 lanes = {0};
            const cresample_span span = spans[x + j];
            const int16_t *pair = pairs + (long)span.first_pair * 8;
            const int16_t *weight = weights + span.first_weight;
            for (long group = 0; group < span.groups; group++) {
                i16x32 four_pairs;
                i32x4 w;
                LOAD(four_pairs, pair + group * 32);
                LOAD(w, weight + group * 8);
                lanes += MULTIPLY_ADD(
                    four_pairs,
                    (i16x32)__builtin_shufflevector(w, w, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3));
            }
            sum[j] = lanes;
        }
        // Sums the four lanes of each: lane j of `value` is pixel x + j.
        const i32x16 a = ADD_LANES(sum[0], sum[1]);
        const i32x16 b = ADD_LANES(sum[2], sum[3]);
        i32x16 value = (ADD_LANES(a, b) + half) >> shift;
        value = __builtin_elementwise_max(value, (i32x16){0});
        value = __builtin_elementwise_min(value, (i32x16){0} + 255);
        const i32x16 alpha =
            __builtin_shufflevector(value, value, 3, 3, 3, 3, 7, 7, 7, 7, 11, 11, 11, 11, 15, 15, 15, 15);
        const u8x16 bytes = __builtin_convertvector(__builtin_elementwise_min(value, alpha), u8x16);
        memcpy(pixels + x * 4, &bytes, sizeof(bytes));
    }
}

#undef VERSION
#undef TARGET
#undef MULTIPLY_ADD
