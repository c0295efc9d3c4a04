internal import FoundationEssentials
internal import TintypeImages

/// The frames of an image whose bytes still come: each is decoded when it is whole, and only once; of the first one there is a
/// picture before that where the format allows it.
struct ProgressiveFrames {
    private let options: DecodeOptions
    private let open: (Data, DecodeOptions) throws(ImageError) -> any ArrivingFrames
    private var decoder: (any ArrivingFrames)?
    private var pictures: [PixelBuffer] = []
    private var shown = 0

    /// - Parameter open: makes the decoder of the frames, with options that allow an image to be partial.
    init(
        options: DecodeOptions,
        open: @escaping (Data, DecodeOptions) throws(ImageError) -> any ArrivingFrames
    ) {
        self.options = options
        self.open = open
    }

    /// The frames so far, if there are more of them than before, or more is known of the first.
    mutating func preview(_ data: Data) throws(ImageError) -> Image? {
        do throws(ImageError) { try advance(data) } catch {
            guard error.code == .truncatedImage else { throw error }
            return nil
        }
        if pictures.isEmpty, let decoder, let picture = try decoder.arrivingPicture() {
            return image([picture.pixels], isPartial: true, isMissingRows: picture.isMissingRows)
        }
        guard pictures.count > shown else { return nil }
        shown = pictures.count
        return image(pictures, isPartial: true)
    }

    /// All frames; `nil` if the file is not whole, or was decoded at a size that its number of frames does not allow.
    mutating func finish(_ data: Data) throws(ImageError) -> Image? {
        try advance(data)
        guard let decoder, decoder.isWhole, !decoder.isPartial else { return nil }
        let info = decoder.info
        guard let format = pictures.first?.format, decoder.outputSize == info.outputSize(options, format: format),
            pictures.count == (options.firstFrameOnly ? 1 : info.frameCount)
        else { return nil }
        return image(pictures, isPartial: false)
    }

    private mutating func advance(_ data: Data) throws(ImageError) {
        if let decoder {
            try decoder.extend(data)
        } else {
            var lenient = options
            lenient.allowsPartialImage = true
            decoder = try open(data, lenient)
        }
        guard let decoder else { return }
        while !options.firstFrameOnly || pictures.isEmpty, let frame = try decoder.arrivedFrame() {
            pictures.append(frame.pixels)
        }
    }

    private func image(_ pictures: [PixelBuffer], isPartial: Bool, isMissingRows: Bool = false) -> Image? {
        guard let decoder else { return nil }
        let durations = decoder.info.frameDurations
        let isAnimated = pictures.count > 1
        let frames = pictures.enumerated().map { index, pixels in
            ImageFrame(pixels: pixels, duration: isAnimated && index < durations.count ? durations[index] : .zero)
        }
        var properties = decoder.properties
        properties.decodeOptions = options
        properties.isPartial = isPartial
        if isMissingRows { properties.hasAlpha = true }
        if !isAnimated { properties.loopCount = 0 }
        return Image(frames: frames, properties: properties)
    }
}
