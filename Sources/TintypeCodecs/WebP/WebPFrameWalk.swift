internal import CWebP
internal import TintypeImages

/// Walks the chunks of an animation once. libwebp checks them, but looks for each frame starting with the first.
///
/// Source: "WebP Container Specification", "Animation".
enum WebPFrameWalk {
    /// The parts of a frame's chunk that have its pixels.
    private struct Payload {
        var range: Range<Int>
        var hasAlphaChunk: Bool
        var isComplete: Bool
    }

    /// The most chunks that aren't frames.
    private static let maximumCount = 10_000

    /// Compares the numbers of chunks with the limits, before libwebp keeps 48 bytes for each, and 128 for a frame.
    /// - Throws: ``ImageError/Code/limitExceeded``
    /// - Complexity: O(chunks)
    static func checkCounts(_ bytes: UnsafeRawBufferPointer, _ limits: DecodeLimits) throws(ImageError) {
        guard bytes.count >= 12 else { return }
        var reader = LittleEndianReader(bytes, at: 4)
        let end = min(bytes.count, 8 + (try reader.uint32()))
        // Behind the name of the file's type.
        try reader.skip(4)
        var (frameCount, others) = (0, 0)
        while end - reader.offset >= 8 {
            let type = try reader.take(4)
            let size = try reader.uint32()
            if type.elementsEqual("ANMF".utf8) {
                frameCount += 1
                // libwebp takes the chunks behind the pixels of a frame for chunks of the file.
                try reader.skip(min(16, end - reader.offset))
                continue
            }
            let isPicture = ["VP8 ", "VP8L", "ALPH"].contains { type.elementsEqual($0.utf8) }
            if !isPicture { others += 1 }
            guard others <= maximumCount else {
                throw ImageError(
                    .limitExceeded, stage: .decode, reason: "the WebP file has more than \(maximumCount) chunks")
            }
            try reader.skip(to: min(reader.offset + size + size % 2, end))
        }
        try limits.check(frameCount: frameCount)
    }

    /// Returns the frames of a file, or of its start.
    /// - Parameter count: the number of frames that libwebp counts, which have passed its checks.
    /// - Throws: ``ImageError/Code/corruptImage`` if there are fewer.
    /// - Complexity: O(chunks)
    static func frames(
        _ bytes: UnsafeRawBufferPointer, count: Int
    ) throws(ImageError) -> [WebPContainer.Frame] {
        var frames: [WebPContainer.Frame] = []
        frames.reserveCapacity(count)
        // Behind the name of the file's type.
        var reader = LittleEndianReader(bytes, at: 12)
        while frames.count < count, reader.remaining >= 8 {
            let isFrame = try reader.take(4).elementsEqual("ANMF".utf8)
            let size = try reader.uint32()
            let end = reader.offset + size + size % 2
            if isFrame, size >= 16, reader.remaining >= 16, let frame = try frame(bytes, &reader, end: end) {
                frames.append(frame)
            }
            try reader.skip(to: min(end, bytes.count))
        }
        guard frames.count == count else { throw .corrupt("the chunks of the WebP animation are damaged") }
        return frames
    }

    private static func frame(
        _ bytes: UnsafeRawBufferPointer, _ reader: inout LittleEndianReader, end: Int
    ) throws(ImageError) -> WebPContainer.Frame? {
        let (x, y) = (2 * (try uint24(&reader)), 2 * (try uint24(&reader)))
        let size = PixelSize(width: 1 + (try uint24(&reader)), height: 1 + (try uint24(&reader)))
        let duration = try uint24(&reader)
        let flags = try reader.byte()
        guard let payload = try payload(&reader, end: min(end, bytes.count)), let base = bytes.baseAddress else {
            return nil
        }
        var features = WebPBitstreamFeatures()
        let start = (base + payload.range.lowerBound).assumingMemoryBound(to: UInt8.self)
        let isKnown = WebPGetFeatures(start, payload.range.count, &features) == VP8_STATUS_OK
        let hasAlpha = payload.hasAlphaChunk || isKnown && features.has_alpha != 0
        return WebPContainer.Frame(
            rect: PixelRect(x: x, y: y, size: size), payload: payload.range, duration: .milliseconds(duration),
            hasAlpha: hasAlpha, hidesAlpha: !hasAlpha && !(isKnown && features.format == WebPContainer.lossy),
            blends: flags & 2 == 0, clearsAfterwards: flags & 1 != 0, isComplete: payload.isComplete)
    }

    /// The chunk of the image, with its alpha's chunk before it; `nil` if there is none.
    private static func payload(_ reader: inout LittleEndianReader, end: Int) throws(ImageError) -> Payload? {
        var alpha: Int?
        while end - reader.offset >= 8 {
            let start = reader.offset
            let name = try reader.take(4)
            let size = try reader.uint32()
            let next = reader.offset + size + size % 2
            if name.elementsEqual("ALPH".utf8) {
                alpha = start
            } else if name.elementsEqual("VP8 ".utf8) || name.elementsEqual("VP8L".utf8) {
                let isLossless = name.elementsEqual("VP8L".utf8)
                return Payload(
                    range: (isLossless ? start : alpha ?? start)..<min(next, end),
                    hasAlphaChunk: alpha != nil && !isLossless, isComplete: next <= end)
            }
            try reader.skip(to: min(next, end))
        }
        return nil
    }

    private static func uint24(_ reader: inout LittleEndianReader) throws(ImageError) -> Int {
        let low = try reader.uint16()
        return low | (try reader.byte()) << 16
    }
}
