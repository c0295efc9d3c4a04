// libjpeg reports failures with longjmp, which must not cross a Swift frame. Each function here sets its own jump target, so
// that Swift only sees status codes.
#ifndef TINTYPE_CJPEG_SHIM_H
#define TINTYPE_CJPEG_SHIM_H

#include <stddef.h>
#include <stdint.h>

typedef enum {
    TINTYPE_JPEG_OK = 0,
    /// The work is not complete: call again.
    TINTYPE_JPEG_MORE = 1,
    /// The bytes so far are used up; only for a reader that receives its bytes gradually.
    TINTYPE_JPEG_SUSPENDED = 2,
    /// The bytes violate the rules of the format, or libjpeg cannot read this kind of JPEG.
    TINTYPE_JPEG_CORRUPT = -1,
    /// libjpeg needs more memory than it is allowed.
    TINTYPE_JPEG_OVER_LIMIT = -2,
    TINTYPE_JPEG_NO_MEMORY = -3,
    /// The file uses a process that this libjpeg does not support.
    TINTYPE_JPEG_UNSUPPORTED = -4,
} tintype_jpeg_status;

// Reading

typedef struct tintype_jpeg_reader tintype_jpeg_reader;

typedef struct {
    uint32_t width;
    uint32_t height;
    int components;
    /// 1 for CMYK and YCCK, which are read as CMYK.
    int is_cmyk;
    /// 1 if the file has several scans, which must all be consumed before the first row can be read.
    int has_multiple_scans;
} tintype_jpeg_header;

/// Creates a reader of `count` bytes, which must stay where they are; NULL without memory.
tintype_jpeg_reader *tintype_jpeg_reader_create(const uint8_t *bytes, size_t count, size_t memory_limit);
/// Creates a reader that receives its bytes gradually, with `tintype_jpeg_append`.
tintype_jpeg_reader *tintype_jpeg_reader_create_incremental(size_t memory_limit);
/// Appends bytes, which are copied.
tintype_jpeg_status tintype_jpeg_append(tintype_jpeg_reader *reader, const uint8_t *bytes, size_t count);
/// Marks the end of the bytes.
void tintype_jpeg_end(tintype_jpeg_reader *reader);
void tintype_jpeg_reader_destroy(tintype_jpeg_reader *reader);

tintype_jpeg_status tintype_jpeg_read_header(tintype_jpeg_reader *reader, tintype_jpeg_header *header);

/// Treats coefficients without a scan as zero instead of estimating them from surrounding blocks. Call it before starting.
void tintype_jpeg_leave_gaps(tintype_jpeg_reader *reader);

/// Prepares to decode at `eighths` / 8 of the size, as RGBA or CMYK of 8 bits.
tintype_jpeg_status tintype_jpeg_start(
    tintype_jpeg_reader *reader, unsigned eighths, int as_cmyk, uint32_t *width, uint32_t *height);

/// Reads at most `steps` rows of blocks of the scans of a file with several; OK at the end of the last scan.
tintype_jpeg_status tintype_jpeg_consume(tintype_jpeg_reader *reader, int steps, int maximum_scans);

/// Returns the number of scans that have been read completely.
int tintype_jpeg_scan_count(tintype_jpeg_reader *reader);

/// Prepares to read rows, after all scans have been consumed.
tintype_jpeg_status tintype_jpeg_start_output(tintype_jpeg_reader *reader);
/// Prepares to read rows with the contents of the first scans, which have all been consumed.
tintype_jpeg_status tintype_jpeg_start_preview(tintype_jpeg_reader *reader, int scan);
/// Ends the reading of a preview's rows.
tintype_jpeg_status tintype_jpeg_finish_preview(tintype_jpeg_reader *reader);
tintype_jpeg_status tintype_jpeg_read_row(tintype_jpeg_reader *reader, uint8_t *row);

/// Returns 1 if pixels had to be invented because the data ended before the image did.
int tintype_jpeg_is_missing_data(const tintype_jpeg_reader *reader);
/// Returns the number of minor errors that libjpeg has ignored.
long tintype_jpeg_warning_count(const tintype_jpeg_reader *reader);
/// Returns the last message of libjpeg.
const char *tintype_jpeg_reader_message(const tintype_jpeg_reader *reader);

// Writing

typedef struct tintype_jpeg_writer tintype_jpeg_writer;

typedef struct {
    uint32_t width;
    uint32_t height;
    /// The quality, from 0 to 100.
    int quality;
    /// 1 to write the brightness alone.
    int is_gray;
    int progressive;
    /// 1 to optimize the Huffman codes.
    int optimize;
    /// The horizontal and vertical divisors of the resolution of color: 1 or 2.
    int horizontal_factor;
    int vertical_factor;
    /// Rows of blocks between two restart markers; 0 for none.
    int restart_rows;
    /// The largest size of the file, beyond which writing stops; 0 for no limit.
    size_t maximum_bytes;
    const uint8_t *icc_profile;
    size_t icc_profile_size;
} tintype_jpeg_settings;

tintype_jpeg_writer *tintype_jpeg_writer_create(void);
void tintype_jpeg_writer_destroy(tintype_jpeg_writer *writer);

/// Starts a file. A writer writes only a single image.
tintype_jpeg_status tintype_jpeg_writer_start(tintype_jpeg_writer *writer, const tintype_jpeg_settings *settings);
/// Writes a segment of at most 65,533 bytes, between the start and the first row.
tintype_jpeg_status tintype_jpeg_write_marker(
    tintype_jpeg_writer *writer, int marker, const uint8_t *bytes, size_t count);
/// Writes a row of RGBA, whose alpha is ignored. OVER_LIMIT when the file has become too large.
tintype_jpeg_status tintype_jpeg_write_row(tintype_jpeg_writer *writer, const uint8_t *row);
tintype_jpeg_status tintype_jpeg_writer_finish(tintype_jpeg_writer *writer);
/// Returns the file, which is valid until the writer is destroyed.
const uint8_t *tintype_jpeg_writer_bytes(const tintype_jpeg_writer *writer, size_t *count);
const char *tintype_jpeg_writer_message(const tintype_jpeg_writer *writer);

#endif
