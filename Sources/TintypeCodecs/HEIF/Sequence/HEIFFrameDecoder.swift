#if HEIF
internal import FoundationEssentials
internal import TintypeImages

/// The frames of a HEIF image sequence, upright and at the requested size.
final class HEIFFrameDecoder: ArrivingFrames {
    private(set) var info: ImageInfo
    /// The color space is known with the first frame.
    private(set) var properties: Image.Properties
    private(set) var isPartial = false

    private var data: Data
    private let sequence: HEIFSequence
    private let image: HEVCDecoder
    private let alpha: HEVCDecoder?
    private let setup: FrameSetup
    private let context: ProcessingContext
    private var color: (coding: ColorCoding, color: CodedColor)?
    private var next = 0

    var outputSize: PixelSize { setup.outputSize }

    init(
        _ data: Data, sequence: HEIFSequence, for purpose: FramePurpose, options: DecodeOptions,
        context: ProcessingContext
    ) throws(ImageError) {
        let info = sequence.info
        // A decoder keeps up to 17 pictures, of mostly 1.5 bytes a pixel.
        setup = try FrameSetup(
            info, for: purpose, options: options, context: context, stored: sequence.image.pictures.codedSize,
            bitmaps: sequence.alpha == nil ? 7 : 14)
        self.data = data
        self.sequence = sequence
        self.info = info
        self.context = context
        image = HEVCDecoder(sequence.image, context: context)
        alpha = sequence.alpha.map { HEVCDecoder($0, context: context) }
        properties = info.properties(options)
        // Frames have 8 bits.
        properties.isHighDynamicRange = false
    }

    var isWhole: Bool { info.isComplete }

    func arrivedFrame() throws(ImageError) -> ImageFrame? {
        guard next < info.frameCount, sequence.hasFrame(next, within: data.count) else { return nil }
        return try nextFrame()
    }

    func extend(_ data: Data) {
        self.data = data
        info.isComplete = sequence.end <= data.count
        if info.isComplete { properties.metadata = HEIFStill.metadata(of: data) }
        isPartial = false
    }

    func rewind() { seek(to: 0) }

    /// Makes a frame the next. Those between the sync sample before it and itself are decoded, and not converted.
    func seek(to frame: Int) {
        next = max(0, frame)
        isPartial = false
    }

    func nextFrame() throws(ImageError) -> ImageFrame? {
        guard next < info.frameCount else { return nil }
        try context.checkCancellation()
        do throws(ImageError) {
            let picture = try image.picture(next, in: data)
            let alpha = try alpha?.picture(next, in: data)
            let pixels = try convert(picture, alpha: alpha)
            defer { next += 1 }
            return ImageFrame(pixels: pixels, duration: info.isAnimated ? info.frameDurations[next] : .zero)
        } catch {
            // The frames before a cut frame are whole.
            guard error.code == .truncatedImage, next > 0, properties.decodeOptions.allowsPartialImage else {
                throw error
            }
            isPartial = true
            return nil
        }
    }

    private func convert(_ picture: HEVCPicture, alpha: HEVCPicture?) throws(ImageError) -> PixelBuffer {
        // A box of the file takes precedence over the pictures' own statement.
        let coding = sequence.image.entry.coding ?? picture.coding
        let color = color?.coding == coding ? self.color?.color : nil
        let chosen =
            color
            ?? CodedColor(
                profile: sequence.image.entry.profile, codePoints: coding.codePoints,
                isGray: picture.planes.chroma == nil, keepsColorSpace: properties.decodeOptions.keepsColorSpace,
                bitsPerComponent: picture.planes.bits)
        self.color = (coding, chosen)
        properties.colorSpace = chosen.colorSpace
        var transparency: PlanarRows.Alpha?
        if let alpha = alpha?.planes, let aperture = sequence.alpha?.aperture {
            transparency = PlanarRows.Alpha(plane: alpha.luma, bits: alpha.bits, aperture: aperture)
        }
        let rows = try PlanarRows(
            image: picture.planes, aperture: sequence.image.aperture, alpha: transparency,
            isPremultiplied: sequence.isPremultiplied, coding: coding, color: chosen)
        var sink = try RowSink(
            stored: info.size, output: outputSize, orientation: info.orientation, context: context)
        for y in 0..<info.size.height {
            rows.convert(y, to: sink.rowToFill())
            try sink.commitRow()
        }
        return try sink.finish()
    }
}
#endif
