internal import FoundationEssentials
internal import TintypeImages

/// An image that is ready to be written, with all that is to stand in the file, and the search for a quality that fits.
struct EncodeJob {
    /// With the frames and the size that are to be written.
    let image: Image
    let format: ImageFormat
    let options: EncodeOptions
    let context: ProcessingContext
    /// The ICC profile to put into the file; `nil` for sRGB.
    let profile: Data?
    /// The Exif block, upright and of the image's size.
    let exif: Data?
    /// The XMP packet, upright and of the image's size, without what it says of the source file's layout.
    let xmp: Data?

    /// - Throws: ``ImageError/Code/encodeFailed`` for an image that the format cannot hold.
    init(
        _ image: Image, for target: EncodeTarget, _ options: EncodeOptions, _ context: ProcessingContext
    ) throws(ImageError) {
        let context = context.at(.encode)
        try context.checkCancellation()
        try image.animation?.checkIsWhole()
        let prepared = try EncodePreparation.prepare(image, for: target, options, context)
        self.image = prepared
        self.options = options
        self.context = context
        format = target.format
        profile = prepared.colorSpace.profile
        let metadata = prepared.metadata
        // DCF reads another statement beside pixels without a profile as Adobe RGB.
        let isSRGB = profile == nil && prepared.pixels.format != .rgbaFloat16
        exif = options.keepsMetadata ? metadata.exif.flatMap { $0.uprightExif(of: prepared.size, isSRGB: isSRGB) } : nil
        xmp =
            options.keepsMetadata
            ? metadata.xmp.flatMap { XMPPacket.upright($0, size: prepared.size, isSRGB: isSRGB) } : nil
    }

    /// True if several frames are to be written.
    var isAnimated: Bool { image.isAnimated }

    /// Decodes the frames in order.
    func forEachFrame(_ body: (ImageFrame) throws(ImageError) -> Void) throws(ImageError) {
        guard let animation = image.animation else { return try body(ImageFrame(pixels: image.pixels)) }
        do throws(ImageError) {
            try animation.forEachFrame(isCancelled: context.isCancelled, body)
        } catch {
            if error.isCancellation { try context.checkCancellation() }
            throw error
        }
    }

    /// The durations of the frames in milliseconds, whose sums are exact.
    /// - Parameter least: the shortest duration that the format has, in milliseconds. A frame that is longer for it is made up for by later frames.
    func milliseconds(atLeast least: Int) -> [Int] {
        var time = 0.0
        var written = 0
        return (image.animation?.frameDurations ?? [.zero]).map { duration in
            time += min(max(0, duration.inMilliseconds), 86_400_000)
            let milliseconds = max(least, Int(time.rounded()) - written)
            written += milliseconds
            return milliseconds
        }
    }

    /// Returns true if a number of bytes keeps to the limit.
    func fits(_ count: Int) -> Bool { count <= options.maximumBytes?.bytes ?? .max }

    /// The file of the best quality, up to the requested quality, that keeps to the limit of bytes.
    ///
    /// Files are taken to grow with the quality, so eight tries are enough for the qualities from 0 to 100.
    /// - Parameter write: makes the file at a quality from 0 to 100; `nil` if it became too large.
    func fit(_ write: (Int) throws(ImageError) -> Data?) throws(ImageError) -> Data {
        func fitting(_ quality: Int) throws(ImageError) -> Data? {
            try context.checkCancellation()
            guard let data = try write(quality), fits(data.count) else { return nil }
            return data
        }
        let quality = options.percent
        if let data = try fitting(quality) { return data }
        guard var best = try fitting(0) else { throw tooLarge() }
        var (enough, tooMuch) = (0, quality)
        while tooMuch - enough > 1 {
            let middle = (enough + tooMuch) / 2
            if let data = try fitting(middle) { (best, enough) = (data, middle) } else { tooMuch = middle }
        }
        return best
    }

    /// The file of a format, or a way of writing it, that has no quality to lower.
    func fitWithoutLoss(_ write: () throws(ImageError) -> Data) throws(ImageError) -> Data {
        try context.checkCancellation()
        let data = try write()
        guard fits(data.count) else { throw tooLarge() }
        return data
    }

    func tooLarge() -> ImageError {
        let advice = options.lossless ? "lossy encoding or a smaller image" : "a smaller image"
        return failure("the \(format) file doesn't fit into \(options.maximumBytes ?? 0); \(advice) may help")
    }

    func failure(_ reason: String) -> ImageError { ImageError(.encodeFailed, stage: .encode, reason: reason) }

    /// Refuses a setting that is out of its range, by its name.
    func check<Value: Comparable>(
        _ value: Value?, in range: ClosedRange<Value>, _ name: StaticString
    ) throws(ImageError) {
        guard let value, !range.contains(value) else { return }
        throw failure("\(name) is \(value), but must be \(range.lowerBound) to \(range.upperBound)")
    }
}

extension EncodeOptions {
    /// The quality as libraries count it, from 0 to 100.
    var percent: Int { quality.isNaN ? 85 : Int((min(max(quality, 0), 1) * 100).rounded()) }
}
