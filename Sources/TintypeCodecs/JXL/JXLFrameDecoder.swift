#if JXL
internal import CJXL
internal import FoundationEssentials
internal import TintypeImages

/// The frames of a JPEG XL file, upright and at the requested size. libjxl composes them.
final class JXLFrameDecoder: ArrivingFrames {
    private(set) var info: ImageInfo
    private(set) var properties: Image.Properties
    private(set) var isPartial = false

    private let reader: JXLReader
    private let setup: FrameSetup
    private let color: CodedColor
    private let rows: DeepRows
    /// The format that libjxl decodes to.
    private let decodedFormat: PixelFormat
    /// True if ``rows`` finishes the rows; false if this happens in the frame's own memory.
    private let goesThroughRows: Bool
    /// Of a file in inks.
    private let ink: JXLInk?
    private let context: ProcessingContext
    private var next = 0
    /// The frame that the pass through the file which is under way comes to next; `nil` if none is under way.
    private var position: Int?
    /// The memory that libjxl writes the current frame to.
    private var buffer: MutablePixelBuffer?
    /// The number of bytes at the last picture of an incomplete frame.
    private var shownBytes = 0

    var outputSize: PixelSize { setup.outputSize }

    init(
        _ data: Data, for purpose: FramePurpose, options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) {
        reader = try JXLReader(data, limits: context.limits, keepsColorSpace: options.keepsColorSpace)
        info = reader.info
        let format = Self.format(reader, options)
        color = CodedColor(
            profile: reader.pixelProfile, codePoints: reader.codePoints, isGray: reader.basic.num_color_channels == 1,
            keepsColorSpace: options.keepsColorSpace && !reader.becomesSRGB, format: format,
            bitsPerComponent: reader.becomesSRGB ? 16 : info.bitsPerComponent)
        // Rounding to 8 bits comes last, after the colors are converted.
        let isRounded =
            format == .rgba8 && (color.takesDeepRows || reader.blackChannel != nil && info.bitsPerComponent > 8)
        let isMapped = color.toneMapping != nil || color.extendedRange != nil || isRounded
        rows = DeepRows(bits: isMapped ? 16 : 8, color: color)
        decodedFormat = isMapped ? .rgba16 : format
        goesThroughRows = isMapped
        // libjxl's planes, of the picture and of the next frame's references, the frame as it gives it, a copy of the frame
        // for a preview, and the black.
        let planes = (3 + Int(reader.basic.num_extra_channels)) * (info.isAnimated ? 2 : 1)
        let frame = reader.largestFrame
        try Self.checkPlanes(reader.basic, frame, context.limits)
        setup = try FrameSetup(
            info, for: purpose, options: options, context: context, format: format, stored: frame,
            bitmaps: planes + decodedFormat.bytesPerPixel / 2 + (reader.blackChannel == nil ? 0 : 1))
        ink =
            reader.blackChannel == nil
            ? nil : try JXLInk(profile: reader.profile, size: info.size, format: decodedFormat)
        var properties = info.properties(options)
        properties.colorSpace = color.colorSpace
        self.properties = properties
        self.context = context
    }

    /// Floating-point numbers of standard range stay so, for their values above white.
    private static func format(_ reader: JXLReader, _ options: DecodeOptions) -> PixelFormat {
        let format = reader.info.pixelFormat(options)
        let isFloat = reader.isFloat && reader.blackChannel == nil && !options.keepsColorSpace
        return format == .rgba16 && isFloat ? .rgbaFloat16 : format
    }

    /// libjxl works on planes of floating-point numbers, a plane for each color and each extra channel.
    private static func checkPlanes(_ basic: JxlBasicInfo, _ size: PixelSize, _ limits: DecodeLimits) throws(ImageError)
    {
        guard size.pixelCount <= limits.maximumPixels else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "a frame has \(size) pixels, over the limit of \(limits.maximumPixels)")
        }
        let planes = 3 + Int(basic.num_extra_channels)
        let (bytes, overflow) = size.pixelCount.multipliedReportingOverflow(by: 4 * planes)
        let (limit, isUnlimited) = limits.maximumBytes.bytes.multipliedReportingOverflow(by: 4)
        guard !overflow, isUnlimited || bytes <= limit else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "\(planes) planes of \(size) pixels take more than the limit of 4 × \(limits.maximumBytes)")
        }
    }

    func rewind() throws(ImageError) { try seek(to: 0) }

    /// libjxl steps over frames, and decodes of them only the parts that later frames refer to.
    func seek(to index: Int) throws(ImageError) {
        next = min(max(0, index), info.frameCount)
        isPartial = false
    }

    func nextFrame() throws(ImageError) -> ImageFrame? {
        guard next < info.frameCount, !isPartial else { return nil }
        switch try advance() {
        case .end: return nil
        case .whole: return try finishFrame()
        case .cut:
            let isShown = buffer != nil && reader.flush()
            // Frames before an invisible frame are whole.
            guard setup.options.allowsPartialImage, isShown || next > 0 else { throw JXLReader.truncation }
            isPartial = true
            return isShown ? try finishFrame() : nil
        }
    }

    /// Of an animation, only one frame may be there.
    var isTruncated: Bool { !info.isComplete }

    // MARK: While the file arrives

    /// Of a still image the end of the file need not be there.
    var isWhole: Bool { mayMove ? info.isComplete : next > 0 }

    var mayMove: Bool { reader.basic.have_animation != 0 }

    func extend(_ data: Data) throws(ImageError) {
        let info = try JXLReader(data, limits: context.limits, keepsColorSpace: setup.options.keepsColorSpace).info
        try setup.check(info)
        try reader.extend(data)
        self.info = info
        var properties = info.properties(setup.options)
        properties.colorSpace = color.colorSpace
        self.properties = properties
    }

    func arrivedFrame() throws(ImageError) -> ImageFrame? {
        guard next < info.frameCount, try advance() == .whole else { return nil }
        return try finishFrame()
    }

    func arrivingPicture() throws(ImageError) -> ArrivingPicture? {
        guard next == 0, reader.byteCount > shownBytes, buffer != nil, reader.flush() else { return nil }
        shownBytes = reader.byteCount
        // Decoding goes on in the buffer itself.
        let copy = try MutablePixelBuffer(size: info.size, format: decodedFormat, cleared: false, pool: context.pool)
        for y in 0..<copy.height {
            if let row = buffer?.row(y) { copy.row(y).copyMemory(from: row, byteCount: copy.bytesPerRow) }
        }
        return ArrivingPicture(pixels: try finish(copy), isMissingRows: false)
    }

    // MARK: A frame

    private enum Progress { case whole, cut, end }

    /// Goes on with the next frame as far as the bytes allow.
    private func advance() throws(ImageError) -> Progress {
        try context.checkCancellation()
        if position != next {
            buffer = nil
            try reader.startFrames(at: next)
            position = next
        }
        while true {
            switch try reader.nextEvent() {
            case .header: continue
            case .needsBuffer:
                let frame = try MutablePixelBuffer(size: info.size, format: decodedFormat, pool: context.pool)
                try reader.decode(into: frame, black: ink?.black)
                buffer = consume frame
            case .finished: return .whole
            case .needsBytes: return .cut
            case .end: return .end
            }
        }
    }

    /// The frame that is in the buffer.
    private func finishFrame() throws(ImageError) -> ImageFrame? {
        guard let frame = buffer.take() else { return nil }
        let pixels = try finish(frame)
        defer { next += 1 }
        position = isPartial ? nil : next + 1
        return ImageFrame(pixels: pixels, duration: info.isAnimated ? info.frameDurations[next] : .zero)
    }

    private func finish(_ buffer: consuming MutablePixelBuffer) throws(ImageError) -> PixelBuffer {
        let size = info.size
        let target = info.orientation.stored(outputSize)
        guard goesThroughRows else {
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
            ink?.convert(row, y, count: size.width)
            rows.convert(
                row.assumingMemoryBound(to: UInt16.self), to: sink.rowToFill(), count: size.width,
                premultiplies: info.hasAlpha)
            try sink.commitRow()
        }
        return try sink.finish()
    }

    private var isPremultiplied: Bool { reader.isPremultiplied }

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
