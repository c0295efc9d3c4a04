#ifndef CLOOPS_H
#define CLOOPS_H

#include <stddef.h>
#include <stdint.h>

// The least that a C program does with the libraries of the formats. The files are good ones: errors end the program.

/// Decodes a JPEG at `eighths` / 8 of its size to RGBA, row by row into `pixels`, whose rows begin `stride` bytes apart.
void bare_jpeg(const uint8_t *bytes, size_t count, int eighths, uint8_t *pixels, size_t stride);

/// Decodes a PNG to RGBA of 8 bits, straight.
void bare_png(const uint8_t *bytes, size_t count, uint8_t *pixels, size_t stride);

/// Decode WebP, AVIF and JPEG XL, on one thread, to RGBA of 8 bits: premultiplied, premultiplied, straight.
void bare_webp(const uint8_t *bytes, size_t count, uint8_t *pixels, size_t stride);
void bare_avif(const uint8_t *bytes, size_t count, uint8_t *pixels, size_t stride);
void bare_jxl(const uint8_t *bytes, size_t count, uint8_t *pixels, size_t size);

/// Composes all frames of an animated GIF, one after the other, on one canvas of RGBA.
/// \returns how many there were.
int bare_gif(const uint8_t *bytes, size_t count, uint8_t *pixels, size_t stride);

/// Writes the same coefficients as a baseline or progressive JPEG, with the markers of applications.
/// \returns memory to be freed.
uint8_t *transcode_jpeg(const uint8_t *bytes, size_t count, int progressive, size_t *written);

#endif
