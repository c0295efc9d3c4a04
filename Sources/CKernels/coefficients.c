#include "CCoefficients.h"

#include <stddef.h>
#include <string.h>

#pragma STDC FP_CONTRACT OFF

typedef int8_t i8x16 __attribute__((vector_size(16)));
typedef int16_t i16x8 __attribute__((vector_size(16)));
typedef int16_t i16x16 __attribute__((vector_size(32)));
typedef int16_t i16x32 __attribute__((vector_size(64)));
typedef int32_t i32x16 __attribute__((vector_size(64)));
typedef int32_t i32x4 __attribute__((vector_size(16)));
typedef float f32x4 __attribute__((vector_size(16)));
typedef float f32x8 __attribute__((vector_size(32)));
typedef float f32x16 __attribute__((vector_size(64)));

#define LOAD(value, address) memcpy(&(value), (address), sizeof(value))
#define STORE(address, value) memcpy((address), &(value), sizeof(value))

// The positions in zigzag order of the coefficients of a block; where there is none, any other, which the quantizer makes zero.
static const uint8_t narrow_order[8] = {0, 2, 3, 15, 1, 4, 5, 15};
static const uint8_t wide_order[16] = {0, 2, 3, 9, 1, 4, 8, 11, 5, 7, 12, 15, 6, 13, 10, 15};

// The same as shuffles of a record, where coefficient k is at byte 15 - k.
#define NARROW(v) __builtin_shufflevector(v, v, 15, 13, 12, 0, 14, 11, 10, 0)
#define WIDE(v) __builtin_shufflevector(v, v, 15, 13, 12, 6, 14, 11, 7, 4, 10, 8, 3, 0, 9, 2, 5, 0)

static inline int is_short(long value) { return value == (int16_t)value; }

/// Stores the block of a record with large coefficients. Returns the number of these, or -1 if a product is too large.
static long place_large(
    int16_t *block, const int8_t *record, int is_wide, const int16_t *quantizers, int32_t *prediction, long index,
    const ccoefficients_large *large, long count
) {
    int32_t values[16];
    long used = 0;
    for (int k = 0; k < 16; k++) values[k] = record[15 - k];
    while (used < count && large[used].record == index) {
        values[large[used].position & 15] = large[used].value;
        used++;
    }
    values[0] = *prediction += values[0];
    if (!is_short(values[0])) return -1;
    for (int i = 0; i < (is_wide ? 16 : 8); i++) {
        const long product = (long)values[is_wide ? wide_order[i] : narrow_order[i]] * quantizers[i];
        if (!is_short(product)) return -1;
        block[i] = (int16_t)product;
    }
    return used;
}

#if defined(__x86_64__)
// A single instruction (pmaddwd), which the compiler does not find by itself. So it is requested for each register.
#define PART8(v, n) \
    __builtin_shufflevector(v, v, n * 8, n * 8 + 1, n * 8 + 2, n * 8 + 3, n * 8 + 4, n * 8 + 5, n * 8 + 6, n * 8 + 7)
#define JOIN4(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7)
#define JOIN8(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define PART16(v, n) JOIN8(PART8(v, (2 * n)), PART8(v, (2 * n + 1)))
#define MULTIPLY_ADD8(a, b, n) __builtin_ia32_pmaddwd128(PART8(a, n), PART8(b, n))
#define MULTIPLY_ADD_sse2(a, b)                                   \
    JOIN8(                                                        \
        JOIN4(MULTIPLY_ADD8(a, b, 0), MULTIPLY_ADD8(a, b, 1)),    \
        JOIN4(MULTIPLY_ADD8(a, b, 2), MULTIPLY_ADD8(a, b, 3)))
#define MULTIPLY_ADD_avx2(a, b)                                      \
    JOIN8(                                                           \
        __builtin_ia32_pmaddwd256(PART16(a, 0), PART16(b, 0)),       \
        __builtin_ia32_pmaddwd256(PART16(a, 1), PART16(b, 1)))
#define MULTIPLY_ADD_avx512(a, b) __builtin_ia32_pmaddwd512(a, b)
#else
#define EVENS(v) __builtin_shufflevector(v, v, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
#define ODDS(v) __builtin_shufflevector(v, v, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31)
#define TO_32(v) __builtin_convertvector(v, i32x16)
#define MULTIPLY_ADD_portable(a, b) (TO_32(EVENS(a)) * TO_32(EVENS(b)) + TO_32(ODDS(a)) * TO_32(ODDS(b)))
#endif

#define KERNELS(version) \
    (ccoefficients_kernels){                                                                      \
        place_##version, multiply_##version, sum_rows_##version, sum_columns_##version, color_##version}

#define KERNELS_FILE "coefficient_kernels.h"
#define KERNELS_TYPE ccoefficients_kernels
#define AVAILABLE ccoefficients_available
#include "versions.h"
