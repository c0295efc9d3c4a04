import Foundation
import Tintype

/// Prints, as Markdown, how much processor time decoding takes beside bare loops in C.
///
///     CodecRatios [FOLDER]                       with the JPEG files of a folder; without, with a drawing
///     CodecRatios --thumbnails TARGET [FOLDER]   thumbnails alone, as lines for a script, and their files to a folder
///     CodecRatios --loads [FOLDER]               1,000 loads of files, from their URLs to thumbnails in memory
@main
enum Main {
    static let rounds = ProcessInfo.processInfo.environment["ROUNDS"].flatMap { Int($0) } ?? 7
    /// Pictures are decoded into memory of before, as large as they are.
    static let context = ProcessingContext(pool: PixelBufferPool(limit: .megabytes(512)))

    static func main() async throws {
        let arguments = CommandLine.arguments
        if arguments.count > 2, arguments[1] == "--thumbnails" {
            let photographs = try Photograph.all(in: arguments.dropFirst(3).first)
            try ThumbnailLines.print(
                photographs, rounds: rounds, context: context, to: URL(fileURLWithPath: arguments[2]))
            return
        }
        if arguments.count > 1, arguments[1] == "--loads" {
            let photographs = try Photograph.all(in: arguments.dropFirst(2).first)
            return try await Loads.print(photographs, rounds: rounds, context: context)
        }
        let photographs = try Photograph.all(in: arguments.dropFirst().first)
        try fullSize(photographs)
        try thumbnails(photographs, "baseline") { $0.baseline }
        try thumbnails(photographs, "progressive") { $0.progressive }
        if let photograph = photographs.first { try OtherFormats.print(photograph, rounds: rounds, context: context) }
    }

    private static func decode(_ data: Data, _ change: (inout DecodeOptions) -> Void = { _ in }) throws -> Image {
        var options = DecodeOptions()
        options.keepsColorSpace = true
        change(&options)
        return try ImageCoders.inProcess.decode(data, options: options, context: context)
    }

    // MARK: Full size

    private static func fullSize(_ photographs: [Photograph]) throws {
        print("Full size, CPU ms: median (least) of \(rounds)\n")
        print("| picture | megapixels | format | bare loop in C | Tintype | ratio of medians |")
        print("| --- | --- | --- | --- | --- | --- |")
        for photograph in photographs {
            let image = try decode(photograph.baseline)
            let upright = try decode(photograph.baseline) { $0.formatHint = .jpeg }
            try row(photograph.name, "JPEG", image.size, photograph.baseline) { $0.jpeg($1) }
            try row(photograph.name, "progressive JPEG", image.size, photograph.progressive) { $0.jpeg($1) }
            try row(photograph.name, "PNG, RGB", image.size, upright.encoded(as: .png)) { $0.png($1) }
            try row(photograph.name, "PNG, RGBA", image.size, withAlpha(upright).encoded(as: .png)) { $0.png($1) }
        }
    }

    private static func row(
        _ name: String, _ format: String, _ size: PixelSize, _ data: Data, _ bare: @escaping (BareLoops, Data) -> Void
    ) throws {
        let loops = BareLoops(
            size: PixelSize(width: max(size.width, size.height), height: max(size.width, size.height)))
        let times = try compare(rounds: rounds, [{ bare(loops, data) }, { _ = try decode(data) }])
        print(
            "| \(name) | \(number(Double(size.pixelCount) / 1e6)) | \(format) | \(cell(times[0])) | \(cell(times[1])) | "
                + "\(ratio(times[1], times[0])) |")
    }

    /// The picture with alpha that grows from the left to the right.
    private static func withAlpha(_ image: Image) throws -> Image {
        var pixels = try MutablePixelBuffer(size: image.size)
        let bytesPerRow = pixels.bytesPerRow
        pixels.withUnsafeMutableBytes { bytes in
            for y in 0..<image.size.height {
                image.pixels.withRow(y) { row in
                    for x in 0..<image.size.width {
                        let alpha = 128 + 127 * x / image.size.width
                        for component in 0..<3 {
                            let value = Int(row[4 * x + component])
                            bytes[y * bytesPerRow + 4 * x + component] = UInt8(value * alpha / 255)
                        }
                        bytes[y * bytesPerRow + 4 * x + 3] = UInt8(alpha)
                    }
                }
            }
        }
        return Image(pixels: pixels.freeze())
    }

    // MARK: Thumbnails

    private static func thumbnails(_ photographs: [Photograph], _ kind: String, _ data: (Photograph) -> Data) throws {
        print(
            "\nThumbnails of 400 px, \(kind) JPEG, CPU ms: median (least) of \(rounds); dB to a reduction in floating point\n"
        )
        print("| picture | bare loop in C | Tintype | ratio | dB | fast | ratio | dB |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- |")
        var sums = [Double](repeating: 0, count: 5)
        for photograph in photographs {
            let data = data(photograph)
            let full = try decode(data)
            let stored = full.size
            let loops = BareLoops(size: PixelSize(width: 1, height: 1))
            let box = PixelSize(width: 400, height: 400)
            func thumbnail(isFast: Bool) throws -> Image {
                try decode(data) {
                    $0.thumbnailSize = box
                    $0.prefersFastThumbnail = isFast
                }
            }
            let high = try thumbnail(isFast: false)
            let fast = try thumbnail(isFast: true)
            let reference = Fidelity.reduction(of: full.pixels, to: high.size)
            let decibels = [high, fast].map { Fidelity.decibels($0.pixels, to: reference) }
            // What is stored lies on its side where it is shown upright: the bare loop has the same work.
            let info = try ImageCoders.inProcess.info(of: data, context: context)
            let isTurned = info.size != stored
            let target = isTurned ? PixelSize(width: high.size.height, height: high.size.width) : high.size
            let times = try compare(
                rounds: rounds,
                [
                    { _ = try loops.thumbnail(data, of: info.size, to: target) },
                    { _ = try thumbnail(isFast: false) }, { _ = try thumbnail(isFast: true) },
                ])
            print(
                "| \(photograph.name) | \(cell(times[0])) | \(cell(times[1])) | \(ratio(times[1], times[0])) | "
                    + "\(number(decibels[0])) | \(cell(times[2])) | \(ratio(times[2], times[0])) | \(number(decibels[1])) |"
            )
            for (index, value) in (times.map(\.median) + decibels).enumerated() { sums[index] += value }
        }
        let count = Double(photographs.count)
        print(
            "| mean | \(number(sums[0] / count)) | \(number(sums[1] / count)) | \(number(sums[1] / sums[0], digits: 2)) | "
                + "\(number(sums[3] / count)) | \(number(sums[2] / count)) | \(number(sums[2] / sums[0], digits: 2)) | "
                + "\(number(sums[4] / count)) |")
    }

    // MARK: Cells

    private static func cell(_ time: (median: Double, least: Double)) -> String {
        "\(number(time.median)) (\(number(time.least)))"
    }

    private static func ratio(_ time: (median: Double, least: Double), _ other: (median: Double, least: Double))
        -> String
    {
        number(time.median / other.median, digits: 2)
    }

    private static func number(_ value: Double, digits: Int = 1) -> String { String(format: "%.\(digits)f", value) }
}
