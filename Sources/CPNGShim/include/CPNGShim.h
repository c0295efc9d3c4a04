// libpng reports failures with longjmp, which must not cross a Swift frame. Each function here sets its own jump target, so
// that Swift only sees status codes.
#ifndef TINTYPE_CPNG_SHIM_H
#define TINTYPE_CPNG_SHIM_H

#include <stddef.h>
#include <stdint.h>

typedef enum {
    TINTYPE_PNG_OK = 0,
    /// The bytes violate the rules of the format.
    TINTYPE_PNG_CORRUPT = -1,
    /// The data ends before the image is complete.
    TINTYPE_PNG_TRUNCATED = -2,
    TINTYPE_PNG_NO_MEMORY = -3,
} tintype_png_status;

// Reading

typedef struct tintype_png_reader tintype_png_reader;

typedef struct {
    uint32_t width;
    uint32_t height;
    /// 1 if the file has an alpha channel or transparent colors.
    int has_alpha;
    /// The number of passes over all rows: 7 if interlaced.
    int passes;
} tintype_png_header;

/// Creates a reader of `count` bytes, which must stay where they are; NULL without memory.
/// `cut_chunk` is the start of the data chunk that is cut off by the end of the bytes, so that its available part is not lost;
/// otherwise SIZE_MAX. `checks_crc` is 0 for files that were assembled from parts of others. `skips_palette` is 1 for files
/// whose palette only suggests colors, and may be invalid.
tintype_png_reader *tintype_png_reader_create(
    const uint8_t *bytes, size_t count, size_t cut_chunk, int checks_crc, int skips_palette);
void tintype_png_reader_destroy(tintype_png_reader *reader);

/// Reads everything before the pixels.
tintype_png_status tintype_png_read_header(tintype_png_reader *reader, tintype_png_header *header);
/// Prepares to read rows of RGBA with 8 bits, or with 16 in native byte order; not premultiplied.
tintype_png_status tintype_png_start(tintype_png_reader *reader, int is_deep);
/// Reads the next row of the current pass. For an interlaced image, these are only the pixels of this pass or, with
/// `fills_gaps`, also estimates of the others.
tintype_png_status tintype_png_read_row(tintype_png_reader *reader, uint8_t *row, int fills_gaps);
/// Returns the last message of libpng.
const char *tintype_png_reader_message(const tintype_png_reader *reader);

// Reading bytes as they come

typedef struct tintype_png_pusher tintype_png_pusher;

/// The receiver of rows. Its functions must not call the pusher.
typedef struct {
    void *context;
    /// Returns the address for row `y` of the image; NULL to skip it. An interlaced row is merged with its present contents.
    uint8_t *(*row_to_fill)(void *context, uint32_t y);
    void (*row_is_filled)(void *context, uint32_t y);
} tintype_png_rows;

tintype_png_pusher *tintype_png_pusher_create(void);
void tintype_png_pusher_destroy(tintype_png_pusher *pusher);

/// Processes the next bytes. Stops once at the start of the pixels, so that the caller can read the header and start.
/// \returns in `used` the number of bytes that were used.
tintype_png_status tintype_png_push(tintype_png_pusher *pusher, const uint8_t *bytes, size_t count, size_t *used);
int tintype_png_pusher_has_header(const tintype_png_pusher *pusher);
/// Returns 1 after the end of the file.
int tintype_png_pusher_has_ended(const tintype_png_pusher *pusher);
/// Returns 1 after the last row of the last pass.
int tintype_png_pusher_has_all_rows(const tintype_png_pusher *pusher);
/// Returns 1 if the data after the last row is invalid.
int tintype_png_pusher_has_odd_end(const tintype_png_pusher *pusher);
/// Prepares for rows of RGBA with 8 bits, not premultiplied. Call it once, before the bytes of the pixels are pushed.
tintype_png_status tintype_png_pusher_start(tintype_png_pusher *pusher, tintype_png_header *header);
/// Sets the receiver of rows. Without a buffer, they are skipped.
void tintype_png_pusher_set_rows(tintype_png_pusher *pusher, tintype_png_rows rows);
/// Returns the last message of libpng.
const char *tintype_png_pusher_message(const tintype_png_pusher *pusher);

// Writing

typedef struct tintype_png_writer tintype_png_writer;

typedef struct {
    uint32_t width;
    uint32_t height;
    /// The bits of a sample, and the color type, as the format numbers it. Rows are as in the file.
    int bit_depth;
    int color_type;
    /// The palette, three bytes for each color, and the alpha of its first colors.
    const uint8_t *palette;
    const uint8_t *alphas;
    int color_count;
    int alpha_count;
    int interlaced;
    /// From 0 to 9.
    int compression_level;
    /// The filters to choose from for each row, as libpng's flags.
    int filters;
    /// 1 to mark the colors as sRGB.
    int is_srgb;
} tintype_png_settings;

tintype_png_writer *tintype_png_writer_create(void);
void tintype_png_writer_destroy(tintype_png_writer *writer);

/// Starts a file. A writer writes only a single image.
/// \returns in `passes` the number of times that all rows must be written.
tintype_png_status tintype_png_writer_start(
    tintype_png_writer *writer, const tintype_png_settings *settings, int *passes);
tintype_png_status tintype_png_write_row(tintype_png_writer *writer, const uint8_t *row);
tintype_png_status tintype_png_writer_finish(tintype_png_writer *writer);
/// Returns the file, which is valid until the writer is destroyed.
const uint8_t *tintype_png_writer_bytes(const tintype_png_writer *writer, size_t *count);
const char *tintype_png_writer_message(const tintype_png_writer *writer);

#endif
