#if JXL
internal import CJXL
internal import FoundationEssentials
internal import TintypeImages

/// A libjxl decoder and the bytes that it reads: first the header, then any number of passes through the frames.
final class JXLReader {
    private(set) var info: ImageInfo
    private(set) var basic = JxlBasicInfo()
    /// The profile of the pixels that come; code points for high dynamic range.
    private(set) var profile: Data?
    private(set) var codePoints = CodePoints.sRGB
    private let decoder: OpaquePointer
    /// Which of the extra channels is the black of a file in inks (CMYK); `nil` for other files.
    private(set) var blackChannel: UInt32?
    /// libjxl keeps referring to the bytes, so they are copied: compressed, they are small. A byte that isn't the file's follows them.
    private var bytes: UnsafeMutableRawBufferPointer
    private let limits: DecodeLimits
    private let keepsColorSpace: Bool
    /// True if the pixels become sRGB even where the options keep the color space.
    private(set) var becomesSRGB = false
    /// True if libjxl converts to sRGB itself, from the numbers that it decodes to. It can't divide colors by alpha before.
    private var convertsToSRGB: Bool { becomesSRGB && !isPremultiplied }

    /// The next event in a pass through the frames.
    enum Event {
        /// The header of the file or of a frame was read.
        case header
        case needsBuffer
        case finished
        /// The bytes end here; ``flush()`` may show some of the frame, and ``extend(_:)`` bring more.
        case needsBytes
        case end
    }

    /// Reads the header, and of an animation the headers of all frames.
    init(_ data: Data, limits: DecodeLimits, keepsColorSpace: Bool = false) throws(ImageError) {
        guard let decoder = JxlDecoderCreate(nil) else {
            throw ImageError(.outOfMemory, stage: .decode, reason: "libjxl couldn't allocate memory for a decoder")
        }
        self.decoder = decoder
        self.limits = limits
        self.keepsColorSpace = keepsColorSpace
        bytes = Self.copy(data)
        info = ImageInfo(format: .jxl, size: .zero, hasAlpha: false)
        // All stored properties are there: from here on `deinit` cleans up.
        count = data.count
        try readHeader()
    }

    private var count: Int

    deinit {
        JxlDecoderDestroy(decoder)
        bytes.deallocate()
    }

    private static func copy(_ data: Data) -> UnsafeMutableRawBufferPointer {
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: data.count + 1, alignment: 16)
        bytes.copyBytes(from: data)
        bytes[data.count] = 0
        return bytes
    }

    /// The number of bytes of the file that have arrived.
    var byteCount: Int { count }

    private var file: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: bytes[..<count]) }

    /// The boxes of a file that has boxes; `nil` for a bare codestream.
    private var boxes: TopLevelBoxes? { file.bigEndian32(at: 0) == 12 ? TopLevelBoxes(file) : nil }

    /// The Exif and XMP boxes of a file that has boxes, perhaps compressed (ISO/IEC 18181-2, section 9.5).
    private var metadata: ImageMetadata {
        guard let boxes else { return ImageMetadata() }
        let file = file
        func contents(_ type: String) -> Data? {
            if let box = boxes.first(type) { return box.isComplete ? file.metadataBlock(box.payload) : nil }
            // The type of the box that is compressed comes first.
            let packed = boxes.boxes.first { $0.type == "brob" && file[$0.payload].starts(with: type.utf8) }
            guard let packed, packed.isComplete else { return nil }
            return BrotliStream.unpack(
                UnsafeRawBufferPointer(rebasing: file[packed.payload.dropFirst(4)]),
                maximumBytes: ImageMetadata.maximumBlockBytes)
        }
        return ImageMetadata(exif: contents("Exif")?.exifBlock, xmp: contents("xml "))
    }

    // MARK: Header

    private func readHeader() throws(ImageError) {
        try start(JXL_DEC_BASIC_INFO.rawValue | JXL_DEC_COLOR_ENCODING.rawValue | JXL_DEC_FRAME.rawValue)
        var durations: [Duration] = []
        loop: while true {
            switch JxlDecoderProcessInput(decoder) {
            case JXL_DEC_BASIC_INFO:
                guard JxlDecoderGetBasicInfo(decoder, &basic) == JXL_DEC_SUCCESS else { throw damaged() }
            case JXL_DEC_COLOR_ENCODING:
                readColor()
                if basic.have_animation == 0 { break loop }
            case JXL_DEC_FRAME:
                durations.append(frameDuration)
                guard durations.count <= limits.mostFrames else {
                    throw ImageError(
                        .limitExceeded, stage: .decode,
                        reason: "the animation has more frames than the limit of \(limits.mostFrames)")
                }
            case JXL_DEC_SUCCESS:
                // The header of the last frame is there.
                let size = PixelSize(width: Int(basic.xsize), height: Int(basic.ysize))
                info.isComplete = (try? limits.check(size: size, output: size)) == nil || hasEnd
                break loop
            case JXL_DEC_NEED_MORE_INPUT:
                // The header is there, and so are some frames: only the end is missing.
                guard !durations.isEmpty else { throw .truncated("the JPEG XL file ends in its header") }
                info.isComplete = false
                break loop
            default: throw damaged()
            }
        }
        let isAnimated = durations.count > 1
        info = ImageInfo(
            format: .jxl, size: PixelSize(width: Int(basic.xsize), height: Int(basic.ysize)),
            orientation: Orientation(rawValue: Int(basic.orientation.rawValue)) ?? .up,
            frameCount: max(1, durations.count), loopCount: isAnimated ? Int(basic.animation.num_loops) : nil,
            frameDurations: isAnimated ? durations : [], hasAlpha: basic.alpha_bits > 0,
            bitsPerComponent: Int(basic.bits_per_sample),
            colorProfile: CodedColor.name(profile: profile, codePoints: codePoints), isComplete: info.isComplete,
            isHighDynamicRange: codePoints.isHighDynamicRange)
        info.metadata = metadata
    }

    /// True if colors are multiplied by alpha.
    var isPremultiplied: Bool { basic.alpha_bits > 0 && basic.alpha_premultiplied != 0 }

    /// True if components are floating-point numbers, which can exceed white.
    var isFloat: Bool { basic.exponent_bits_per_sample > 0 }

    /// Looks for the black of a file whose profile describes inks.
    private func readBlackChannel() {
        // The signature of the color space is at byte 16 (ICC.1, section 7.2).
        guard let profile, profile.dropFirst(16).prefix(4).elementsEqual("CMYK".utf8) else { return }
        blackChannel = (0..<basic.num_extra_channels).first { index in
            var channel = JxlExtraChannelInfo()
            return JxlDecoderGetExtraChannelInfo(decoder, Int(index), &channel) == JXL_DEC_SUCCESS
                && channel.type == JXL_CHANNEL_BLACK
        }
    }

    /// Reads the color space of libjxl's pixels: code points for high dynamic range, a profile for everything else.
    private func readColor() {
        var encoding = JxlColorEncoding()
        let target = JXL_COLOR_PROFILE_TARGET_DATA
        profile = readProfile(target)
        readBlackChannel()
        guard JxlDecoderGetColorAsEncodedProfile(decoder, nil, target, &encoding) == JXL_DEC_SUCCESS else { return }
        let isGray = encoding.color_space == JXL_COLOR_SPACE_GRAY
        // Grays have no primaries.
        let chromaticities = isGray ? Chromaticities.bt709 : Self.chromaticities(encoding)
        let stated = CodePoints(chromaticities, transfer: Int(encoding.transfer_function.rawValue))
        if stated.isHighDynamicRange {
            codePoints = stated
            profile = nil
        } else if encoding.white_point == JXL_WHITE_POINT_D65, isGray || encoding.primaries == JXL_PRIMARIES_SRGB,
            stated.transfer == CodePoints.sRGB.transfer
        {
            profile = nil
        } else if basic.uses_original_profile == 0, !keepsColorSpace || stated.transfer == 8 {
            // From XYB, libjxl gives any space with the same effort; and linear light in 8 bits would have no dark tones.
            becomesSRGB = true
        }
    }

    /// libjxl gives the places of primaries that have a name, too.
    private static func chromaticities(_ encoding: JxlColorEncoding) -> Chromaticities {
        func point(_ place: (Double, Double)) -> SIMD2<Double> { [place.0, place.1] }
        return Chromaticities(
            red: point(encoding.primaries_red_xy), green: point(encoding.primaries_green_xy),
            blue: point(encoding.primaries_blue_xy), white: point(encoding.white_point_xy))
    }

    private func readProfile(_ target: JxlColorProfileTarget) -> Data? {
        var size = 0
        guard JxlDecoderGetICCProfileSize(decoder, nil, target, &size) == JXL_DEC_SUCCESS, size > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: size)
        let status = JxlDecoderGetColorAsICCProfile(decoder, nil, target, &bytes, size)
        return status == JXL_DEC_SUCCESS ? Data(bytes) : nil
    }

    /// The profile of the pixels of ``decode(into:)``.
    var pixelProfile: Data? { convertsToSRGB ? nil : profile }

    /// The time that the frame is shown whose header was read last.
    private var frameDuration: Duration {
        var header = JxlFrameHeader()
        let animation = basic.animation
        guard JxlDecoderGetFrameHeader(decoder, &header) == JXL_DEC_SUCCESS, animation.tps_numerator > 0 else {
            return FrameTiming.standard
        }
        let seconds = Double(header.duration) * Double(animation.tps_denominator) / Double(animation.tps_numerator)
        // A day for a frame is more than any plausible animation has.
        return FrameTiming.played(.microseconds(Int((min(seconds, 86_400) * 1_000_000).rounded())))
    }

    // MARK: Frames

    /// The size of the largest frame: frames may be larger than the image, which shows a part of them. libjxl decodes them whole.
    var largestFrame: PixelSize {
        var largest = PixelSize(width: Int(basic.xsize), height: Int(basic.ysize))
        guard let decoder = Self.walker(JXL_DEC_FRAME.rawValue, file) else { return largest }
        defer { JxlDecoderDestroy(decoder) }
        while JxlDecoderProcessInput(decoder) == JXL_DEC_FRAME {
            var header = JxlFrameHeader()
            guard JxlDecoderGetFrameHeader(decoder, &header) == JXL_DEC_SUCCESS else { break }
            let frame = PixelSize(width: Int(header.layer_info.xsize), height: Int(header.layer_info.ysize))
            if frame.pixelCount > largest.pixelCount { largest = frame }
        }
        return largest
    }

    /// True if all bytes of the last frame are there: libjxl passes over a frame that is cut as over any other, but takes the byte behind
    /// the codestream for a part of it.
    private var hasEnd: Bool {
        guard let boxes else { return Self.hasEnd(UnsafeRawBufferPointer(bytes)) }
        guard boxes.boxes.count < TopLevelBoxes.maximumCount else { return true }
        // libjxl takes no byte behind the second of several boxes, so it gets what they hold. A part of a codestream follows its number.
        var codestream: [UInt8] = []
        for box in boxes.boxes where box.type == "jxlc" || box.type == "jxlp" {
            codestream += file[box.payload.dropFirst(box.type == "jxlp" ? 4 : 0)]
        }
        codestream.append(0)
        return codestream.withUnsafeBytes(Self.hasEnd)
    }

    /// True if the last byte is behind the last frame. Frames that are shown aren't decoded; those that only help others are.
    private static func hasEnd(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let decoder = walker(JXL_DEC_FRAME.rawValue | JXL_DEC_FULL_IMAGE.rawValue, bytes) else { return true }
        defer { JxlDecoderDestroy(decoder) }
        while true {
            switch JxlDecoderProcessInput(decoder) {
            case JXL_DEC_FRAME: break
            case JXL_DEC_NEED_IMAGE_OUT_BUFFER:
                guard JxlDecoderSkipCurrentFrame(decoder) == JXL_DEC_SUCCESS else { return false }
            case JXL_DEC_SUCCESS: return JxlDecoderReleaseInput(decoder) > 0
            default: return false
            }
        }
    }

    /// A decoder that walks through the frames, whether they are shown or not.
    private static func walker(_ events: UInt32, _ bytes: UnsafeRawBufferPointer) -> OpaquePointer? {
        guard let decoder = JxlDecoderCreate(nil) else { return nil }
        guard JxlDecoderSetCoalescing(decoder, 0) == JXL_DEC_SUCCESS,
            JxlDecoderSubscribeEvents(decoder, Int32(events)) == JXL_DEC_SUCCESS,
            JxlDecoderSetInput(decoder, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), bytes.count)
                == JXL_DEC_SUCCESS
        else {
            JxlDecoderDestroy(decoder)
            return nil
        }
        return decoder
    }

    /// Starts a pass through the frames at a given frame.
    func startFrames(at index: Int) throws(ImageError) {
        try start(JXL_DEC_COLOR_ENCODING.rawValue | JXL_DEC_FRAME.rawValue | JXL_DEC_FULL_IMAGE.rawValue)
        if index > 0 { JxlDecoderSkipFrames(decoder, index) }
    }

    /// Takes the bytes again with more of them at the end; a pass that is under way goes on.
    func extend(_ data: Data) throws(ImageError) {
        let taken = count - JxlDecoderReleaseInput(decoder)
        bytes.deallocate()
        bytes = Self.copy(data)
        count = data.count
        guard taken <= count, let base = bytes.baseAddress,
            JxlDecoderSetInput(decoder, (base + taken).assumingMemoryBound(to: UInt8.self), count - taken)
                == JXL_DEC_SUCCESS
        else { throw damaged() }
    }

    private func start(_ events: UInt32) throws(ImageError) {
        _ = JxlDecoderReleaseInput(decoder)
        JxlDecoderRewind(decoder)
        // Turning is ours, so that a thumbnail is turned when it is small.
        guard JxlDecoderSubscribeEvents(decoder, Int32(events)) == JXL_DEC_SUCCESS,
            JxlDecoderSetKeepOrientation(decoder, 1) == JXL_DEC_SUCCESS,
            JxlDecoderSetInput(decoder, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), count)
                == JXL_DEC_SUCCESS
        else { throw damaged() }
        // The input is not closed: libjxl calls bytes that end too early damaged then.
    }

    func nextEvent() throws(ImageError) -> Event {
        switch JxlDecoderProcessInput(decoder) {
        case JXL_DEC_COLOR_ENCODING:
            if convertsToSRGB {
                var color = JxlColorEncoding()
                JxlColorEncodingSetToSRGB(&color, basic.num_color_channels == 1 ? 1 : 0)
                guard JxlDecoderSetPreferredColorProfile(decoder, &color) == JXL_DEC_SUCCESS else { throw damaged() }
            }
            return .header
        case JXL_DEC_FRAME: return .header
        case JXL_DEC_NEED_IMAGE_OUT_BUFFER: return .needsBuffer
        case JXL_DEC_FULL_IMAGE: return .finished
        case JXL_DEC_SUCCESS: return .end
        case JXL_DEC_NEED_MORE_INPUT: return .needsBytes
        default: throw damaged()
        }
    }

    /// Has the next frame written into a buffer, and its black, if it has that, into another; both must live until it is
    /// finished.
    /// - Parameter black: room for as many components of the same kind as there are pixels.
    func decode(
        into buffer: borrowing MutablePixelBuffer, black: UnsafeMutableRawBufferPointer?
    ) throws(ImageError) {
        let type =
            switch buffer.format {
            case .rgba8: JXL_TYPE_UINT8
            case .rgba16: JXL_TYPE_UINT16
            case .rgbaFloat16: JXL_TYPE_FLOAT16
            }
        var format = JxlPixelFormat(num_channels: 4, data_type: type, endianness: JXL_NATIVE_ENDIAN, align: 64)
        var size = 0
        guard JxlDecoderImageOutBufferSize(decoder, &format, &size) == JXL_DEC_SUCCESS, size <= buffer.byteCount,
            JxlDecoderSetImageOutBuffer(decoder, &format, buffer.row(0), buffer.byteCount) == JXL_DEC_SUCCESS
        else { throw damaged() }
        guard let blackChannel, let black else { return }
        format.num_channels = 1
        format.align = 0
        guard JxlDecoderExtraChannelBufferSize(decoder, &format, &size, blackChannel) == JXL_DEC_SUCCESS,
            size <= black.count,
            JxlDecoderSetExtraChannelBuffer(decoder, &format, black.baseAddress, black.count, blackChannel)
                == JXL_DEC_SUCCESS
        else { throw damaged() }
    }

    /// Writes the known part of the frame into its buffer.
    /// - Returns: false if that is nothing.
    func flush() -> Bool { JxlDecoderFlushImage(decoder) == JXL_DEC_SUCCESS }

    static var truncation: ImageError { .truncated("the JPEG XL file ends in the middle of a frame") }

    private func damaged() -> ImageError { .corrupt("the JPEG XL file is damaged") }
}
#endif
