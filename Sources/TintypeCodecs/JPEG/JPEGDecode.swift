internal import FoundationEssentials
internal import TintypeCore

/// One decode of one JPEG file.
struct JPEGDecode {
    let segments: JPEGSegments
    let options: DecodeOptions
    let context: DecodeContext

    func run(_ bytes: UnsafeRawBufferPointer) throws(ImageError) -> Image {
        let reader = try JPEGReader(bytes, memoryLimit: context.limits.maximumBytes)
        let plan = try JPEGPlan(starting: reader, segments, options: options, context: context)
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
