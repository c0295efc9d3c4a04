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
    /// What libjxl is asked for.
    private let decodedFormat: PixelFormat
    /// Of a file in inks.
    private let ink: JXLInk?
    private let context: DecodeContext
    private var next = 0
    private var isStarted = false

    var info: ImageInfo { reader.info }

    /// - Parameter keepsFrames: whether all frames will be in memory at once, which the limits are to count.
    init(_ data: Data, options: DecodeOptions, context: DecodeContext, keepsFrames: Bool) throws(ImageError) {
        reader = try JXLReader(data, limits: context.limits, keepsColorSpace: options.keepsColorSpace)
        let info = reader.info
        let format = Self.format(reader, options)
        outputSize = info.outputSize(options, format: format)
        try info.check(
            context.limits, output: outputSize, keptFrames: keepsFrames ? info.frameCount : 1, format: format)
        try Self.checkPlanes(reader.basic, info, context.limits)
        color = CodedColor(
            profile: reader.pixelProfile, codePoints: reader.codePoints, isGray: reader.basic.num_color_channels == 1,
            keepsColorSpace: options.keepsColorSpace, format: format)
        let isMapped = color.toneMapping != nil || color.extendedRange != nil
        rows = DeepRows(bits: isMapped ? 16 : 8, color: color)
        decodedFormat = isMapped ? .rgba16 : format
        ink =
            reader.blackChannel == nil ? nil : try JXLInk(profile: reader.profile, size: info.size, format: format)
        var properties = info.properties(options)
        properties.colorSpace = color.colorSpace
        properties.metadata = reader.metadata
        self.properties = properties
        self.context = context
    }

    /// Floating-point numbers of standard range stay so, for what they have above white.
    private static func format(_ reader: JXLReader, _ options: DecodeOptions) -> PixelFormat {
        let format = reader.info.pixelFormat(options)
        let isFloat = reader.isFloat && reader.blackChannel == nil && !options.keepsColorSpace
        return format == .rgba16 && isFloat ? .rgbaFloat16 : format
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
        // Cleared, because of a frame that is cut some parts may never be written.
        let buffer = try MutablePixelBuffer(
            size: info.size, format: decodedFormat, cleared: !info.isComplete, pool: context.pool)
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
                    try reader.decode(into: buffer, black: ink?.black)
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
        guard color.toneMapping != nil || color.extendedRange != nil else {
            for y in 0..<size.height {
                convert(buffer.row(y), y, count: size.width)
                if y & 127 == 0 { try context.checkCancellation() }
            }
            return try buffer.freeze().resized(to: target, pool: context.pool)
                .oriented(info.orientation, pool: context.pool)
        }
        var sink = try RowSink(
            stored: size, output: outputSize, orientation: info.orientation, format: color.format, context: context)
        for y in 0..<size.height {
            let row = buffer.row(y)
            if isPremultiplied { Premultiplication.unpremultiply(row, count: size.width, format: .rgba16) }
            rows.convert(
                row.assumingMemoryBound(to: UInt16.self), to: sink.rowToFill(), count: size.width,
                premultiplies: info.hasAlpha)
            try sink.commitRow()
        }
        return try sink.finish()
    }

    private var isPremultiplied: Bool { info.hasAlpha && reader.basic.alpha_premultiplied != 0 }

    /// Finishes a row of standard range in place.
    private func convert(_ row: UnsafeMutableRawPointer, _ y: Int, count: Int) {
        let format = decodedFormat
        // Also makes numbers finite.
        if isPremultiplied || format == .rgbaFloat16 { Premultiplication.clamp(row, count: count, format: format) }
        let isConverted = !color.isIdentity || ink != nil
        if isConverted, isPremultiplied { Premultiplication.unpremultiply(row, count: count, format: format) }
        ink?.convert(row, y, count: count)
        if !color.isIdentity { color.convert(row, count: count) }
        if info.hasAlpha, isConverted || !isPremultiplied {
            Premultiplication.premultiply(row, count: count, format: format)
        }
    }
}
#endif
