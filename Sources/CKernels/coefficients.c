#include "CCoefficients.h"

#include <stddef.h>
#include <string.h>

#pragma STDC FP_CONTRACT OFF

typedef int8_t i8x16 __attribute__((vector_size(16)));
typedef int8_t i8x32 __attribute__((vector_size(32)));
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
static const uint8_t narrow_order[8] = {0, 2, 3, 31, 1, 4, 5, 31};
static const uint8_t wide_order[16] = {0, 2, 3, 9, 1, 4, 8, 11, 5, 7, 12, 31, 6, 13, 10, 31};
static const uint8_t broad_order[32] = {0, 2, 3, 9, 10, 20, 21, 31, 1, 4, 8, 11, 19, 22, 5, 7, 12, 18, 23, 31, 6, 13, 17, 24,
                                        14, 16, 25, 31, 15, 26, 27, 31};

// The same as shuffles of a record, where coefficient k is k bytes before the last, or of its last 16 bytes.
#define NARROW(v) __builtin_shufflevector(v, v, 15, 13, 12, 0, 14, 11, 10, 0)
#define WIDE(v) __builtin_shufflevector(v, v, 15, 13, 12, 6, 14, 11, 7, 4, 10, 8, 3, 0, 9, 2, 5, 0)
#define BROAD(v)                                                                                                         \
    __builtin_shufflevector(                                                                                             \
        v, v, 31, 29, 28, 22, 21, 11, 10, 0, 30, 27, 23, 20, 12, 9, 26, 24, 19, 13, 8, 0, 25, 18, 14, 7, 17, 15, 6, 0, 16, 5, \
        4, 0)

// Stores the block of a record, by the order of a format.
#define PLACE(bytes_type, order, type)                                       \
    bytes_type bytes;                                                        \
    LOAD(bytes, record + record_size - sizeof(bytes));                       \
    type factors, values = __builtin_convertvector(order(bytes), type);      \
    LOAD(factors, quantizer);                                                \
    values[0] = (int16_t)mean;                                               \
    values *= factors;                                                       \
    STORE(block, values)

static inline int is_short(long value) { return value == (int16_t)value; }

/// Stores the block of the record that ends at `end` and has large coefficients. Returns the number of these, or -1 if a product is too large.
static long place_large(
    int16_t *block, const int8_t *end, int size, const int16_t *quantizers, int32_t *prediction, long index,
    const ccoefficients_large *large, long count
) {
    const uint8_t *order = size == 8 ? narrow_order : size == 16 ? wide_order : broad_order;
    int32_t values[32] = {0};
    long used = 0;
    for (int k = 0; k < (size == 32 ? 32 : 16); k++) values[k] = end[-1 - k];
    while (used < count && large[used].record == index) {
        values[large[used].position & 31] = large[used].value;
        used++;
    }
    values[0] = *prediction += values[0];
    if (!is_short(values[0])) return -1;
    for (int i = 0; i < size; i++) {
        const long product = (long)values[order[i]] * quantizers[i];
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

#define TWICE(v)                                                                                                         \
    __builtin_shufflevector(                                                                                             \
        v, v, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)

// The vertical pass, with weights of a type.
#define SUM_ROWS(type, all_weights)                                              \
    for (long x = 0; x < vectors; x++) {                                         \
        i32x16 sum = {0};                                                        \
        for (long row = 0; row < count; row++) {                                 \
            i16x32 values;                                                       \
            type w;                                                              \
            LOAD(values, (const int16_t *)rows + offsets[row] + x * 32);         \
            LOAD(w, weights + (first + row) * size);                             \
            sum += MULTIPLY_ADD(values, all_weights);                            \
        }                                                                        \
        const f32x16 result = __builtin_convertvector(sum, f32x16);              \
        STORE((float *)sums + x * 16, result);                                   \
    }

#define KERNELS(version) \
    (ccoefficients_kernels){                                                                      \
        place_##version, multiply_##version, sum_rows_##version, sum_columns_##version, color_##version}

#define KERNELS_FILE "coefficient_kernels.h"
#define KERNELS_TYPE ccoefficients_kernels
#define AVAILABLE ccoefficients_available
#include "versions.h"
