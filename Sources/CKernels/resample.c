#include "CResample.h"

#include <string.h>

// Vectors of 64 bytes on every machine. The compiler splits them into as many registers as necessary.
typedef uint8_t u8x64 __attribute__((vector_size(64)));
typedef uint8_t u8x16 __attribute__((vector_size(16)));
typedef int16_t i16x32 __attribute__((vector_size(64)));
typedef int32_t i32x16 __attribute__((vector_size(64)));
typedef int32_t i32x4 __attribute__((vector_size(16)));
typedef int64_t i64x8 __attribute__((vector_size(64)));

// Macros instead of functions, because the instruction sets pass vectors of this size to functions in different ways.

#define LOAD(value, address) memcpy(&(value), (address), sizeof(value))

// Interleaves the bytes of the lower or upper halves of each 16-byte lane of two vectors.
#define INTERLEAVE_LOW(a, b)                                                                                          \
    __builtin_shufflevector(                                                                                          \
        a, b, 0, 64, 1, 65, 2, 66, 3, 67, 4, 68, 5, 69, 6, 70, 7, 71, 16, 80, 17, 81, 18, 82, 19, 83, 20, 84, 21, 85, \
        22, 86, 23, 87, 32, 96, 33, 97, 34, 98, 35, 99, 36, 100, 37, 101, 38, 102, 39, 103, 48, 112, 49, 113, 50,     \
        114, 51, 115, 52, 116, 53, 117, 54, 118, 55, 119)
#define INTERLEAVE_HIGH(a, b)                                                                                         \
    __builtin_shufflevector(                                                                                          \
        a, b, 8, 72, 9, 73, 10, 74, 11, 75, 12, 76, 13, 77, 14, 78, 15, 79, 24, 88, 25, 89, 26, 90, 27, 91, 28, 92,   \
        29, 93, 30, 94, 31, 95, 40, 104, 41, 105, 42, 106, 43, 107, 44, 108, 45, 109, 46, 110, 47, 111, 56, 120, 57,  \
        121, 58, 122, 59, 123, 60, 124, 61, 125, 62, 126, 63, 127)

// Sums of adjacent lanes, the sums of `a` before the sums of `b`.
#define ADD_LANES(a, b)                                                                                               \
    ((i32x16)__builtin_shufflevector((i64x8)(a), (i64x8)(b), 0, 1, 4, 5, 8, 9, 12, 13)                                \
     + (i32x16)__builtin_shufflevector((i64x8)(a), (i64x8)(b), 2, 3, 6, 7, 10, 11, 14, 15))

#if defined(__x86_64__)

// A single instruction (pmaddwd), which the compiler does not find by itself. So it is requested for each register.
#define QUARTER(v, n)                                                                                                 \
    __builtin_shufflevector(v, v, n * 8, n * 8 + 1, n * 8 + 2, n * 8 + 3, n * 8 + 4, n * 8 + 5, n * 8 + 6, n * 8 + 7)
#define JOIN_QUARTERS(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7)
#define JOIN_HALVES(a, b) __builtin_shufflevector(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
#define HALF(v, n) JOIN_HALVES(QUARTER(v, (2 * n)), QUARTER(v, (2 * n + 1)))
#define MULTIPLY_ADD_QUARTER(a, b, n) __builtin_ia32_pmaddwd128(QUARTER(a, n), QUARTER(b, n))
#define MULTIPLY_ADD_HALF(a, b, n) __builtin_ia32_pmaddwd256(HALF(a, n), HALF(b, n))

#define VERSION(name) name##_sse2
#define TARGET
#define MULTIPLY_ADD(a, b)                                                              \
    JOIN_HALVES(                                                                        \
        JOIN_QUARTERS(MULTIPLY_ADD_QUARTER(a, b, 0), MULTIPLY_ADD_QUARTER(a, b, 1)),    \
        JOIN_QUARTERS(MULTIPLY_ADD_QUARTER(a, b, 2), MULTIPLY_ADD_QUARTER(a, b, 3)))
#include "kernels.h"

#define VERSION(name) name##_avx2
#define TARGET __attribute__((target("avx2")))
#define MULTIPLY_ADD(a, b) JOIN_HALVES(MULTIPLY_ADD_HALF(a, b, 0), MULTIPLY_ADD_HALF(a, b, 1))
#include "kernels.h"

#define VERSION(name) name##_avx512
#define TARGET __attribute__((target("arch=x86-64-v4")))
#define MULTIPLY_ADD(a, b) __builtin_ia32_pmaddwd512(a, b)
#include "kernels.h"

int cresample_available(cresample_kernels kernels[3]) {
    int count = 0;
    if (__builtin_cpu_supports("x86-64-v4")) {
        kernels[count++] = (cresample_kernels){accumulate_avx512, convolve_avx512};
    }
    if (__builtin_cpu_supports("avx2")) {
        kernels[count++] = (cresample_kernels){accumulate_avx2, convolve_avx2};
    }
    kernels[count++] = (cresample_kernels){accumulate_sse2, convolve_sse2};
    return count;
}

#else

#define VERSION(name) name##_portable
#define TARGET
#define EVENS(v) \
    __builtin_shufflevector(v, v, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30)
#define ODDS(v) \
    __builtin_shufflevector(v, v, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31)
#define WIDE(v) __builtin_convertvector(v, i32x16)
#define MULTIPLY_ADD(a, b) (WIDE(EVENS(a)) * WIDE(EVENS(b)) + WIDE(ODDS(a)) * WIDE(ODDS(b)))
#include "kernels.h"

int cresample_available(cresample_kernels kernels[3]) {
    kernels[0] = (cresample_kernels){accumulate_portable, convolve_portable};
    return 1;
}

#endif
