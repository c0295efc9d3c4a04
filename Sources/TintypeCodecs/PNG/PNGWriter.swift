internal import CPNGShim
internal import FoundationEssentials
internal import TintypeImages

/// Writes a PNG file with libpng.
final class PNGWriter {
    private let handle: OpaquePointer

    init() throws(ImageError) {
        guard let handle = tintype_png_writer_create() else {
            throw ImageError(.outOfMemory, stage: .encode, reason: "there isn't enough memory for a PNG encoder")
        }
        self.handle = handle
    }

    deinit { tintype_png_writer_destroy(handle) }

    /// A file of the pixels of a rectangle, of 8 or 16 bits; alpha is left out unless the image has any.
    /// - Parameter isSRGB: true to mark the colors as sRGB.
    func write(
        _ pixels: PixelBuffer, x: Int = 0, y: Int = 0, size: PixelSize, hasAlpha: Bool, isSRGB: Bool,
        isInterlaced: Bool, compressionLevel: Int, filter: PNGEncodeOptions.Filter, context: ProcessingContext
    ) throws(ImageError) -> Data {
        var settings = tintype_png_settings()
        settings.width = UInt32(clamping: size.width)
        settings.height = UInt32(clamping: size.height)
        settings.bit_depth = Int32(pixels.format.bitsPerComponent)
        settings.has_alpha = hasAlpha ? 1 : 0
        settings.interlaced = isInterlaced ? 1 : 0
        settings.compression_level = Int32(compressionLevel)
        settings.filters = filter.mask
        settings.is_srgb = isSRGB ? 1 : 0
        var passes: Int32 = 1
        try check(tintype_png_writer_start(handle, &settings, &passes))
        let row = PixelSize(width: size.width, height: 1)
        let straight = hasAlpha ? try MutablePixelBuffer(size: row, format: pixels.format) : nil
        let bytesPerPixel = pixels.format.bytesPerPixel
        let straightRow = straight?.row(0)
        for _ in 0..<passes {
            for line in 0..<size.height {
                if line & 255 == 255 { try context.checkCancellation() }
                try check(
                    pixels.withRow(y + line) { bytes in
                        guard let source = bytes.baseAddress.map({ $0 + x * bytesPerPixel }) else {
                            return TINTYPE_PNG_OK
                        }
                        guard let straightRow else { return write(source) }
                        if pixels.format == .rgba8 {
                            Premultiplication.unpremultiply(source, into: straightRow, count: size.width)
                        } else {
                            straightRow.copyMemory(from: source, byteCount: size.width * bytesPerPixel)
                            Premultiplication.unpremultiply(straightRow, count: size.width, format: pixels.format)
                        }
                        return write(UnsafeRawPointer(straightRow))
                    })
            }
        }
        try check(tintype_png_writer_finish(handle))
        var count = 0
        return tintype_png_writer_bytes(handle, &count).map { Data(bytes: $0, count: count) } ?? Data()
    }

    private func write(_ row: UnsafeRawPointer) -> tintype_png_status {
        tintype_png_write_row(handle, row.assumingMemoryBound(to: UInt8.self))
    }

    private func check(_ status: tintype_png_status) throws(ImageError) {
        guard status != TINTYPE_PNG_OK else { return }
        let message = String(cString: tintype_png_writer_message(handle))
        throw ImageError(.encodeFailed, stage: .encode, reason: "the PNG can't be written: \(message)")
    }
}

extension PNGEncodeOptions.Filter {
    /// The bits that stand for the filters in libpng.
    fileprivate var mask: Int32 {
        switch self {
        case .adaptive: 0xF8
        case .none: 0x08
        case .sub: 0x10
        case .up: 0x20
        case .average: 0x40
        case .paeth: 0x80
        }
    }
}
