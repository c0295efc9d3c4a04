internal import CWebP
internal import TintypeImages

/// Decodes the pixels of a WebP image, a whole file or the payload of a frame, into the caller's memory, as straight RGBA
/// of 8 bits. The bytes may arrive gradually.
final class WebPImageDecoder {
    /// The progress of a decode.
    enum Outcome: Equatable {
        case complete
        /// The bytes ended after a number of rows.
        case truncated(rows: Int)
    }

    private let config: UnsafeMutablePointer<WebPDecoderConfig>
    private let decoder: OpaquePointer
    private let size: PixelSize

    /// - Parameters:
    ///   - size: the size of the image, or a smaller size, which libwebp averages to while it decodes.
    ///   - skipsFilter: true to leave the edges of blocks as they are.
    ///   - rows: room for `size.height` rows, `bytesPerRow` apart, that must stay as long as the decoder.
    init(
        size: PixelSize, isScaled: Bool, skipsFilter: Bool, into rows: UnsafeMutableRawPointer, bytesPerRow: Int
    ) throws(ImageError) {
        self.size = size
        config = .allocate(capacity: 1)
        config.initialize(to: WebPDecoderConfig())
        guard WebPInitDecoderConfig(config) != 0 else {
            config.deallocate()
            throw ImageError(
                .corruptImage, stage: .decode,
                reason: "the installed libwebp has a different version than this build expects")
        }
        config.pointee.output.colorspace = MODE_RGBA
        config.pointee.output.is_external_memory = 1
        config.pointee.output.width = Int32(size.width)
        config.pointee.output.height = Int32(size.height)
        config.pointee.output.u.RGBA.rgba = rows.assumingMemoryBound(to: UInt8.self)
        config.pointee.output.u.RGBA.stride = Int32(bytesPerRow)
        config.pointee.output.u.RGBA.size = bytesPerRow * (size.height - 1) + size.width * 4
        config.pointee.options.bypass_filtering = skipsFilter ? 1 : 0
        if isScaled {
            config.pointee.options.use_scaling = 1
            config.pointee.options.scaled_width = Int32(size.width)
            config.pointee.options.scaled_height = Int32(size.height)
        }
        guard let decoder = WebPIDecode(nil, 0, config) else {
            config.deallocate()
            throw ImageError(.outOfMemory, stage: .decode, reason: "libwebp couldn't allocate memory for a decoder")
        }
        self.decoder = decoder
    }

    deinit {
        WebPIDelete(decoder)
        WebPFreeDecBuffer(&config.pointee.output)
        config.deallocate()
    }

    /// Decodes the bytes as far as possible. They start with the bytes of the last call.
    /// - Throws: ``ImageError/Code/corruptImage``, also if the size in the bitstream differs from the container's. libwebp
    ///   would decode a smaller picture into a corner of the memory and report success.
    func update(_ bytes: UnsafeRawBufferPointer) throws(ImageError) -> Outcome {
        let status = WebPIUpdate(decoder, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
        // libwebp writes the decoded size here once it has read it.
        let decoded = PixelSize(width: Int(config.pointee.output.width), height: Int(config.pointee.output.height))
        guard decoded == size else {
            throw .corrupt("the WebP container states a size of \(size), but its image has \(decoded) pixels")
        }
        switch status {
        case VP8_STATUS_OK: return .complete
        case VP8_STATUS_SUSPENDED:
            var rows: Int32 = 0
            let pixels = WebPIDecGetRGB(decoder, &rows, nil, nil, nil)
            return .truncated(rows: pixels == nil ? 0 : Int(rows))
        case VP8_STATUS_OUT_OF_MEMORY:
            throw ImageError(.outOfMemory, stage: .decode, reason: "libwebp couldn't allocate memory for the image")
        default: throw .corrupt("the WebP image is damaged (libwebp: status \(status.rawValue))")
        }
    }

    /// Decodes bytes in parts, so that canceled work ends soon.
    func decode(_ bytes: UnsafeRawBufferPointer, context: ProcessingContext) throws(ImageError) -> Outcome {
        let step = max(256 << 10, bytes.count / 8)
        var outcome = Outcome.truncated(rows: 0)
        var count = 0
        while count < bytes.count, outcome != .complete {
            try context.checkCancellation()
            // Up to the first row, libwebp starts anew each time: the codes of 65,536 groups of pixels take it 1.4 s.
            let next = outcome == .truncated(rows: 0) ? max(step, count) : step
            count = min(count + next, bytes.count)
            outcome = try update(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        }
        return outcome
    }
}
