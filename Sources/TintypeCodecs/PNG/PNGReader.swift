// Imported for its instruction to the linker alone: the calls go through the shim.
internal import CPNG
internal import CPNGShim
internal import FoundationEssentials
internal import TintypeImages

/// Decodes the bytes of a PNG file row by row with libpng, to straight RGBA with 8 or 16 bits.
final class PNGReader {
    private let handle: OpaquePointer
    let size: PixelSize
    let hasAlpha: Bool
    /// The number of times that all rows are read: 7 if interlaced.
    let passes: Int

    /// Reads the header. The bytes must stay where they are as long as the reader.
    /// - Parameters:
    ///   - cutChunk: where the chunk of data starts that the end of the bytes cuts off, if any.
    ///   - checksCRC: false for bytes that were put together from the parts of a file.
    ///   - skipsPalette: true if the palette isn't needed, and may be invalid.
    init(
        _ bytes: UnsafeRawBufferPointer, cutChunk: Int? = nil, checksCRC: Bool = true, skipsPalette: Bool = false
    ) throws(ImageError) {
        guard
            let handle = tintype_png_reader_create(
                bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count, cutChunk ?? .max, checksCRC ? 1 : 0,
                skipsPalette ? 1 : 0)
        else { throw ImageError(.outOfMemory, stage: .decode, reason: "there isn't enough memory for a PNG decoder") }
        self.handle = handle
        var header = tintype_png_header()
        let status = tintype_png_read_header(handle, &header)
        size = PixelSize(width: Int(header.width), height: Int(header.height))
        hasAlpha = header.has_alpha != 0
        passes = Int(header.passes)
        try check(status)
    }

    deinit { tintype_png_reader_destroy(handle) }

    /// Ends the header: rows come next. Takes memory for a few rows.
    func start(format: PixelFormat = .rgba8) throws(ImageError) {
        try check(tintype_png_start(handle, format == .rgba8 ? 0 : 1))
    }

    /// Reads the next row of the present pass over the earlier passes' pixels.
    @inline(__always)
    func readRow(_ row: UnsafeMutableRawPointer, fillsGaps: Bool = false) throws(ImageError) {
        try check(tintype_png_read_row(handle, row.assumingMemoryBound(to: UInt8.self), fillsGaps ? 1 : 0))
    }

    @inline(__always)
    private func check(_ status: tintype_png_status) throws(ImageError) {
        if status != TINTYPE_PNG_OK { throw failure(status) }
    }

    private func failure(_ status: tintype_png_status) -> ImageError {
        let message = String(cString: tintype_png_reader_message(handle))
        return switch status {
        case TINTYPE_PNG_TRUNCATED:
            ImageError(.truncatedImage, stage: .decode, reason: "the PNG data ends before the image is complete")
        case TINTYPE_PNG_NO_MEMORY:
            ImageError(.outOfMemory, stage: .decode, reason: "there isn't enough memory to decode the PNG")
        default: ImageError(.corruptImage, stage: .decode, reason: "the PNG is damaged: \(message)")
        }
    }
}
