#include "CUnfilter.h"

#include <stdlib.h>
#include <string.h>

typedef uint8_t u8x8 __attribute__((vector_size(8)));
typedef uint8_t u8x16 __attribute__((vector_size(16)));
typedef uint32_t u32x2 __attribute__((vector_size(8)));
typedef int16_t i16x8 __attribute__((vector_size(16)));

#define ROWS CUNFILTER_ROWS

#define WIDE(bytes) __builtin_convertvector(bytes, i16x8)
#define NARROW(words) __builtin_convertvector(words, u8x8)
// Adds vectors byte by byte, without carries.
#define ADD_BYTES(a, b) ((i16x8)((u8x16)(a) + (u8x16)(b)))

// Loads four bytes. If a pixel has three, the fourth is the next pixel's; it is computed needlessly, and overwritten.
static inline u8x8 load_pixel(const uint8_t *from) {
    uint32_t pixel;
    memcpy(&pixel, from, 4);
    return (u8x8)(uint64_t)pixel;
}

static inline void store_pixel(uint8_t *to, u8x8 pixel) { memcpy(to, &pixel, 4); }

/// Processes filters 1, 3 and 4 byte by byte, for gray, gray with alpha, and palettes.
static void undo_small(
    uint8_t *row, const uint8_t *source, const uint8_t *above, long bytes, int pixel_bytes, int filter
) {
    for (long i = 0; i < bytes; i++) {
        const int left = i < pixel_bytes ? 0 : row[i - pixel_bytes];
        const int corner = i < pixel_bytes ? 0 : above[i - pixel_bytes];
        const int top = above[i];
        int guess = left;
        if (filter == 3) {
            guess = (left + top) >> 1;
        } else if (filter == 4) {
            const int from_left = abs(top - corner), from_top = abs(left - corner);
            const int from_corner = abs(left + top - 2 * corner);
            if (from_top < from_left) guess = from_top <= from_corner ? top : corner;
            else guess = from_left <= from_corner ? left : corner;
        }
        row[i] = (uint8_t)(source[i] + guess);
    }
}

void cunfilter_pack(uint8_t *row, const void *rgba, long count, int is_deep, int has_alpha) {
    const long samples = has_alpha ? 4 : 3;
    if (!is_deep) {
        const uint8_t *pixels = rgba;
        if (has_alpha) {
            memcpy(row, pixels, (size_t)count * 4);
            return;
        }
        for (long i = 0; i < count; i++) {
            for (int j = 0; j < 3; j++) row[i * 3 + j] = pixels[i * 4 + j];
        }
        return;
    }
    const uint16_t *pixels = rgba;
    for (long i = 0; i < count; i++) {
        for (long j = 0; j < samples; j++) {
            const uint16_t sample = pixels[i * 4 + j];
            row[(i * samples + j) * 2] = (uint8_t)(sample >> 8);
            row[(i * samples + j) * 2 + 1] = (uint8_t)sample;
        }
    }
}

#if defined(__x86_64__)

#define VERSION(name) name##_sse2
#define TARGET
#include "kernels.h"

#define VERSION(name) name##_avx2
#define TARGET __attribute__((target("avx2")))
#include "kernels.h"

int cunfilter_available(cunfilter_kernels kernels[2]) {
    int count = 0;
    if (__builtin_cpu_supports("avx2")) kernels[count++] = (cunfilter_kernels){undo_avx2, undo_rows_avx2, apply_avx2};
    kernels[count++] = (cunfilter_kernels){undo_sse2, undo_rows_sse2, apply_sse2};
    return count;
}

#else

#define VERSION(name) name##_portable
#define TARGET
#include "kernels.h"

int cunfilter_available(cunfilter_kernels kernels[2]) {
    kernels[0] = (cunfilter_kernels){undo_portable, undo_rows_portable, apply_portable};
    return 1;
}

#endif
