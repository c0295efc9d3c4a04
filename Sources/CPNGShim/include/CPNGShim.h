// libpng reports failure with longjmp, which must not cross a Swift frame. Each function here sets its own jump target,
// so that Swift sees status codes only.
#ifndef TINTYPE_CPNG_SHIM_H
#define TINTYPE_CPNG_SHIM_H

#include <stddef.h>
#include <stdint.h>

typedef enum {
    TINTYPE_PNG_OK = 0,
    /// The bytes break the rules of the format.
    TINTYPE_PNG_CORRUPT = -1,
    /// The bytes end before the image does.
    TINTYPE_PNG_TRUNCATED = -2,
    TINTYPE_PNG_NO_MEMORY = -3,
} tintype_png_status;

// Reading

typedef struct tintype_png_reader tintype_png_reader;

typedef struct {
    uint32_t width;
    uint32_t height;
    /// 1 if the file has an alpha channel, or colors that are transparent.
    int has_alpha;
    /// The number of times that all rows are read: 7 if interlaced.
    int passes;
} tintype_png_header;

/// A reader of `count` bytes, which must stay where they are; NULL without memory.
/// `cut_chunk` is where the chunk of data begins that the end of the bytes cuts off, so that nothing of it is lost, or SIZE_MAX.
/// `checks_crc` is 0 for files that were put together from the parts of others; `skips_palette` is 1 for files whose palette
/// only suggests colors, and may be anything.
tintype_png_reader *tintype_png_reader_create(
    const uint8_t *bytes, size_t count, size_t cut_chunk, int checks_crc, int skips_palette);
void tintype_png_reader_destroy(tintype_png_reader *reader);

/// Reads what stands before the pixels.
tintype_png_status tintype_png_read_header(tintype_png_reader *reader, tintype_png_header *header);
/// Prepares to read rows of RGBA with 8 bits, or 16 in the machine's order; not premultiplied.
tintype_png_status tintype_png_start(tintype_png_reader *reader, int is_deep);
/// Reads the next row of the present pass; of an interlaced image only the pixels that the pass brings, or, with
/// `fills_gaps`, also what can be guessed of the others.
tintype_png_status tintype_png_read_row(tintype_png_reader *reader, uint8_t *row, int fills_gaps);
/// The last message of libpng.
const char *tintype_png_reader_message(const tintype_png_reader *reader);

// Reading bytes as they come

typedef struct tintype_png_pusher tintype_png_pusher;

/// The receiver of rows. Neither function may call the pusher.
typedef struct {
    void *context;
    /// The place of row `y` of the image; NULL to leave it out. An interlaced row is laid over what is there.
    uint8_t *(*row_to_fill)(void *context, uint32_t y);
    void (*row_is_filled)(void *context, uint32_t y);
} tintype_png_rows;

tintype_png_pusher *tintype_png_pusher_create(void);
void tintype_png_pusher_destroy(tintype_png_pusher *pusher);

/// Takes the next bytes. Stops where the pixels begin, once, so that the caller can look at the header and start.
/// \returns in `used` how many bytes were used.
tintype_png_status tintype_png_push(tintype_png_pusher *pusher, const uint8_t *bytes, size_t count, size_t *used);
int tintype_png_pusher_has_header(const tintype_png_pusher *pusher);
/// 1 when the end of the file has come.
int tintype_png_pusher_has_ended(const tintype_png_pusher *pusher);
/// 1 when the last row of the last pass has come.
int tintype_png_pusher_has_all_rows(const tintype_png_pusher *pusher);
/// 1 if something is wrong with the data behind the last row.
int tintype_png_pusher_has_odd_end(const tintype_png_pusher *pusher);
/// Prepares for rows of RGBA with 8 bits, not premultiplied. To be called once, before the bytes of the pixels are pushed.
tintype_png_status tintype_png_pusher_start(tintype_png_pusher *pusher, tintype_png_header *header);
/// Says who takes the rows; without, they are left out.
void tintype_png_pusher_set_rows(tintype_png_pusher *pusher, tintype_png_rows rows);
/// The last message of libpng.
const char *tintype_png_pusher_message(const tintype_png_pusher *pusher);

// Writing

typedef struct tintype_png_writer tintype_png_writer;

typedef struct {
    uint32_t width;
    uint32_t height;
    /// 8, or 16: rows are then in the machine's order.
    int bit_depth;
    /// 1 writes RGBA, 0 RGB; rows are RGBA in both cases.
    int has_alpha;
    int interlaced;
    /// 0 to 9.
    int compression_level;
    /// The filters to choose from for each row: bits of libpng's.
    int filters;
    /// 1 says that the colors are sRGB.
    int is_srgb;
} tintype_png_settings;

tintype_png_writer *tintype_png_writer_create(void);
void tintype_png_writer_destroy(tintype_png_writer *writer);

/// Begins a file. A writer writes one.
/// \returns in `passes` how often all rows must be written.
tintype_png_status tintype_png_writer_start(
    tintype_png_writer *writer, const tintype_png_settings *settings, int *passes);
tintype_png_status tintype_png_write_row(tintype_png_writer *writer, const uint8_t *row);
tintype_png_status tintype_png_writer_finish(tintype_png_writer *writer);
/// The file, valid until the writer is destroyed.
const uint8_t *tintype_png_writer_bytes(const tintype_png_writer *writer, size_t *count);
const char *tintype_png_writer_message(const tintype_png_writer *writer);

#endif
