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

#if defined(__x86_64__)

#define VERSION(name) name##_sse2
#define TARGET
#include "deep_kernels.h"

#define VERSION(name) name##_avx2
#define TARGET __attribute__((target("avx2")))
#include "deep_kernels.h"

#define VERSION(name) name##_avx512
#define TARGET __attribute__((target("arch=x86-64-v4")))
#include "deep_kernels.h"

int cresample_deep_available(cresample_deep_kernels kernels[3]) {
    int count = 0;
    if (__builtin_cpu_supports("x86-64-v4")) kernels[count++] = KERNELS(avx512);
    if (__builtin_cpu_supports("avx2")) kernels[count++] = KERNELS(avx2);
    kernels[count++] = KERNELS(sse2);
    return count;
}

#else

#define VERSION(name) name##_portable
#define TARGET
#include "deep_kernels.h"

int cresample_deep_available(cresample_deep_kernels kernels[3]) {
    kernels[0] = KERNELS(portable);
    return 1;
}

#endif
