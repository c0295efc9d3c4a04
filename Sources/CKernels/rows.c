#include "CRows.h"

#include <string.h>

typedef uint8_t u8x16 __attribute__((vector_size(16)));
typedef uint16_t u16x8 __attribute__((vector_size(16)));
typedef int32_t i32x8 __attribute__((vector_size(32)));
typedef int32_t i32x16 __attribute__((vector_size(64)));

#define LOAD(value, address) memcpy(&(value), (address), sizeof(value))
// The numbers of two vectors by turns.
#define PAIRS(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15)

// The bits behind the point of a sum of products.
#define BITS 16
// A component, rounded and limited. Products and sums wrap around, which only unsigned numbers may.
#define SUM(weights) \
    ((uint32_t)(weights).luma * y + (uint32_t)(weights).blue * (uint32_t)blue[x] \
     + (uint32_t)(weights).red * (uint32_t)red[x] + (1u << (BITS - 1)))
#define LIMITED(sum) ((sum) < 0 ? 0 : (sum) > maximum ? maximum : (sum))
#define COMPONENT(weights) LIMITED((int32_t)SUM(weights) >> BITS)
// The nearest number to number * maximum / last, where last is 2^bits - 1: h * 2^bits + l is h * last + (h + l).
#define SCALED(number)                                                        \
    ({                                                                        \
        const uint32_t product = (number) * maximum + last / 2;               \
        const uint32_t rest = (product >> bits) + (product & last);           \
        (product >> bits) + ((rest + 1 + (rest >> bits)) >> bits);            \
    })

#define PLANES(version, type) \
    { subtract_##type##_##version, enlarge_##type##_##version, combine_##type##_##version }
#define KERNELS(version)                                                                                           \
    (crows_kernels){                                                                                               \
        PLANES(version, bytes), PLANES(version, words), deepen_##version, scale_##version, narrow_##version,       \
        expand_##version, expand_words_##version, contract_##version}

#define KERNELS_FILE "rows_kernels.h"
#define KERNELS_TYPE crows_kernels
#define AVAILABLE crows_available
#include "versions.h"
