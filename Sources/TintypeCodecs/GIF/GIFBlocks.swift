internal import FoundationEssentials
internal import TintypeImages

/// The blocks of a GIF: everything but the pixels, which stay where they are in the bytes.
///
/// Source: CompuServe, "Graphics Interchange Format, Version 89a", and the application extensions NETSCAPE2.0 and
/// ANIMEXTS1.0 for the loop count.
struct GIFBlocks: Sendable, Equatable {
    struct Frame: Sendable, Equatable {
        var rect: PixelRect
        var isInterlaced: Bool
        /// The place of the colors, three bytes each; `nil` for a frame without a palette of its own.
        var palette: Range<Int>?
        var transparentIndex: Int?
        /// GIF89a, section 23.
        var disposal: FrameDisposal
        /// The delay as the file states it.
        var delay: Duration
        /// The start of the compressed pixels: the byte with the size of the first codes.
        var data: Int
        /// False if the bytes end before the pixels do.
        var isComplete: Bool
    }

    /// The logical screen, and all of the first frame: writers state screens that are too small, or none, which browsers enlarge alike.
    var screen: PixelSize
    var palette: Range<Int>?
    /// The number of times that the animation is played according to the first extension, 0 to repeat it forever; `nil` without
    /// an extension.
    private(set) var statedLoopCount: Int?
    private(set) var xmp: Data?
    var frames: [Frame] = []
    /// True if the end of the file was seen.
    var hasTrailer = false
    /// True if the bytes end in the middle of a block.
    private(set) var isTruncated = false

    init(_ data: Data, limits: DecodeLimits) throws(ImageError) {
        self = try data.withBytes { bytes throws(ImageError) in
            try Self(bytes, maximumFrames: limits.mostFrames)
        }
    }

    /// Reads the blocks of a file, or of its start.
    /// - Throws: ``ImageError/Code/truncatedImage`` if not even the size can be known, and
    ///   ``ImageError/Code/corruptImage``.
    /// - Complexity: O(file size / 255): pixels are stepped over.
    init(_ bytes: UnsafeRawBufferPointer, maximumFrames: Int) throws(ImageError) {
        var reader = LittleEndianReader(bytes)
        let signature = try reader.take(6)
        guard signature.elementsEqual("GIF87a".utf8) || signature.elementsEqual("GIF89a".utf8) else {
            throw .corrupt("the data doesn't start with the signature of a GIF")
        }
        screen = PixelSize(width: try reader.uint16(), height: try reader.uint16())
        let flags = try reader.byte()
        try reader.skip(2)
        do {
            palette = try Self.palette(flags, &reader)
            try readBlocks(&reader, maximumFrames: maximumFrames)
        } catch ImageError.Code.truncatedImage {
            isTruncated = true
        }
        if let first = frames.first?.rect, !first.size.isEmpty {
            screen = PixelSize(
                width: max(screen.width, first.x + first.size.width),
                height: max(screen.height, first.y + first.size.height))
        }
        if frames.isEmpty {
            if hasTrailer { throw .corrupt("the GIF has no frames") }
            guard !screen.isEmpty else { throw .truncated("the data ends before the size of the GIF is known") }
            isTruncated = true
        }
    }

    /// The properties of a frame that the extension in front of it states.
    private struct Control {
        var disposal = FrameDisposal.keep
        var delay = Duration.zero
        var transparentIndex: Int?
    }

    private mutating func readBlocks(_ reader: inout LittleEndianReader, maximumFrames: Int) throws(ImageError) {
        var control = Control()
        while !reader.isAtEnd {
            switch try reader.byte() {
            case 0x2C:
                try readFrame(&reader, control)
                control = Control()
                // One block more than allowed is enough to know.
                guard frames.count <= maximumFrames else { return }
            case 0x21:
                try readExtension(&reader, &control)
            case 0x3B:
                hasTrailer = true
                return
            default:
                // Bytes that aren't a block end the file for browsers too, if there is a frame to show.
                guard !frames.isEmpty else {
                    throw .corrupt("the GIF has an unknown block at byte \(reader.offset - 1)")
                }
                hasTrailer = true
                return
            }
        }
    }

    private mutating func readFrame(_ reader: inout LittleEndianReader, _ control: Control) throws(ImageError) {
        let x = try reader.uint16()
        let y = try reader.uint16()
        let size = PixelSize(width: try reader.uint16(), height: try reader.uint16())
        let flags = try reader.byte()
        let palette = try Self.palette(flags, &reader)
        let frame = Frame(
            rect: PixelRect(x: x, y: y, size: size), isInterlaced: flags & 0x40 != 0, palette: palette,
            transparentIndex: control.transparentIndex, disposal: control.disposal, delay: control.delay,
            data: reader.offset, isComplete: false)
        frames.append(frame)
        try reader.skip(1)
        try Self.skipSubBlocks(&reader)
        frames[frames.count - 1].isComplete = true
    }

    private mutating func readExtension(
        _ reader: inout LittleEndianReader, _ control: inout Control
    ) throws(ImageError) {
        let label = try reader.byte()
        let size = try reader.byte()
        guard size > 0 else { return }
        let block = try reader.take(size)
        switch label {
        case 0xF9 where size >= 4:
            var fields = LittleEndianReader(block)
            let flags = try fields.byte()
            control.delay = .milliseconds(10 * (try fields.uint16()))
            control.transparentIndex = flags & 1 == 0 ? nil : try fields.byte()
            control.disposal =
                switch flags >> 2 & 7 {
                case 2: .clear
                // Value 4 is written by tools that take the three bits for flags.
                case 3, 4: .restorePrevious
                default: .keep
                }
            try Self.skipSubBlocks(&reader)
        case 0xFF where block.elementsEqual("NETSCAPE2.0".utf8) || block.elementsEqual("ANIMEXTS1.0".utf8):
            var length = try reader.byte()
            while length > 0 {
                var fields = LittleEndianReader(try reader.take(length))
                if length >= 3, try fields.byte() & 7 == 1 {
                    let count = try fields.uint16()
                    statedLoopCount = statedLoopCount ?? count
                }
                length = try reader.byte()
            }
        case 0xFF where block.elementsEqual("XMP DataXMP".utf8) && xmp == nil:
            let start = reader.offset
            try Self.skipSubBlocks(&reader)
            xmp = reader.bytes.xmp(start..<reader.offset)
        default:
            try Self.skipSubBlocks(&reader)
        }
    }

    private static func palette(_ flags: Int, _ reader: inout LittleEndianReader) throws(ImageError) -> Range<Int>? {
        guard flags & 0x80 != 0 else { return nil }
        let start = reader.offset
        try reader.skip(3 << (flags & 7 + 1))
        return start..<reader.offset
    }

    private static func skipSubBlocks(_ reader: inout LittleEndianReader) throws(ImageError) {
        while true {
            let length = try reader.byte()
            if length == 0 { return }
            try reader.skip(length)
        }
    }
}

extension GIFBlocks {
    /// True if a picture of the animation may show the background.
    var hasAlpha: Bool {
        guard !frames.isEmpty else { return true }
        var gaps = CanvasGaps(canvas: screen)
        for frame in frames {
            gaps.add(frame.rect, isOpaque: frame.transparentIndex == nil, disposal: frame.disposal)
        }
        return gaps.isSeen
    }

    /// Notes that all pixels of the last frame are there, although the bytes end within its blocks.
    mutating func completeLastFrame() {
        guard isTruncated, !frames.isEmpty else { return }
        frames[frames.count - 1].isComplete = true
        isTruncated = false
    }

    /// True if nothing that was drawn before a frame shows in it or in later frames.
    func isKeyframe(_ index: Int) -> Bool {
        guard index > 0 else { return true }
        let before = frames[index - 1]
        if before.disposal == .clear, before.rect.covers(screen) { return true }
        let frame = frames[index]
        return frame.rect.covers(screen) && frame.transparentIndex == nil && frame.disposal != .restorePrevious
    }

    /// The number of times that the animation is played, 0 to repeat it forever.
    ///
    /// The file states how often it is repeated after the first time, and nothing for an animation that is played once.
    var loopCount: Int { statedLoopCount.map { $0 == 0 ? 0 : $0 + 1 } ?? 1 }

    var info: ImageInfo {
        let isAnimated = frames.count > 1
        var info = ImageInfo(
            format: .gif, size: screen, frameCount: max(1, frames.count), loopCount: isAnimated ? loopCount : nil,
            frameDurations: isAnimated ? frames.map { FrameTiming.played($0.delay) } : [], hasAlpha: hasAlpha,
            isComplete: hasTrailer)
        info.metadata.xmp = xmp
        return info
    }
}

extension UnsafeRawBufferPointer {
    /// The XMP packet in an extension of GIF, which isn't divided into blocks (XMP, part 3, section 1.1.2). Behind it the byte 1 and all
    /// numbers from 255 to 0 lead readers that take it for blocks to its end, and 0 is that end.
    fileprivate func xmp(_ blocks: Range<Int>) -> Data? {
        let end = blocks.upperBound - 258
        guard end > blocks.lowerBound, self[end] == 1, self[end + 1] == 0xFF, self[end + 256] == 0 else { return nil }
        return metadataBlock(blocks.lowerBound..<end)
    }
}
