internal import FoundationEssentials
internal import TintypeImages

/// A decode of a JPEG file.
struct JPEGDecoder {
    let segments: JPEGSegments
    let options: DecodeOptions
    let context: ProcessingContext
    /// False decodes all scans of a progressive file.
    var skipsScans = true
    /// Thumbnails are decoded directly if the scan has at least this number of bytes; `nil` leaves all of them to libjpeg-turbo.
    var shortestScan: Int? = JPEGThumbnail.shortestScan

    func run(_ bytes: UnsafeRawBufferPointer) throws(ImageError) -> Image {
        try segments.checkProcess()
        var color: DecodedColor?
        if let shortestScan {
            let thumbnail = JPEGThumbnail(
                segments: segments, options: options, context: context, shortestScan: shortestScan)
            if let image = try thumbnail.decode(bytes.bindMemory(to: UInt8.self).span, color: &color) {
                return image
            }
        }
        guard let (file, eighths) = neededScans(of: bytes) else { return try decode(bytes, color: color) }
        return try file.withBytes { bytes throws(ImageError) in try decode(bytes, eighths: eighths) }
    }

    /// The file without the scans that a thumbnail does not need, and the scale for it; `nil` if there are none such.
    private func neededScans(of bytes: UnsafeRawBufferPointer) -> (file: Data, eighths: Int)? {
        guard skipsScans, segments.isProgressive, let source = segments.size, !source.isEmpty else { return nil }
        let orientation = segments.orientation
        let target = orientation.stored(options.outputSize(for: orientation.display(source)))
        let isFast = options.prefersFastThumbnail
        let eighths = JPEGScale.eighths(
            from: source, to: target, samplings: segments.samplings, isFast: isFast, isProgressive: true)
        guard eighths < 8 else { return nil }
        return JPEGScans(bytes)?.file(of: bytes, eighths: eighths, isFast: isFast).map { ($0, eighths) }
    }

    /// - Parameters:
    ///   - eighths: the scale of a file without some of its scans.
    ///   - color: the conversion of colors, if it has been prepared.
    private func decode(
        _ bytes: UnsafeRawBufferPointer, eighths: Int? = nil, color: DecodedColor? = nil
    ) throws(ImageError) -> Image {
        let reader = try JPEGReader(
            bytes, memoryLimit: context.limits.maximumBytes.bytes, leavesGaps: eighths != nil)
        let plan = try JPEGPlan(
            starting: reader, segments, eighths: eighths, color: color, options: options, context: context)
        defer { plan.reservation.release() }
        if plan.hasMultipleScans {
            // All must be consumed before the first row can be had.
            _ = try reader.consumeAvailableScans(maximum: JPEGPlan.maximumScans(plan.source), context: context)
            try reader.startOutput()
        }
        var sink = try plan.makeSink()
        let isWhole = try JPEGRows(plan).readAll(reader, into: &sink)
        return try plan.image(try sink.finish(), isPartial: reader.isMissingData, isMissingRows: !isWhole)
    }
}
