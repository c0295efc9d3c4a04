internal import CWebP
internal import TintypeCore

/// Decodes the pixels of one WebP image: a whole file, or the payload of one frame.
enum WebPImageDecoder {
    /// How far a decode came.
    enum Outcome: Equatable {
        case complete
        /// The bytes ended; so many rows are there.
        case truncated(rows: Int)
    }

    /// Decodes into memory: premultiplied RGBA of 8 bits.
    /// - Parameters:
    ///   - size: the size of the image, or a smaller one, which libwebp averages to while it decodes.
    ///   - rows: room for `size.height` rows, `bytesPerRow` apart.
    ///   - finisher: what each row goes through.
    static func decode(
        _ bytes: UnsafeRawBufferPointer, size: PixelSize, isScaled: Bool, finisher: RowFinisher,
        into rows: UnsafeMutableRawPointer, bytesPerRow: Int, context: DecodeContext
    ) throws(ImageError) -> Outcome {
        var config = WebPDecoderConfig()
        guard WebPInitDecoderConfig(&config) != 0 else {
            throw ImageError(.corruptImage, stage: .decode, reason: "the installed libwebp is of another version")
        }
        defer { WebPFreeDecBuffer(&config.output) }
        config.output.colorspace = MODE_RGBA
        config.output.is_external_memory = 1
        config.output.width = Int32(size.width)
        config.output.height = Int32(size.height)
        config.output.u.RGBA.rgba = rows.assumingMemoryBound(to: UInt8.self)
        config.output.u.RGBA.stride = Int32(bytesPerRow)
        config.output.u.RGBA.size = bytesPerRow * (size.height - 1) + size.width * 4
        if isScaled {
            config.options.use_scaling = 1
            config.options.scaled_width = Int32(size.width)
            config.options.scaled_height = Int32(size.height)
        }
        let outcome = try feed(bytes, &config, context)
        let done =
            switch outcome {
            case .complete: size.height
            case .truncated(let rows): rows
            }
        for y in 0..<done { finisher.finish(rows + y * bytesPerRow) }
        return outcome
    }

    /// Hands over the bytes in parts, so that work that nobody wants any more ends soon.
    private static func feed(
        _ bytes: UnsafeRawBufferPointer, _ config: inout WebPDecoderConfig, _ context: DecodeContext
    ) throws(ImageError) -> Outcome {
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        return try withUnsafeMutablePointer(to: &config) { config throws(ImageError) in
            guard let decoder = WebPIDecode(nil, 0, config) else {
                throw ImageError(.outOfMemory, stage: .decode, reason: "libwebp has no memory for a decoder")
            }
            defer { WebPIDelete(decoder) }
            let step = max(256 << 10, bytes.count / 8)
            var count = 0
            while count < bytes.count {
                try context.checkCancellation()
                count = min(count + step, bytes.count)
                let status = WebPIUpdate(decoder, start, count)
                switch status {
                case VP8_STATUS_OK: return .complete
                case VP8_STATUS_SUSPENDED: continue
                case VP8_STATUS_OUT_OF_MEMORY:
                    throw ImageError(.outOfMemory, stage: .decode, reason: "libwebp has no memory for the image")
                default: throw .corrupt("the WebP image is damaged (libwebp: status \(status.rawValue))")
                }
            }
            var rows: Int32 = 0
            let pixels = WebPIDecGetRGB(decoder, &rows, nil, nil, nil)
            return .truncated(rows: pixels == nil ? 0 : Int(rows))
        }
    }
}
