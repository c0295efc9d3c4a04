internal import FoundationEssentials
internal import TintypeImages

extension WireRequest {
    /// Checks the answer of a worker: against the request, against the limits that decoders in the program obey, and against lists of an
    /// honest worker's answers. Every answer passes through here before anything else sees it.
    /// - Parameter frameSize: the size of the frames of the animation that is open.
    /// - Returns: the answer, without the control characters of its texts.
    func validated(_ answer: WorkerMessage, frameSize: PixelSize?) throws(WorkerConversation.Failure) -> WorkerMessage {
        switch answer {
        case .reserve(let bytes):
            try require(bytes > 0)
            return answer
        case .info(let info): return .info(try validated(info))
        case .opened(let info, let size):
            let info = try validated(info)
            try checkLimits(source: info.size, output: size)
            try require(isWanted(size, source: info.displaySize, isVector: false))
            return .opened(info, size)
        case .layout(let image):
            try require(image.format == .rgba8 || options.decodeToHDR)
            try require(Self.longestDuration.contains(image.duration))
            // A drawing has no pixels but those that are drawn.
            let source = image.properties.isVector ? image.size : image.properties.sourceSize ?? image.size
            try checkLimits(source: source, output: image.size, bytesPerPixel: image.format.bytesPerPixel)
            if let frameSize {
                try require(image.size == frameSize)
                return .layout(WireImage(image.size, image.format, duration: image.duration))
            }
            // The profile is kept with the image, and so is no larger than fits it.
            let profile = image.properties.colorSpace.profile?.count ?? 0
            try require(profile <= max(1 << 20, 16 * (image.byteCount ?? 0)))
            try require(image.animation.map { $0.isAnimated && !options.firstFrameOnly } ?? true)
            let properties = try validated(image.properties, of: image.size)
            let header = try image.animation.map { info throws(WorkerConversation.Failure) in
                try require(info.displaySize == source && info.format == properties.format)
                return try validated(info)
            }
            return .layout(WireImage(image.size, image.format, properties: properties, animation: header))
        case .failed(let code, let reason):
            try require(Self.codes.contains(code))
            return .failed(code, Self.cleaned(reason, limit: 2_000))
        case .ready, .written, .done: return answer
        }
    }

    /// The codes of errors when decoders refuse an image. A worker sends others as ``ImageError/Code/corruptImage``.
    static let codes: Set<ImageError.Code> = [
        .unknownFormat, .formatNotEnabled, .corruptImage, .truncatedImage, .limitExceeded, .pageOutOfRange,
        .outOfMemory, .notAnimated,
    ]
    /// Formats count in 32 bits at most.
    private static let largestCount = 0...Int(UInt32.max)
    private static let longestDuration = Duration.zero...Duration.seconds(Int(UInt32.max))

    private func validated(_ header: ImageInfo) throws(WorkerConversation.Failure) -> ImageInfo {
        var info = header
        let durations = info.frameDurations
        try require(formats.contains(info.format) && (1...64).contains(info.bitsPerComponent))
        try require(Self.isPossible(info.size))
        try require((1...max(1, byteCount)).contains(info.pageCount))
        try require((1...max(1, limits.maximumFrames)).contains(info.frameCount))
        try require(durations.count <= info.frameCount)
        try require(durations.allSatisfy { Self.longestDuration.contains($0) })
        try require(Self.largestCount.contains(info.loopCount ?? 0))
        if let map = info.gainMap {
            let side = 0...max(0, limits.maximumSide)
            try require([1, 3].contains(map.components) && !map.size.isEmpty)
            try require(side.contains(map.size.width) && side.contains(map.size.height))
        }
        try require(Self.isPossible(info.metadata))
        info.colorProfile = info.colorProfile.map { Self.cleaned($0, limit: 200) }
        return info
    }

    private func validated(
        _ given: Image.Properties, of size: PixelSize
    ) throws(WorkerConversation.Failure) -> Image.Properties {
        var properties = given
        try require(given.format.map { formats.contains($0) } == true)
        try require(given.scale == Image.validScale(options.scale ?? 1))
        try require(Self.largestCount.contains(given.loopCount) && (1...64).contains(given.bitsPerComponent))
        try require(!given.isTransformed && !given.mayMove && (options.allowsPartialImage || !given.isPartial))
        try require(options.decodeToHDR || !given.isHighDynamicRange)
        try require(Self.isPossible(given.metadata))
        try require(given.sourceSize.map { Self.isPossible($0) } ?? true)
        try require(!given.isVector || formats.contains(.svg) || formats.contains(.pdf))
        try require(isWanted(size, source: given.sourceSize ?? size, isVector: given.isVector))
        if options.keepsColorSpace {
            // The signature of the color space is at byte 16 (ICC.1, section 7.2), and no other is kept.
            let isRGB = given.colorSpace.profile.map { $0.count >= 128 && $0.dropFirst(16).starts(with: "RGB ".utf8) }
            try require(isRGB != false)
            properties.colorSpace = ColorSpace(
                name: Self.cleaned(given.colorSpace.name, limit: 200), profile: given.colorSpace.profile)
        } else {
            try require([.sRGB, .extendedSRGB].contains(given.colorSpace))
        }
        return properties
    }

    /// Returns true for a size that the options allow an image of the source's size.
    private func isWanted(_ size: PixelSize, source: PixelSize, isVector: Bool) -> Bool {
        // As `DecodeOptions.outputSize` counts them.
        let pixelBytes = options.decodeToHDR ? 8 : 4
        let limit = options.maximumBytes?.bytes ?? .max
        guard size.pixelCount * pixelBytes <= max(limit, pixelBytes) else { return false }
        func fits(_ box: PixelSize) -> Bool { size.width <= box.width && size.height <= box.height }
        guard let box = options.thumbnailSize, !box.isEmpty else { return fits(source) }
        if options.coversThumbnailSize { return fits(source) }
        return fits(box) && (isVector || options.allowsUpscaling || fits(source))
    }

    private func checkLimits(
        source: PixelSize, output: PixelSize, bytesPerPixel: Int = 4
    ) throws(WorkerConversation.Failure) {
        try require(Self.isPossible(source) && Self.isPossible(output))
        do throws(ImageError) {
            try limits.check(size: source, output: output, bytesPerPixel: bytesPerPixel)
        } catch {
            throw .abandoned(error)
        }
    }

    /// Returns true for sides that can be multiplied.
    private static func isPossible(_ size: PixelSize) -> Bool {
        !size.isEmpty && max(size.width, size.height) <= Int(Int32.max)
    }

    private static func isPossible(_ metadata: ImageMetadata) -> Bool {
        metadata.isBounded && metadata.iptcDigest.map { $0.count == 16 } ?? true
    }

    private func require(_ condition: Bool) throws(WorkerConversation.Failure) {
        guard condition else { throw .nonsense }
    }

    /// Returns the start of a text that a person reads, without control sequences of terminals.
    static func cleaned(_ text: String, limit: Int) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(limit).filter { !isControl($0) }))
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate: true
        default: false
        }
    }
}
