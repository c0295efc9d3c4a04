internal import CPNGShim
internal import FoundationEssentials
internal import TintypeImages

/// Decodes a PNG while its bytes arrive: the rows so far, all rows of an interlaced image as estimated from its passes, or the
/// whole first frame of an animation.
final class PNGProgressiveDecoder: ProgressiveDecoder {
    private let options: DecodeOptions
    private let context: ProcessingContext
    private let pusher: PNGPushReader
    private var data = Data()
    private var frames: ProgressiveFrames
    private var isAnimated = false
    /// True if bytes are only kept: the image is decoded from the beginning when all are there.
    private var decodesAtEnd = false
    private var rows: PNGArrivingRows?
    /// True if the arriving rows have 8 bits, for previews, and the image is made of 16.
    private var isDeep = false

    init(options: DecodeOptions, context: ProcessingContext) throws(ImageError) {
        self.options = options
        self.context = context
        pusher = try PNGPushReader()
        frames = ProgressiveFrames(PNGCoder(), options: options, context: context) { data, options throws(ImageError) in
            let chunks = try PNGChunks(data)
            guard chunks.animation != nil else { throw .truncated("no frame of the animation has arrived yet") }
            return try PNGFrameDecoder(data, chunks, for: .first, options: options, context: context)
        }
    }

    func append(_ chunk: Data) throws(ImageError) {
        data.append(chunk)
        try push(chunk)
    }

    func append(_ chunk: Data, of data: Data) throws(ImageError) {
        self.data = data
        try push(chunk)
    }

    private func push(_ chunk: Data) throws(ImageError) {
        guard !isAnimated, !decodesAtEnd else { return }
        try chunk.withBytes { bytes throws(ImageError) in
            var offset = 0
            while offset < bytes.count, !isAnimated, !decodesAtEnd, !pusher.hasEnded {
                offset += try pusher.push(UnsafeRawBufferPointer(rebasing: bytes[offset...]))
                if pusher.hasHeader, rows == nil { try start() }
            }
        }
        if let failure = rows?.failure { throw failure }
    }

    func preview() throws(ImageError) -> Image? {
        isAnimated ? try frames.preview(data) : try rows?.preview()
    }

    func finish() throws(ImageError) -> Image {
        do throws(ImageError) {
            let chunks = try PNGChunks(data)
            if isAnimated {
                if let image = try frames.finish(data) { return image }
            } else if pusher.hasEnded, pusher.hasAllRows, !isDeep, let image = try rows?.finish(chunks) {
                return image
            }
        } catch {
            if error.isCancellation { throw error }
        }
        // Their memory is that of the whole picture, which is reserved anew. The pusher refers to the rows, and takes no more bytes.
        (rows, decodesAtEnd) = (nil, true)
        return try PNGCoder().decode(data, options: options, context: context)
    }

    private func start() throws(ImageError) {
        let chunks = try PNGChunks(data)
        isAnimated = chunks.announcesAnimation
        decodesAtEnd = !isAnimated && chunks.isHighDynamicRange
        guard !isAnimated, !decodesAtEnd else { return }
        let profile = data.withUnsafeBytes { chunks.profile(in: $0) }
        let format = options.pixelFormat(bitsPerComponent: chunks.bitsPerComponent)
        isDeep = chunks.workingFormat(format, profile: profile) != .rgba8
        let output = options.outputSize(for: chunks.info.displaySize)
        var options = options
        if isDeep { options.decodeToHDR = false }
        rows = try PNGArrivingRows(
            pusher, chunks, profile: profile, output: output, options: options, context: context)
    }
}
