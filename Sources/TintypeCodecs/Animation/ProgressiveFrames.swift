internal import FoundationEssentials
internal import TintypeImages

/// The first frame of an image whose bytes still come: decoded when it is whole, and only once. There is a picture before that where the
/// format allows it.
struct ProgressiveFrames {
    private let coder: any AnimatedImageCoder
    private let options: DecodeOptions
    private let context: ProcessingContext
    private let open: (Data, DecodeOptions) throws(ImageError) -> any ArrivingFrames
    private var decoder: (any ArrivingFrames)?
    private var picture: PixelBuffer?
    /// The orientation that was known when the picture was made.
    private var orientation: Orientation?
    private var isShown = false

    /// - Parameters:
    ///   - coder: the coder that reads the other frames.
    ///   - open: makes the decoder of the frames, with options that allow an image to be partial.
    init(
        _ coder: any AnimatedImageCoder, options: DecodeOptions, context: ProcessingContext,
        open: @escaping (Data, DecodeOptions) throws(ImageError) -> any ArrivingFrames
    ) {
        (self.coder, self.options, self.context) = (coder, options, context)
        self.open = open
    }

    /// The first frame, or more of it than before.
    mutating func preview(_ data: Data) throws(ImageError) -> Image? {
        do throws(ImageError) { try advance(data) } catch {
            guard error.code == .truncatedImage else { throw error }
            return nil
        }
        guard !hasUnknownSize else { return nil }
        if picture == nil, let decoder, let picture = try decoder.arrivingPicture() {
            return image(picture.pixels, isPartial: true, isMissingRows: picture.isMissingRows)
        }
        guard let picture, !isShown else { return nil }
        isShown = true
        return image(picture, isPartial: true)
    }

    /// The image; `nil` if the file is not whole, or was decoded at a size that its number of frames does not allow.
    mutating func finish(_ data: Data) throws(ImageError) -> Image? {
        // Without an image, all of it is decoded next, which takes the memory again.
        defer { decoder = nil }
        try advance(data, isEnd: true)
        guard let decoder, decoder.isWhole, !decoder.isPartial, let picture else { return nil }
        let info = decoder.info
        // Data after the frames may turn them.
        guard decoder.outputSize == info.outputSize(options, format: picture.format), info.orientation == orientation
        else { return nil }
        return image(picture, isPartial: false)?.animated(by: coder, data, info, options: options, context)
    }

    /// True until the end if all frames share a limit of bytes, because their number decides the size.
    private var hasUnknownSize: Bool {
        options.maximumBytes != nil && !options.firstFrameOnly && decoder?.mayMove == true
    }

    private mutating func advance(_ data: Data, isEnd: Bool = false) throws(ImageError) {
        if isEnd, hasUnknownSize { decoder = nil }
        if let decoder {
            try decoder.extend(data)
        } else {
            var lenient = options
            lenient.allowsPartialImage = true
            decoder = try open(data, lenient)
        }
        if picture == nil, isEnd || !hasUnknownSize, let frame = try decoder?.arrivedFrame() {
            (picture, orientation) = (frame.pixels, decoder?.info.orientation)
        }
    }

    private func image(_ picture: PixelBuffer, isPartial: Bool, isMissingRows: Bool = false) -> Image? {
        guard let decoder else { return nil }
        var properties = decoder.properties
        properties.decodeOptions = options
        properties.isPartial = isPartial
        properties.mayMove = isPartial && decoder.mayMove && !options.firstFrameOnly
        if isMissingRows { properties.hasAlpha = true }
        properties.loopCount = 0
        return Image(pixels: picture, properties: properties)
    }
}
