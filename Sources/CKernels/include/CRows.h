#ifndef CROWS_H
#define CROWS_H

#include <stdbool.h>
#include <stdint.h>

// The inner loops that make rows of pixels of decoded samples. They are in C because Swift has no function multiversioning: on
// x86-64 each is compiled for AVX-512, AVX2 and SSE2. They compute with integers, so every version produces the same pixels.
// No loop reads or writes beyond its `count`.

/// The weights of luma and of both differences in a component.
typedef struct {
    int32_t luma, blue, red;
} crows_weights;

/// Takes luma and chroma to red, green and blue, in fixed point.
typedef struct {
    /// The weights for each component: of luma in units of 2⁻¹⁶, of the differences in units of 2⁻¹⁶ of a 16th.
    crows_weights red, green, blue;
    /// The luma of black.
    int32_t black;
    /// The chroma of gray.
    int32_t gray;
    /// The greatest number of a component.
    int32_t maximum;
} crows_matrix;

/// The loops over planes whose numbers have one byte, or two in native byte order. Differences are chroma less the chroma of gray,
/// in 16ths.
typedef struct {
    /// Computes the differences of chroma that every pixel has.
    void (*subtract)(int32_t *differences, const void *chroma, int32_t gray, long count);
    /// Computes the differences of pairs of pixels that share their chroma, linearly: 9, 3, 3 and 1 sixteenths of the four next
    /// numbers.
    ///
    /// - differences: room for two numbers for each of `count`
    /// - between: room for `count` numbers, and one more at both ends
    /// - near, far: the next row of chroma, and the row beyond; the same where rows don't share chroma
    void (*enlarge)(
        int32_t *differences, int32_t *between, const void *near, const void *far, int32_t gray, long count);
    /// Computes opaque pixels, whose components have as many bytes as the numbers. Sums wrap around in pictures of nonsense.
    void (*combine)(
        void *pixels, const void *luma, const int32_t *blue, const int32_t *red, crows_matrix matrix, long count);
} crows_planes;

typedef struct {
    crows_planes bytes, words;
    /// Converts numbers of 8 bits to `maximum`, up to 65,535, rounded to the nearest.
    void (*deepen)(uint16_t *row, const uint8_t *numbers, uint32_t maximum, long count);
    /// Converts numbers of 8 to 16 bits to `maximum`, rounded to the nearest. Larger numbers count as the largest.
    void (*scale)(uint16_t *row, const uint16_t *numbers, uint32_t bits, uint32_t maximum, long count);
    /// Converts numbers of 8 to 16 bits to 8, likewise.
    void (*narrow)(uint8_t *row, const uint16_t *numbers, uint32_t bits, long count);
    /// Makes opaque RGBA of pixels of three bytes: red, green and blue, or `is_reversed`.
    void (*expand)(uint8_t *pixels, const uint8_t *source, bool is_reversed, long count);
    /// Makes opaque RGBA of 16 bits of pixels of three numbers.
    void (*expand_words)(uint16_t *pixels, const uint16_t *source, long count);
    /// Makes pixels of three bytes of RGBA: red, green and blue, or `is_reversed`.
    void (*contract)(uint8_t *row, const uint8_t *pixels, bool is_reversed, long count);
} crows_kernels;

/// Writes the kernels that this processor supports to `kernels`, best first, and returns their number: 1 to 3.
int crows_available(crows_kernels kernels[3]);

#endif
