public import FoundationEssentials
public import TintypeImages

/// Reads Windows icons and cursors: the largest image of the file, and among equally large images, the one with the most colors.
///
/// Images in the PNG format are decoded by another coder.
public struct ICOCoder: ImageCoder {
    private let png: any ImageCoder

    /// Creates a coder.
    /// - Parameter png: the coder for images in the PNG format.
    public init(png: any ImageCoder) { self.png = png }

    public var decodableFormats: Set<ImageFormat> { [.ico] }

    public func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        let entry = try entry(of: data).bytes
        if Self.isPNG(entry) {
            var info = try png.info(of: entry, context: context)
            info.format = .ico
            return info
        }
        return try entry.withBytes { bytes throws(ImageError) in
            Self.info(try BMPHeader(bytes, isIcon: true))
        }
    }

    public func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        let (entry, length, end) = try entry(of: data)
        if Self.isPNG(entry) {
            var inner = options
            inner.firstFrameOnly = true
            return try png.decode(entry, options: inner, context: context).with {
                $0.format = .ico
                $0.decodeOptions = options
            }
        }
        return try entry.withBytes { bytes throws(ImageError) in
            try Self.bitmap(bytes, length: length, end: end, options: options, context: context)
        }
    }

    /// The bytes from the largest image on, its stated length, and the place among the bytes where the next image begins.
    private func entry(of data: Data) throws(ImageError) -> (bytes: Data, length: Int, end: Int?) {
        let (entry, next) = try data.withBytes { bytes throws(ImageError) in
            let directory = try ICODirectory(bytes)
            guard let entry = directory.largest else { throw .corrupt("the icon has no images") }
            guard entry.offset < bytes.count else { throw .truncated("the icon ends before its largest image") }
            return (entry, directory.offset(after: entry))
        }
        return (data.dropFirst(entry.offset), entry.length, next.map { $0 - entry.offset })
    }

    private static func isPNG(_ entry: Data) -> Bool { entry.starts(with: [0x89, 0x50, 0x4E, 0x47]) }

    private static func info(_ header: BMPHeader) -> ImageInfo {
        var info = header.info
        info.format = .ico
        info.hasAlpha = true
        return info
    }

    private static func bitmap(
        _ bytes: UnsafeRawBufferPointer, length: Int, end: Int?, options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) -> Image {
        let header = try BMPHeader(bytes, isIcon: true)
        let info = info(header)
        let output = options.outputSize(for: info.displaySize)
        try info.check(context.limits, output: output, keptFrames: 1)
        // The pixels, and the same with the mask applied.
        let reservation = try context.reserve(output: output, isCopied: false, source: header.size, bitmaps: 2)
        defer { reservation.release() }
        let mask = ICOMask(bytes, header: header, length: length, end: end)
        let isMasked = mask.keepsAlpha || mask.isComplete || mask.isAbsent
        guard isMasked || options.allowsPartialImage else { throw .truncated("the icon ends within its mask") }
        let decoder = BMPDecoder(bytes: bytes, header: header, options: options, context: context)
        let (pixels, isPartial, _) = try decoder.decode(to: header.size)
        var properties = info.properties(options)
        properties.isPartial = isPartial || !isMasked
        let shown = mask.keepsAlpha ? pixels : try mask.apply(to: pixels, pool: context.pool)
        return Image(pixels: try shown.resized(to: output, pool: context.pool), properties: properties)
    }
}
