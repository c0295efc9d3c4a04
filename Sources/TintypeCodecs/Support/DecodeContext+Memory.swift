internal import TintypeImages

extension ProcessingContext {
    /// Reserves the memory for decoding an image.
    /// - Parameters:
    ///   - output: the size of the picture that is made.
    ///   - format: of that picture.
    ///   - isCopied: true if a picture is rotated or converted in a second buffer.
    ///   - source: the size in the file.
    ///   - bitmaps: the number of temporary pictures of that size, with four bytes per pixel.
    ///   - working: the bytes of further blocks of memory.
    func reserve(
        output: PixelSize, format: PixelFormat = .rgba8, isCopied: Bool, source: PixelSize,
        bitmaps: Int, working: [Int] = []
    ) throws(ImageError) -> DecodeReservation {
        func times(_ count: Int, _ size: PixelSize, _ format: PixelFormat) -> Int {
            let (bytes, overflow) = PixelBufferPool.footprint(of: size, format: format)
                .multipliedReportingOverflow(by: max(0, count))
            return overflow ? .max : bytes
        }
        // Rows that are decoded and resampled.
        let rows = PixelSize(width: max(source.width, output.width), height: output == source ? 8 : 64)
        let pictures = [
            times(isCopied ? 2 : 1, output, format), times(bitmaps, source, .rgba8), times(1, rows, format),
        ]
        return try reserve(Self.sum(pictures + Self.footprints(working)))
    }

    /// Reserves the memory for further blocks of a decode that has reserved before, if it is free at once.
    /// - Parameter working: the bytes of the blocks.
    /// - Returns: `nil` if there is no room, and the decode has to do without.
    func reserveMore(working: [Int]) -> DecodeReservation? { reserveMore(Self.sum(Self.footprints(working))) }

    private static func footprints(_ blocks: [Int]) -> [Int] {
        blocks.map { PixelBufferPool.footprint(of: PixelSize(width: $0 / 4 + 1, height: 1)) }
    }

    private static func sum(_ parts: [Int]) -> Int {
        parts.reduce(0) { sum, part in
            let (bytes, overflow) = sum.addingReportingOverflow(part)
            return overflow ? .max : bytes
        }
    }
}
