internal import CJPEGShim
public import FoundationEssentials
public import TintypeCore

extension JPEGCoder {
    /// Writes the picture, or the first frame of an animation, as JPEG.
    ///
    /// Transparent pixels are laid on ``EncodeOptions/background``. Colour has half the resolution (4:2:0) below a quality
    /// of 0.95. The ICC profile of an image in another colour space than sRGB is embedded.
    /// - Throws: ``ImageError/Code/encodeFailed`` for a side of more than 65,500 pixels, and if even the lowest quality takes
    ///   more than ``EncodeOptions/maximumBytes``.
    public func encode(_ image: Image, as format: ImageFormat, options: EncodeOptions) throws(ImageError) -> Data {
        let image = try EncodePreparation.prepare(image, as: .jpeg, options, maximumSide: 65_500, isStill: true)
        return try EncodePreparation.fit(
            quality: options.percent, maximumBytes: options.maximumBytes, as: .jpeg
        ) { quality throws(ImageError) in
            try JPEGWriter().write(image, quality: quality, options)
        }
    }
}

/// Writes one JPEG file with libjpeg.
private final class JPEGWriter {
    private let handle: OpaquePointer

    init() throws(ImageError) {
        guard let handle = tintype_jpeg_writer_create() else {
            throw ImageError(.outOfMemory, stage: .encode, reason: "the system has no memory for a JPEG encoder")
        }
        self.handle = handle
    }

    deinit { tintype_jpeg_writer_destroy(handle) }

    /// - Returns: `nil` if the file became larger than the options allow.
    func write(_ image: Image, quality: Int, _ options: EncodeOptions) throws(ImageError) -> Data? {
        let profile = image.colorSpace.profile ?? Data()
        let started = profile.withUnsafeBytes { profile in
            var settings = tintype_jpeg_settings()
            settings.width = UInt32(clamping: image.size.width)
            settings.height = UInt32(clamping: image.size.height)
            settings.quality = Int32(quality)
            settings.progressive = options.progressive ? 1 : 0
            settings.subsample = quality >= 95 ? 0 : 1
            settings.maximum_bytes = options.maximumBytes ?? 0
            settings.icc_profile = profile.bindMemory(to: UInt8.self).baseAddress
            settings.icc_profile_size = profile.count
            return tintype_jpeg_writer_start(handle, &settings)
        }
        guard try fits(started) else { return nil }
        let width = image.size.width
        let background = SIMD4(options.background.red, options.background.green, options.background.blue, 255)
        let flat = image.hasAlpha ? try MutablePixelBuffer(size: PixelSize(width: width, height: 1)) : nil
        let flatRow = flat?.row(0)
        for y in 0..<image.size.height {
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
                reason: "the JPEG cannot be written: \(message)")
        }
    }
}
