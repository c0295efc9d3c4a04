// Compiles KERNELS_FILE for each instruction set, and defines AVAILABLE, which returns those that the processor has, the best first.
// KERNELS makes the KERNELS_TYPE of a version.

#if defined(__x86_64__)

#define VERSION(name) name##_sse2
#define TARGET
#include KERNELS_FILE

#define VERSION(name) name##_avx2
#define TARGET __attribute__((target("avx2")))
#include KERNELS_FILE

#define VERSION(name) name##_avx512
#define TARGET __attribute__((target("arch=x86-64-v4")))
#include KERNELS_FILE

int AVAILABLE(KERNELS_TYPE kernels[3]) {
    int count = 0;
    if (__builtin_cpu_supports("x86-64-v4")) kernels[count++] = KERNELS(avx512);
    if (__builtin_cpu_supports("avx2")) kernels[count++] = KERNELS(avx2);
    kernels[count++] = KERNELS(sse2);
    return count;
}

#else

#define VERSION(name) name##_portable
#define TARGET
#include KERNELS_FILE

int AVAILABLE(KERNELS_TYPE kernels[3]) {
    kernels[0] = KERNELS(portable);
    return 1;
}

#endif
