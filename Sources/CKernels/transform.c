#include "CTransform.h"
#include "pun.h"

#include <stdbool.h>
#include <string.h>

#pragma STDC FP_CONTRACT OFF

typedef float f32x4 __attribute__((vector_size(16)));
typedef float f32x16 __attribute__((vector_size(64)));
typedef int32_t i32x16 __attribute__((vector_size(64)));
typedef uint8_t u8x16 __attribute__((vector_size(16)));
typedef uint16_t u16x16 __attribute__((vector_size(32)));
typedef uint32_t u32x16 __attribute__((vector_size(64)));

#define LOAD(value, address) memcpy(&(value), (address), sizeof(value))
#define STORE(address, value) memcpy((address), &(value), sizeof(value))

// The same component of four pixels, four times each.
#define EACH(v, i) \
    __builtin_shufflevector(v, v, i, i, i, i, 4 + i, 4 + i, 4 + i, 4 + i, 8 + i, 8 + i, 8 + i, 8 + i, 12 + i, 12 + i, 12 + i, 12 + i)
// A vector four times.
#define REPEAT(v) __builtin_shufflevector(v, v, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3)
#define NUMBERS(integers) __builtin_convertvector(__builtin_convertvector(integers, i32x16), f32x16)
#define READ8(bytes) (NUMBERS(bytes) * (1.0f / 255))
#define READ16(words) (NUMBERS(words) * (1.0f / 65535))
// Limits four pixels. Minimum and maximum return the number if the other operand is NaN.
#define LIMITED(v, one)                                                                              \
    __builtin_elementwise_min(__builtin_elementwise_max(v, (f32x16){0}),                             \
                              __builtin_elementwise_min(__builtin_elementwise_max(EACH(v, 3), (f32x16){0}), one))
#define ROUNDED(v, maximum) __builtin_convertvector(LIMITED(v, (f32x16){0} + 1.0f) * maximum + 0.5f, i32x16)
#define WRITE8(v) __builtin_convertvector(ROUNDED(v, 255.0f), u8x16)
#define WRITE16(v) __builtin_convertvector(ROUNDED(v, 65535.0f), u16x16)
// Limits four pixels of fixed-point numbers without a fraction.
#define FIXED8(v) __builtin_convertvector(__builtin_elementwise_min(__builtin_elementwise_min(v, EACH(v, 3)), (u16x16){0} + 255), u8x16)

#define KERNELS(version)                                                                                      \
    (ctransform_kernels){                                                                                     \
        read8_##version, read16_##version, write8_##version, write16_##version, matrix_##version,             \
        matrix8_##version, filter_##version, boxes_##version, spread_##version, gather_##version,               \
        read_columns16_##version, write_columns8_##version, write_columns16_##version, sample8_##version,       \
        sample16_##version, sample_half_##version, read8_fixed_##version, write8_fixed_##version, filter_fixed_##version}

#define KERNELS_FILE "transform_kernels.h"
#define KERNELS_TYPE ctransform_kernels
#define AVAILABLE ctransform_available
#include "versions.h"
