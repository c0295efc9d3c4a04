internal import CJPEGShim
internal import FoundationEssentials
internal import TintypeImages

/// Writes a JPEG file with libjpeg.
final class JPEGWriter {
    private let handle: OpaquePointer

    init() throws(ImageError) {
        guard let handle = tintype_jpeg_writer_create() else {
            throw ImageError(.outOfMemory, stage: .encode, reason: "there isn't enough memory for a JPEG encoder")
        }
        self.handle = handle
    }

    deinit { tintype_jpeg_writer_destroy(handle) }

    /// A profile has 255 segments at most (ICC.1, annex B.4).
    private static let mostProfileBytes = 255 * 65_519

    /// - Parameters:
    ///   - segments: application segments, contents by marker, which precede the picture.
    ///   - isGray: true to write the brightness alone.
    /// - Returns: `nil` if the file became larger than the options allow.
    func write(
        _ image: Image, quality: Int, _ options: EncodeOptions, profile: Data? = nil,
        segments: [(marker: Int32, contents: Data)] = [], isGray: Bool = false,
        context: ProcessingContext = ProcessingContext()
    ) throws(ImageError) -> Data? {
        guard profile?.count ?? 0 <= Self.mostProfileBytes else {
            throw ImageError(.encodeFailed, stage: .encode, reason: "the color profile is too large for a JPEG")
        }
        guard try fits(start(image.size, quality, options, profile ?? Data(), isGray: isGray)) else { return nil }
        for segment in segments {
            let status = segment.contents.withUnsafeBytes { bytes in
                tintype_jpeg_write_marker(
                    handle, segment.marker, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count)
            }
            guard try fits(status) else { return nil }
        }
        let width = image.size.width
        let color = options.background.bytes
        let background = SIMD4(color[0], color[1], color[2], 255)
        let flat = image.hasAlpha ? try MutablePixelBuffer(size: PixelSize(width: width, height: 1)) : nil
        let flatRow = flat?.row(0)
        for y in 0..<image.size.height {
            if y & 255 == 255 { try context.checkCancellation() }
            let status = image.pixels.withRow(y) { row in
                guard let source = row.baseAddress else { return TINTYPE_JPEG_OK }
                guard let flatRow else { return write(source) }
                Premultiplication.flatten(source, on: background, into: flatRow, count: width)
                return write(UnsafeRawPointer(flatRow))
            }
            guard try fits(status) else { return nil }
        }
        guard try fits(tintype_jpeg_writer_finish(handle)) else { return nil }
        var count = 0
        guard let bytes = tintype_jpeg_writer_bytes(handle, &count) else { return nil }
        return Data(bytes: bytes, count: count)
    }

    private func start(
        _ size: PixelSize, _ quality: Int, _ options: EncodeOptions, _ profile: Data, isGray: Bool
    ) -> tintype_jpeg_status {
        let subsampling = options.jpeg.subsampling ?? (quality >= 95 ? .full : .half)
        return profile.withUnsafeBytes { profile in
            var settings = tintype_jpeg_settings()
            settings.width = UInt32(clamping: size.width)
            settings.height = UInt32(clamping: size.height)
            settings.quality = Int32(quality)
            settings.is_gray = isGray ? 1 : 0
            settings.progressive = options.progressive ? 1 : 0
            settings.optimize = options.jpeg.optimizesHuffmanCodes ? 1 : 0
            settings.horizontal_factor = subsampling == .full ? 1 : 2
            settings.vertical_factor = subsampling == .half ? 2 : 1
            settings.restart_rows = Int32(options.jpeg.restartRows)
            settings.maximum_bytes = options.maximumBytes.map { max(1, $0.bytes) } ?? 0
            settings.icc_profile = profile.bindMemory(to: UInt8.self).baseAddress
            settings.icc_profile_size = profile.count
            return tintype_jpeg_writer_start(handle, &settings)
        }
    }

    private func write(_ row: UnsafeRawPointer) -> tintype_jpeg_status {
        tintype_jpeg_write_row(handle, row.assumingMemoryBound(to: UInt8.self))
    }

    private func fits(_ status: tintype_jpeg_status) throws(ImageError) -> Bool {
        switch status {
        case TINTYPE_JPEG_OK: return true
        case TINTYPE_JPEG_OVER_LIMIT: return false
        default:
            let message = String(cString: tintype_jpeg_writer_message(handle))
            throw ImageError(
                status == TINTYPE_JPEG_NO_MEMORY ? .outOfMemory : .encodeFailed, stage: .encode,
                reason: "the JPEG can't be written: \(message)")
        }
    }
}
