internal import CommandSupport
internal import FoundationEssentials
internal import Tintype

/// The work of `tintype convert`, which is the same for each image.
struct Converter: Sendable {
    let console: Console
    let coders: ImageCoders
    let decoding: DecodeOptions
    let encoding: EncodeOptions
    let frames: FrameArguments
    let transformer: ImageTransformers?
    /// True if the user chose a page.
    let choosesPage: Bool
    /// The memory that the images of a list may use together.
    var budget = DecodeBudget.shared

    /// A file that was written.
    struct Written: Sendable {
        var line: String
        var bytes: Int
    }

    /// Converts an image.
    /// - Returns: `nil` if the task was canceled. Nothing is written then.
    func convert(_ conversion: Conversion) throws(ImageError) -> Written? {
        let data = try contents(of: conversion)
        let context = ProcessingContext(isCancelled: { Task.isCancelled })
        return try write(encoded(data, for: conversion, context: context), of: conversion)
    }

    /// Converts images, as many at once as there are cores, and as the budget has room for. Prints a line for each, and reports those that
    /// fail.
    /// - Returns: the totals, including the number of failures.
    func convert(_ conversions: [Conversion]) async -> FetchSummary {
        let start = ContinuousClock.now
        let summary = Lock(FetchSummary())
        let rest = Lock(conversions[...])
        let display = ProgressDisplay(console, total: conversions.count)
        let coder = EntryCoder(coders: coders, budget: budget)
        await Workers.run(WorkQueue.processing.width) {
            rest.withLock { $0.popFirst() }
        } work: { conversion in
            do throws(ImageError) {
                let data = try contents(of: conversion)
                // The room for the decoded image is held until it is encoded.
                let result = try await coder.perform { context throws(ImageError) in
                    try encoded(data, for: conversion, context: context)
                }
                guard let written = try write(result, of: conversion) else { return }
                summary.withLock {
                    $0.images += 1
                    $0.bytes += written.bytes
                }
                console.print(written.line)
                display.finishedOne(bytes: written.bytes, failed: false)
            } catch {
                guard !error.isCancellation || !Task.isCancelled else { return }
                summary.withLock { $0.failed += 1 }
                console.error(error.withSource(conversion.input))
                display.finishedOne(bytes: 0, failed: true)
            }
        }
        display.end()
        return summary.withLock { summary in
            summary.duration = ContinuousClock.now - start
            return summary
        }
    }

    /// The bytes of a file, and the size of its image.
    private struct Encoded: Sendable {
        var data: Data
        var size: PixelSize
    }

    private func contents(of conversion: Conversion) throws(ImageError) -> Data {
        do throws(ImageError) {
            return try InputFile.contents(of: conversion.input)
        } catch {
            throw error.withSource(conversion.input)
        }
    }

    private func encoded(
        _ data: Data, for conversion: Conversion, context: ProcessingContext
    ) throws(ImageError) -> Encoded {
        let (output, format) = (conversion.output, conversion.format)
        let image = try decoded(data, of: conversion.input, context: context)
        if image.isAnimated, !encoding.firstFrameOnly, !OutputFormat.storesFrames(format) {
            let count = image.animation?.frameCount ?? 1
            console.warning("\(output): \(format) can't be animated; only the first of \(count) frames is written")
        }
        do throws(ImageError) {
            let data = try ImageCoders.default.encode(
                image, as: format, options: encoding, context: ProcessingContext(isCancelled: context.isCancelled))
            return Encoded(data: data, size: image.size)
        } catch {
            throw error.withSource(output)
        }
    }

    private func decoded(_ data: Data, of input: String, context: ProcessingContext) throws(ImageError) -> Image {
        var options = decoding
        options.formatHint = ImageFormat.hint(fileName: input)
        do throws(ImageError) {
            let image = try frames.applied(
                to: coders.decode(data, options: options, context: context), isCancelled: context.isCancelled)
            if !choosesPage, image.format == .pdf || image.format == .tiff,
                let pages = try? coders.info(of: data).pageCount, pages > 1
            {
                console.warning("\(input): only the first of \(pages) pages is written; --page chooses another")
            }
            return if let transformer { try image.transformed(transformer, in: context) } else { image }
        } catch {
            throw error.withSource(input)
        }
    }

    private func write(_ result: Encoded, of conversion: Conversion) throws(ImageError) -> Written? {
        guard !Task.isCancelled else { return nil }
        let (output, bytes) = (conversion.output, result.data.count)
        try OutputFile.replace(output, with: result.data)
        return Written(line: "\(output): \(conversion.format) \(result.size), \(ByteCount(bytes))", bytes: bytes)
    }
}
