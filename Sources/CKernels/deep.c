#include "CResampleDeep.h"

#include <string.h>

#pragma STDC FP_CONTRACT OFF

typedef float f32x4 __attribute__((vector_size(16)));

#define LOAD(value, address) memcpy(&(value), (address), sizeof(value))

typedef union {
    float number;
    uint32_t bits;
} pun;

#define FLOAT(value) ((pun){.bits = (value)}.number)
#define BITS(value) ((pun){.number = (value)}.bits)

#define KERNELS(version) \
    (cresample_deep_kernels){                                                                              \
        from_uint16_##version, from_half_##version, to_uint16_##version, to_half_##version, add_##version, \
        convolve_##version}

#define KERNELS_FILE "deep_kernels.h"
#define KERNELS_TYPE cresample_deep_kernels
#define AVAILABLE cresample_deep_available
#include "versions.h"
