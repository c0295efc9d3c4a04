#include "CUnfilter.h"

#include <stdlib.h>
#include <string.h>

typedef uint8_t u8x8 __attribute__((vector_size(8)));
typedef uint8_t u8x16 __attribute__((vector_size(16)));
typedef uint32_t u32x2 __attribute__((vector_size(8)));
typedef int16_t i16x8 __attribute__((vector_size(16)));

#define ROWS CUNFILTER_ROWS

// So that the number of bytes is a constant in each loop.
#define INLINED static inline __attribute__((always_inline))

#define WIDE(bytes) __builtin_convertvector(bytes, i16x8)
#define NARROW(words) __builtin_convertvector(words, u8x8)
// Adds vectors byte by byte, without carries.
#define ADD_BYTES(a, b) ((i16x8)((u8x16)(a) + (u8x16)(b)))

// Loads four or eight bytes. If a pixel has three or six, the last are the next pixel's; they are computed needlessly, and overwritten.
static inline u8x8 load_pixel(const uint8_t *from, const int size) {
    uint64_t pixel = 0;
    if (size <= 4) memcpy(&pixel, from, 4);
    else memcpy(&pixel, from, 8);
    return (u8x8)pixel;
}

static inline void store_pixel(uint8_t *to, u8x8 pixel, const int size) {
    if (size <= 4) memcpy(to, &pixel, 4);
    else memcpy(to, &pixel, 8);
}

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

// The compiler creates a separate loop for each constant number of samples. The last of an even number is alpha.
INLINED void pack(
    uint8_t *restrict row, const void *rgba, long count, int is_deep, const int samples
) {
    for (long i = 0; i < count; i++) {
        for (int j = 0; j < samples; j++) {
            const long from = i * 4 + (samples % 2 == 0 && j == samples - 1 ? 3 : j), to = i * samples + j;
            if (is_deep) {
                const uint16_t sample = ((const uint16_t *)rgba)[from];
                row[to * 2] = (uint8_t)(sample >> 8);
                row[to * 2 + 1] = (uint8_t)sample;
            } else {
                row[to] = ((const uint8_t *)rgba)[from];
            }
        }
    }
}

void cunfilter_pack(uint8_t *row, const void *rgba, long count, int is_deep, int samples) {
    if (samples == 4 && !is_deep) {
        memcpy(row, rgba, (size_t)count * 4);
        return;
    }
    switch (samples) {
        case 1: pack(row, rgba, count, is_deep, 1); return;
        case 2: pack(row, rgba, count, is_deep, 2); return;
        case 3: pack(row, rgba, count, is_deep, 3); return;
        default: pack(row, rgba, count, is_deep, 4); return;
    }
}

static inline uint16_t load_deep(const uint8_t *sample) { return (uint16_t)(sample[0] << 8 | sample[1]); }

// Rounds to the nearest of 8 bits, exactly.
static inline uint8_t rounded(uint16_t sample) { return (uint8_t)((sample * 255u + 32895) >> 16); }

// The compiler creates a separate loop for each constant number of samples.
INLINED void unpack_deep(
    void *rgba, const uint8_t *row, long count, int is_deep, const int samples
) {
    for (long i = 0; i < count; i++) {
        uint16_t pixel[4];
        for (int j = 0; j < 4; j++) {
            const int from = j == 3 ? samples - 1 : samples > 2 ? j : 0;
            pixel[j] = j == 3 && samples % 2 != 0 ? 65535 : load_deep(row + (i * samples + from) * 2);
        }
        for (int j = 0; j < 4; j++) {
            if (is_deep) ((uint16_t *)rgba)[i * 4 + j] = pixel[j];
            else ((uint8_t *)rgba)[i * 4 + j] = rounded(pixel[j]);
        }
    }
}

void cunfilter_unpack_deep(void *rgba, const uint8_t *row, long count, int is_deep, int samples) {
    switch (samples) {
        case 1: unpack_deep(rgba, row, count, is_deep, 1); return;
        case 2: unpack_deep(rgba, row, count, is_deep, 2); return;
        case 3: unpack_deep(rgba, row, count, is_deep, 3); return;
        default: unpack_deep(rgba, row, count, is_deep, 4); return;
    }
}

static inline uint32_t load_color(const void *rgba, long x, int has_alpha) {
    uint8_t color[4];
    uint32_t result;
    memcpy(color, (const uint8_t *)rgba + x * 4, 4);
    if (!has_alpha) color[3] = 255;
    memcpy(&result, color, 4);
    return result;
}

// The place of a color, or the free one where it belongs. Three quarters of the places are always free.
static inline uint32_t place_of(const uint32_t *colors, const uint16_t *places, uint32_t color) {
    // Knuth's multiplicative hash: the highest 10 bits.
    uint32_t place = (color * 2654435761u) >> 22;
    while (places[place] && colors[places[place] - 1] != color) place = (place + 1) % CUNFILTER_PLACES;
    return place;
}

int cunfilter_find_colors(
    uint32_t *colors, uint16_t *places, int count, int most, const void *rgba, long pixels, int has_alpha
) {
    for (long x = 0; x < pixels; x++) {
        const uint32_t color = load_color(rgba, x, has_alpha);
        if (x > 0 && color == load_color(rgba, x - 1, has_alpha)) continue;
        const uint32_t place = place_of(colors, places, color);
        if (places[place]) continue;
        if (count == most) return -1;
        colors[count++] = color;
        places[place] = (uint16_t)count;
    }
    return count;
}

void cunfilter_pack_colors(
    uint8_t *row, const void *rgba, long pixels, int has_alpha, const uint32_t *colors, const uint16_t *places,
    const uint8_t *numbers, int bits
) {
    uint32_t last = 0;
    unsigned number = 0, byte = 0;
    int filled = 0;
    for (long x = 0; x < pixels; x++) {
        const uint32_t color = load_color(rgba, x, has_alpha);
        if (x == 0 || color != last) {
            const unsigned index = places[place_of(colors, places, color)];
            number = index ? numbers[index - 1] : 0;
            last = color;
        }
        byte = byte << bits | number;
        filled += bits;
        if (filled == 8) {
            *row++ = (uint8_t)byte;
            filled = 0;
        }
    }
    if (filled > 0) *row = (uint8_t)(byte << (8 - filled));
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
