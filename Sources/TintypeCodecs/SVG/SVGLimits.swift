#if SVG
internal import FoundationEssentials
internal import TintypeCore

/// Refuses documents that are small and cost much: elements that draw each other many times, and large images inside.
struct SVGLimits {
    /// The most elements that may be drawn, as a multiple of those that the document has. librsvg draws up to 500,000 by reference alone, which
    /// takes seconds.
    static let maximumRepetition = 20
    /// So many may be drawn in any case.
    static let freeElements = 50_000
    /// The deepest nesting of SVG images in SVG images.
    private static let maximumDepth = 3

    /// The bytes that the images inside take when they are decoded.
    let imageBytes: Int

    init(_ data: Data, _ context: DecodeContext, depth: Int = 0) throws(ImageError) {
        guard !data.starts(with: [0x1F, 0x8B]) else {
            throw ImageError(
                .unknownFormat, stage: .decode, reason: "the SVG is compressed with gzip, which is not read")
        }
        let contents = try data.withBytes { bytes throws(ImageError) in try SVGContents(bytes) }
        var expansion = SVGExpansion(contents)
        let drawn = try expansion.count()
        guard drawn <= max(Self.freeElements, Self.maximumRepetition * contents.ends.count) else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "the SVG draws its \(contents.ends.count) elements over and over, \(drawn) times or more")
        }
        var bytes = 0
        for image in contents.images {
            let more = try Self.bytes(of: image, context, depth: depth)
            guard more <= context.limits.maximumBytes.bytes - bytes else {
                throw ImageError(
                    .limitExceeded, stage: .decode,
                    reason: "the images in the SVG take more than the limit of "
                        + "\(context.limits.maximumBytes)")
            }
            bytes += more
        }
        imageBytes = bytes
    }

    /// The memory that an image inside the document takes when it is decoded.
    private static func bytes(of image: [UInt8], _ context: DecodeContext, depth: Int) throws(ImageError) -> Int {
        // A URL without data shows nothing.
        guard let comma = image.firstIndex(of: UInt8(ascii: ",")), comma < image.count - 1 else { return 0 }
        let content = try DataURL(image, limit: SVGCoder.maximumBytes)
        let coder: any ImageCoder
        switch ImageFormat(sniffing: content.data) {
        case .jpeg: coder = JPEGCoder()
        case .png: coder = PNGCoder()
        case .gif: coder = GIFCoder()
        case .webp: coder = WebPCoder()
        case .svg:
            guard depth < maximumDepth else {
                throw ImageError(
                    .limitExceeded, stage: .decode, reason: "the SVG has SVGs in it, more than \(maximumDepth) deep")
            }
            return try SVGLimits(content.data, context, depth: depth + 1).imageBytes
        case let format:
            throw ImageError(
                .unknownFormat, stage: .decode,
                reason: "the SVG carries an image that is not read in SVG: \(format?.rawValue ?? content.mimeType)")
        }
        let info = try coder.info(of: content.data, context: context)
        try context.limits.check(size: info.size, output: info.size, frameCount: info.frameCount)
        // The decoded pictures, and what cairo draws of one.
        let (bytes, overflow) = (info.size.pixelCount * 4).multipliedReportingOverflow(by: info.frameCount + 1)
        return overflow ? .max : bytes
    }
}

/// Counts the elements that a document draws when each reference is followed.
struct SVGExpansion {
    private let contents: SVGContents
    private var counts: [Int: Int] = [:]
    private var steps = 0

    /// References to references; librsvg follows no more on its stack either.
    private static let maximumDepth = 200
    private static let enough = 1 << 40
    private static let maximumSteps = 4_000_000

    init(_ contents: SVGContents) { self.contents = contents }

    mutating func count() throws(ImageError) -> Int { contents.ends.isEmpty ? 0 : try count(of: 0, depth: 0) }

    /// The elements that one draws, itself among them.
    private mutating func count(of element: Int, depth: Int) throws(ImageError) -> Int {
        if let count = counts[element] { return count }
        guard depth < Self.maximumDepth else { throw Self.failure }
        // What refers to itself draws nothing.
        counts[element] = 0
        // An element that has no end reaches to the end of the document.
        let end = max(element + 1, contents.ends[element] == 0 ? contents.ends.count : contents.ends[element])
        var count = end - element
        var index = firstReference(from: element)
        while index < contents.references.count, contents.references[index].element < end {
            steps += 1
            guard steps < Self.maximumSteps else { throw Self.failure }
            if let target = contents.elements[contents.references[index].target] {
                count = min(Self.enough, count + (try self.count(of: target, depth: depth + 1)))
            }
            index += 1
        }
        counts[element] = count
        return count
    }

    /// The first reference of an element or one behind it.
    private func firstReference(from element: Int) -> Int {
        var range = 0..<contents.references.count
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            range =
                contents.references[middle].element < element
                ? (middle + 1)..<range.upperBound : range.lowerBound..<middle
        }
        return range.lowerBound
    }

    private static var failure: ImageError {
        ImageError(.limitExceeded, stage: .decode, reason: "the elements of the SVG refer to each other too often")
    }
}
#endif
