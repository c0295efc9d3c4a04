internal import CJPEGShim
internal import FoundationEssentials
internal import TintypeImages

/// Decodes a JPEG while its bytes arrive. A file with several scans has a picture after each of them, any other file the rows
/// so far.
final class JPEGProgressiveDecoder: ProgressiveDecoder {
    private let options: DecodeOptions
    private let context: ProcessingContext
    private let reader: JPEGReader
    /// The bytes so far: for the segments in front of the pixels, and for a decode of the whole if this decoder fails.
    private var data = Data()
    /// The number of bytes that the reader has, which copies them.
    private var readerCount = 0
    private var segments: JPEGSegments?
    private var plan: JPEGPlan?
    /// The rows so far of a file with a single scan.
    private var sink: RowSink?
    private var isConsumed = false
    /// True if the image is decoded from the start when all bytes are there: because it is a ``JPEGThumbnail``, which takes less time after
    /// the last byte than all rows take before, because some scans are left out, or because libjpeg needs all bytes of arithmetic coding.
    private var decodesAtEnd = false
    private var wantsPreviews = false
    /// True if the reader, of which only previews were wanted, has failed.
    private var hasFailed = false
    /// The scans, or rows, that the last preview showed.
    private var shown = 0

    init(options: DecodeOptions, context: ProcessingContext) throws(ImageError) {
        self.options = options
        self.context = context
        reader = try JPEGReader(incrementalWithMemoryLimit: context.limits.maximumBytes.bytes)
    }

    func append(_ chunk: Data) throws(ImageError) {
        data.append(chunk)
        try advance()
    }

    func append(_ chunk: Data, of data: Data) throws(ImageError) {
        self.data = data
        try advance()
    }

    func preview() throws(ImageError) -> Image? {
        if !wantsPreviews {
            wantsPreviews = true
            try advance()
        }
        guard let plan else { return nil }
        if plan.hasMultipleScans { return try previewOfScans(plan) }
        guard let rows = sink?.rows, rows > shown, let pixels = try sink?.snapshot() else { return nil }
        shown = rows
        return try plan.image(pixels, isPartial: true, isMissingRows: rows < plan.size.height)
    }

    func finish() throws(ImageError) -> Image {
        let picture = try finishPicture()
        // The gain map is decoded within the budget, which mustn't wait for this decoder.
        plan?.reservation.release()
        return try JPEGCoder.brightened(picture, data, options, context)
    }

    private func finishPicture() throws(ImageError) -> Image {
        do throws(ImageError) {
            reader.end()
            if !decodesAtEnd { try advance() }
            guard let plan, !decodesAtEnd else { return try decodeWhole() }
            if plan.hasMultipleScans {
                try reader.startOutput()
                sink = try plan.makeSink()
            }
            guard var sink = sink.take() else { return try decodeWhole() }
            let isWhole = try JPEGRows(plan).readAll(reader, into: &sink)
            return try plan.image(try sink.finish(), isPartial: reader.isMissingData, isMissingRows: !isWhole)
        } catch {
            if error.isCancellation { throw error }
            return try decodeWhole()
        }
    }

    private func decodeWhole() throws(ImageError) -> Image {
        plan?.reservation.release()
        sink = nil
        return try JPEGCoder().picture(data, options, context)
    }

    /// Decodes as far as the bytes so far allow.
    private func advance() throws(ImageError) {
        if segments == nil {
            try feed()
            guard try reader.readHeader() else { return }
            let segments = try data.withBytes { bytes throws(ImageError) in JPEGSegments(bytes) }
            let size = PixelSize(width: Int(reader.header.width), height: Int(reader.header.height))
            try context.limits.check(
                size: size, output: options.outputSize(for: segments.orientation.display(size)))
            let thumbnail = JPEGThumbnail(segments: segments, options: options, context: context)
            decodesAtEnd = try data.withBytes { bytes throws(ImageError) in
                thumbnail.isSuitable(bytes.bindMemory(to: UInt8.self).span)
                    || segments.isProgressive && options.prefersFastThumbnail || segments.isArithmetic
            }
            self.segments = segments
        }
        guard let segments else { return }
        guard decodesAtEnd else { return try advance(segments) }
        guard wantsPreviews, !hasFailed else { return }
        do throws(ImageError) { try advance(segments) } catch {
            if error.isCancellation { throw error }
            hasFailed = true
            plan?.reservation.release()
            plan = nil
            sink = nil
        }
    }

    private func feed() throws(ImageError) {
        guard readerCount < data.count else { return }
        let rest = data.dropFirst(readerCount)
        readerCount = data.count
        try reader.append(rest)
    }

    private func advance(_ segments: JPEGSegments) throws(ImageError) {
        try feed()
        if plan == nil {
            let plan = try JPEGPlan(starting: reader, segments, options: options, context: context)
            if !plan.hasMultipleScans { sink = try plan.makeSink() }
            self.plan = plan
        }
        guard let plan else { return }
        if plan.hasMultipleScans {
            guard !isConsumed else { return }
            let maximum = JPEGPlan.maximumScans(plan.source)
            isConsumed = try reader.consumeAvailableScans(maximum: maximum, context: context)
        } else if var sink = sink.take() {
            _ = try JPEGRows(plan).readAll(reader, into: &sink)
            self.sink = consume sink
        }
    }

    private func previewOfScans(_ plan: JPEGPlan) throws(ImageError) -> Image? {
        let scans = reader.scanCount
        guard scans > shown else { return nil }
        try reader.startPreview()
        var sink = try plan.makeSink()
        _ = try JPEGRows(plan).readAll(reader, into: &sink)
        try reader.finishPreview()
        shown = scans
        return try plan.image(try sink.finish(), isPartial: true, isMissingRows: false)
    }
}
