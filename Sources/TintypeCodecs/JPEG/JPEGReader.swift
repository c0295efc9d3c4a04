// Imported for its instruction to the linker alone: the calls go through the shim.
internal import CJPEG
internal import CJPEGShim
internal import TintypeCore

/// Decodes the bytes of one JPEG file row by row with libjpeg.
final class JPEGReader {
    private let handle: OpaquePointer
    private(set) var header = tintype_jpeg_header()

    /// Reads the header. The bytes must stay where they are as long as the reader.
    init(_ bytes: UnsafeRawBufferPointer, memoryLimit: Int) throws(ImageError) {
        guard
            let handle = tintype_jpeg_reader_create(
                bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count, memoryLimit)
        else { throw ImageError(.outOfMemory, stage: .decode, reason: "the system has no memory for a JPEG decoder") }
        self.handle = handle
        try check(tintype_jpeg_read_header(handle, &header))
    }

    deinit { tintype_jpeg_reader_destroy(handle) }

    /// True if pixels had to be made up, because the file ends before the image does.
    var isMissingData: Bool { tintype_jpeg_is_missing_data(handle) != 0 }
    var warningCount: Int { tintype_jpeg_warning_count(handle) }

    /// Reads all scans of a file that has several, which must be done before the first row can be had.
    func consumeScans(maximum: Int, context: DecodeContext) throws(ImageError) {
        while true {
            let status = tintype_jpeg_consume(handle, 64, Int32(maximum))
            try check(status)
            if status == TINTYPE_JPEG_OK { break }
            try context.checkCancellation()
        }
        try check(tintype_jpeg_start_output(handle))
    }

    /// Begins decoding at `eighths`/8 of the size.
    /// - Returns: the size of the rows to come.
    func start(eighths: Int, asCMYK: Bool) throws(ImageError) -> PixelSize {
        var width: UInt32 = 0
        var height: UInt32 = 0
        try check(tintype_jpeg_start(handle, UInt32(eighths), asCMYK ? 1 : 0, &width, &height))
        return PixelSize(width: Int(width), height: Int(height))
    }

    @inline(__always)
    func readRow(_ row: UnsafeMutableRawPointer) throws(ImageError) {
        try check(tintype_jpeg_read_row(handle, row.assumingMemoryBound(to: UInt8.self)))
    }

    var truncation: ImageError {
        ImageError(.truncatedImage, stage: .decode, reason: "the JPEG data ends before the image does")
    }

    var corruption: ImageError {
        ImageError(.corruptImage, stage: .decode, reason: "the JPEG is damaged: \(message)")
    }

    private var message: String { String(cString: tintype_jpeg_reader_message(handle)) }

    @inline(__always)
    private func check(_ status: tintype_jpeg_status) throws(ImageError) {
        if status.rawValue < 0 { throw failure(status) }
    }

    private func failure(_ status: tintype_jpeg_status) -> ImageError {
        switch status {
        case TINTYPE_JPEG_OVER_LIMIT:
            ImageError(.limitExceeded, stage: .decode, reason: "decoding the JPEG would take too much: \(message)")
        case TINTYPE_JPEG_NO_MEMORY:
            ImageError(.outOfMemory, stage: .decode, reason: "the system has no memory to decode the JPEG: \(message)")
        default: isMissingData ? truncation : corruption
        }
    }
}
