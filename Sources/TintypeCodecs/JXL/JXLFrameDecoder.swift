#if JXL
internal import CJXL
internal import FoundationEssentials
internal import TintypeCore

/// The frames of a JPEG XL file, upright and at the size that is wanted. libjxl composes them.
final class JXLFrameDecoder: AnimationFrames {
    let outputSize: PixelSize
    let properties: Image.Properties
    private(set) var isPartial = false

    private let reader: JXLReader
    private let color: CodedColor
    private let rows: DeepRows
    private let context: DecodeContext
    private var next = 0
    private var isStarted = false

    var info: ImageInfo { reader.info }

    /// - Parameter keepsFrames: whether all frames will be in memory at once, which the limits are to count.
    init(_ data: Data, options: DecodeOptions, context: DecodeContext, keepsFrames: Bool) throws(ImageError) {
        reader = try JXLReader(data, limits: context.limits, keepsColorSpace: options.keepsColorSpace)
        let info = reader.info
        outputSize = options.outputSize(for: info.displaySize, frameCount: info.frameCount)
        try info.check(context.limits, output: outputSize, keptFrames: keepsFrames ? info.frameCount : 1)
        try Self.checkPlanes(reader.basic, info, context.limits)
        color = CodedColor(
            profile: reader.pixelProfile, codePoints: reader.codePoints, isGray: reader.basic.num_color_channels == 1,
            keepsColorSpace: options.keepsColorSpace)
        rows = DeepRows(bits: color.toneMapping == nil ? 8 : 16, color: color)
        var properties = info.properties(options)
        properties.colorSpace = color.colorSpace
        properties.metadata = reader.metadata
        self.properties = properties
        self.context = context
    }

    /// libjxl works on planes of floating-point numbers, one for each colour and each extra channel.
    private static func checkPlanes(_ basic: JxlBasicInfo, _ info: ImageInfo, _ limits: DecodeLimits) throws(ImageError)
    {
        let planes = 3 + Int(basic.num_extra_channels)
        let (bytes, overflow) = info.size.pixelCount.multipliedReportingOverflow(by: 4 * planes)
        let (limit, isUnlimited) = limits.maximumBytes.multipliedReportingOverflow(by: 4)
        guard !overflow, isUnlimited || bytes <= limit else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "\(info.size) pixels in \(planes) planes take more memory than the limits allow")
        }
    }

    func rewind() {
        isStarted = false
        isPartial = false
        next = 0
    }

    func nextFrame() throws(ImageError) -> ImageFrame? {
        if !isStarted { try reader.startFrames() }
        isStarted = true
        guard next < info.frameCount, !isPartial else { return nil }
        try context.checkCancellation()
        let isDeep = color.toneMapping != nil
        // Cleared, because of a frame that is cut some parts may never be written.
        let buffer = try MutablePixelBuffer(
            size: info.size, format: isDeep ? .rgba16 : .rgba8, cleared: !info.isComplete, pool: context.pool)
        guard try decodeFrame(into: buffer) else { return nil }
        let pixels = try finish(buffer)
        defer { next += 1 }
        return ImageFrame(pixels: pixels, duration: info.isAnimated ? info.frameDurations[next] : .zero)
    }

    /// - Returns: false behind the last frame.
    private func decodeFrame(into buffer: borrowing MutablePixelBuffer) throws(ImageError) -> Bool {
        var isDecoding = false
        do throws(ImageError) {
            while true {
                switch try reader.nextEvent() {
                case .header: continue
                case .needsBuffer:
                    try reader.decode(into: buffer)
                    isDecoding = true
                case .finished: return true
                case .end: return false
                }
            }
        } catch {
            guard error.code == .truncatedImage, properties.decodeOptions.allowsPartialImage else { throw error }
            let isShown = isDecoding && reader.flush()
            // Frames before one of which nothing can be shown are whole.
            guard isShown || next > 0 else { throw error }
            isPartial = true
            return isShown
        }
    }

    private func finish(_ buffer: consuming MutablePixelBuffer) throws(ImageError) -> PixelBuffer {
        let size = info.size
        let target = info.orientation.stored(outputSize)
        let premultiplies = info.hasAlpha && reader.basic.alpha_premultiplied == 0
        guard color.toneMapping != nil else {
            for y in 0..<size.height {
                let row = buffer.row(y)
                if info.hasAlpha, !premultiplies { PremultipliedRows.clamp(row, count: size.width) }
                convert(row, count: size.width, premultiplies: premultiplies)
                if y & 127 == 0 { try context.checkCancellation() }
            }
            return try buffer.freeze().resized(to: target, pool: context.pool)
                .oriented(info.orientation, pool: context.pool)
        }
        var sink = try RowSink(stored: size, output: outputSize, orientation: info.orientation, context: context)
        for y in 0..<size.height {
            let row = sink.rowToFill()
            rows.convert(buffer.row(y).assumingMemoryBound(to: UInt16.self), to: row, count: size.width)
            if premultiplies { Premultiplication.premultiply(row, count: size.width) }
            try sink.commitRow()
        }
        return try sink.finish()
    }

    private func convert(_ row: UnsafeMutableRawPointer, count: Int, premultiplies: Bool) {
        if !color.isIdentity {
            if info.hasAlpha, !premultiplies { Premultiplication.unpremultiply(row, into: row, count: count) }
            color.convert(row, count: count)
            if info.hasAlpha { Premultiplication.premultiply(row, count: count) }
        } else if premultiplies {
            Premultiplication.premultiply(row, count: count)
        }
    }
}
#endif
