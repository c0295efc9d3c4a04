// Imported for its instruction to the linker alone: the calls go through the shim.
internal import CJPEG
internal import CJPEGShim
internal import FoundationEssentials
internal import TintypeImages

/// Decodes the bytes of a JPEG file row by row with libjpeg.
final class JPEGReader {
    private let handle: OpaquePointer
    private(set) var header = tintype_jpeg_header()

    /// Reads the header. The bytes must stay where they are as long as the reader.
    /// - Parameter leavesGaps: true for a file without some of its scans: their contribution is zero.
    init(_ bytes: UnsafeRawBufferPointer, memoryLimit: Int, leavesGaps: Bool = false) throws(ImageError) {
        guard
            let handle = tintype_jpeg_reader_create(
                bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count, memoryLimit)
        else { throw ImageError(.outOfMemory, stage: .decode, reason: "there isn't enough memory for a JPEG decoder") }
        self.handle = handle
        try check(tintype_jpeg_read_header(handle, &header))
        if leavesGaps { tintype_jpeg_leave_gaps(handle) }
    }

    /// Creates a reader that receives its bytes gradually, with ``append(_:)``.
    init(incrementalWithMemoryLimit memoryLimit: Int) throws(ImageError) {
        guard let handle = tintype_jpeg_reader_create_incremental(memoryLimit) else {
            throw ImageError(.outOfMemory, stage: .decode, reason: "there isn't enough memory for a JPEG decoder")
        }
        self.handle = handle
    }

    deinit { tintype_jpeg_reader_destroy(handle) }

    func append(_ chunk: Data) throws(ImageError) {
        try check(
            chunk.withUnsafeBytes {
                tintype_jpeg_append(handle, $0.bindMemory(to: UInt8.self).baseAddress, $0.count)
            })
    }

    /// Says that all bytes have been appended: missing data is made up from here on.
    func end() { tintype_jpeg_end(handle) }

    /// - Returns: false if the bytes so far do not reach to the end of the header.
    func readHeader() throws(ImageError) -> Bool {
        let status = tintype_jpeg_read_header(handle, &header)
        try check(status)
        return status == TINTYPE_JPEG_OK
    }

    /// The number of scans that have been consumed to their end.
    var scanCount: Int { Int(tintype_jpeg_scan_count(handle)) }

    /// Reads the available part of the scans.
    /// - Returns: true if all have been read.
    func consumeAvailableScans(maximum: Int, context: ProcessingContext) throws(ImageError) -> Bool {
        while true {
            let status = tintype_jpeg_consume(handle, 64, Int32(maximum))
            try check(status)
            // No row will be shown. A refinement of what isn't there costs most of all scans, and each warns of 63 coefficients.
            if warningCount > JPEGPlan.maximumWarnings { throw corruption }
            if status != TINTYPE_JPEG_MORE { return status == TINTYPE_JPEG_OK }
            try context.checkCancellation()
        }
    }

    /// Prepares to read the rows of a file with several scans, as they are when all have been consumed.
    func startOutput() throws(ImageError) { try check(tintype_jpeg_start_output(handle)) }

    /// Prepares to read the rows as they are after the scans that have been consumed.
    func startPreview() throws(ImageError) { try check(tintype_jpeg_start_preview(handle, Int32(scanCount))) }
    func finishPreview() throws(ImageError) { try check(tintype_jpeg_finish_preview(handle)) }

    /// True if pixels had to be made up, because the file ends before the image does.
    var isMissingData: Bool { tintype_jpeg_is_missing_data(handle) != 0 }
    var warningCount: Int { tintype_jpeg_warning_count(handle) }

    /// Starts decoding at `eighths`/8 of the size.
    /// - Returns: the size of the rows to come.
    func start(eighths: Int, asCMYK: Bool) throws(ImageError) -> PixelSize {
        var width: UInt32 = 0
        var height: UInt32 = 0
        try check(tintype_jpeg_start(handle, UInt32(eighths), asCMYK ? 1 : 0, &width, &height))
        return PixelSize(width: Int(width), height: Int(height))
    }

    @inline(__always)
    /// - Returns: false if more bytes are needed for the row.
    func readRow(_ row: UnsafeMutableRawPointer) throws(ImageError) -> Bool {
        let status = tintype_jpeg_read_row(handle, row.assumingMemoryBound(to: UInt8.self))
        try check(status)
        return status == TINTYPE_JPEG_OK
    }

    var truncation: ImageError {
        ImageError(.truncatedImage, stage: .decode, reason: "the JPEG data ends before the image is complete")
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
            ImageError(.limitExceeded, stage: .decode, reason: "decoding the JPEG would exceed a limit: \(message)")
        case TINTYPE_JPEG_NO_MEMORY:
            ImageError(.outOfMemory, stage: .decode, reason: "there isn't enough memory to decode the JPEG: \(message)")
        case TINTYPE_JPEG_UNSUPPORTED:
            ImageError(
                .formatNotEnabled, stage: .decode,
                reason: "the installed libjpeg can't read this JPEG file: \(message)")
        default: isMissingData ? truncation : corruption
        }
    }
}
