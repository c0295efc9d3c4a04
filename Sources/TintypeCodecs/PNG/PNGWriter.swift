internal import CPNGShim
internal import FoundationEssentials
internal import TintypeImages

/// Writes a PNG file with libpng, row by row: interlaced, or too large for ``PNGPackedRows``.
final class PNGWriter {
    private let handle: OpaquePointer

    init() throws(ImageError) {
        guard let handle = tintype_png_writer_create() else { throw Self.outOfMemory }
        self.handle = handle
    }

    deinit { tintype_png_writer_destroy(handle) }

    /// Returns a file of a picture.
    func write(_ picture: PNGPicture) throws(ImageError) -> Data {
        var settings = tintype_png_settings()
        settings.width = UInt32(clamping: picture.area.size.width)
        settings.height = UInt32(clamping: picture.area.size.height)
        settings.bit_depth = Int32(picture.samples.bitDepth)
        settings.color_type = Int32(picture.samples.colorType)
        settings.interlaced = picture.isInterlaced ? 1 : 0
        settings.compression_level = Int32(picture.compressionLevel)
        settings.filters = picture.filter.mask
        settings.is_srgb = picture.isSRGB ? 1 : 0
        let (palette, alphas) = (picture.samples.palette, picture.samples.alphas)
        settings.color_count = Int32(palette.count / 3)
        settings.alpha_count = Int32(alphas.count)
        var passes: Int32 = 1
        let status = palette.withUnsafeBufferPointer { palette in
            alphas.withUnsafeBufferPointer { alphas -> tintype_png_status in
                settings.palette = palette.baseAddress
                settings.alphas = alphas.baseAddress
                return tintype_png_writer_start(handle, &settings, &passes)
            }
        }
        try check(status)
        let width = picture.area.size.width
        guard let line = ScratchBytes(picture.samples.rowBytes(width), pool: picture.context.pool) else {
            throw Self.outOfMemory
        }
        defer { withExtendedLifetime(line) {} }
        let row = line.base.assumingMemoryBound(to: UInt8.self)
        for _ in 0..<passes {
            try picture.forEachRow { (pixels) throws(ImageError) -> Void in
                picture.samples.pack(pixels, to: row, width: width)
                try check(tintype_png_write_row(handle, row))
            }
        }
        try check(tintype_png_writer_finish(handle))
        var count = 0
        return tintype_png_writer_bytes(handle, &count).map { Data(bytes: $0, count: count) } ?? Data()
    }

    static var outOfMemory: ImageError {
        ImageError(.outOfMemory, stage: .encode, reason: "there isn't enough memory for a PNG encoder")
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
