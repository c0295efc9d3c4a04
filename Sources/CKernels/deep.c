#include "CResampleDeep.h"
#include "pun.h"

#include <string.h>

#pragma STDC FP_CONTRACT OFF

typedef float f32x4 __attribute__((vector_size(16)));

#define LOAD(value, address) memcpy(&(value), (address), sizeof(value))

#define KERNELS(version) \
    (cresample_deep_kernels){                                                                              \
        from_uint16_##version, from_half_##version, to_uint16_##version, to_half_##version, add_##version, \
        convolve_##version}

#define KERNELS_FILE "deep_kernels.h"
#define KERNELS_TYPE cresample_deep_kernels
#define AVAILABLE cresample_deep_available
#include "versions.h"
