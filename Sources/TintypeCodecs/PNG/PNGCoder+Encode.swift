internal import CPNGShim
public import FoundationEssentials
public import TintypeCore

extension PNGCoder {
    /// Writes the image as PNG without loss; an animation with all its frames.
    ///
    /// Pixels of 16 bits are written with 16 bits, those of an animation with 8. Without alpha, three components are written. The ICC profile of an image in another colour space than sRGB is
    /// embedded. The pixels come back exactly as they are.
    /// - Throws: ``ImageError/Code/encodeFailed`` if the file takes more than ``EncodeOptions/maximumBytes``.
    public func encode(_ image: Image, as format: ImageFormat, options: EncodeOptions) throws(ImageError) -> Data {
        let isMoving = image.isAnimated && !options.firstFrameOnly
        let image = try EncodePreparation.prepare(
            image, as: .png, options, maximumSide: Int(Int32.max), formats: isMoving ? [] : [.rgba16])
        let file = try image.isAnimated ? encodeAnimation(image, options) : encodeFrame(image, image.pixels, options)
        guard file.count <= options.maximumBytes ?? .max else {
            throw EncodePreparation.tooLarge(options.maximumBytes, .png)
        }
        return file
    }

    private func encodeFrame(
        _ image: Image, _ pixels: PixelBuffer, _ options: EncodeOptions
    ) throws(ImageError) -> Data {
        try PNGWriter().write(
            pixels, size: pixels.size, hasAlpha: image.hasAlpha, profile: image.colorSpace.profile,
            isInterlaced: options.progressive)
    }

    /// Writes the first frame as the default image, and of each further one the rectangle in which it differs.
    private func encodeAnimation(_ image: Image, _ options: EncodeOptions) throws(ImageError) -> Data {
        var file = Data()
        var sequenceNumber = 0
        func number() -> [UInt8] {
            defer { sequenceNumber += 1 }
            return PNGChunk.bigEndian(sequenceNumber)
        }
        for (index, frame) in image.frames.enumerated() {
            let area =
                index == 0
                ? PixelRect(size: image.size)
                : PixelRect(covering: frame.pixels, differingFrom: image.frames[index - 1].pixels)
            let picture = try PNGWriter().write(
                frame.pixels, x: area.x, y: area.y, size: area.size, hasAlpha: image.hasAlpha,
                profile: image.colorSpace.profile, isInterlaced: options.progressive)
            try Self.forEachChunk(of: picture) { type, contents in
                switch type {
                case .ihdr where index == 0:
                    file.append(contentsOf: PNGChunks.signature)
                    PNGChunk.append(type, contents, to: &file)
                    PNGChunk.append(
                        .actl, PNGChunk.bigEndian(image.frames.count) + PNGChunk.bigEndian(image.loopCount), to: &file)
                case .idat:
                    if index == 0 {
                        if sequenceNumber == 0 {
                            PNGChunk.append(.fctl, number() + Self.control(area, frame.duration), to: &file)
                        }
                        PNGChunk.append(type, contents, to: &file)
                    } else {
                        PNGChunk.append(.fdat, number() + contents, to: &file)
                    }
                case .iend where index == image.frames.count - 1: PNGChunk.append(type, contents, to: &file)
                case .ihdr where index > 0:
                    PNGChunk.append(.fctl, number() + Self.control(area, frame.duration), to: &file)
                case .ihdr, .iend: break
                default: if index == 0 { PNGChunk.append(type, contents, to: &file) }
                }
            }
        }
        return file
    }

    /// A frame control without its sequence number: nothing is disposed of, and pixels are replaced.
    private static func control(_ area: PixelRect, _ duration: Duration) -> [UInt8] {
        let milliseconds = Int(min(max(duration.inMilliseconds.rounded(), 0), 65_535_000))
        // Delays of more than 65 s are written in seconds.
        let (numerator, denominator) =
            milliseconds <= 65_535 ? (milliseconds, 1_000) : (milliseconds / 1_000, 1)
        return [area.size.width, area.size.height, area.x, area.y].flatMap(PNGChunk.bigEndian)
            + [numerator >> 8, numerator & 0xFF, denominator >> 8, denominator & 0xFF].map(UInt8.init)
            + [PNGAnimation.Disposal.none.rawValue, 0]
    }

    private static func forEachChunk(
        of file: Data, _ body: (PNGChunks.ChunkType, [UInt8]) -> Void
    ) throws(ImageError) {
        try file.withBytes { bytes throws(ImageError) in
            var offset = 8
            while let length = bytes.bigEndian32(at: offset), offset + 12 + length <= bytes.count {
                let type = PNGChunks.ChunkType(rawValue: UInt32(bytes.bigEndian32(at: offset + 4) ?? 0))
                body(type, Array(bytes[offset + 8..<offset + 8 + length]))
                offset += 12 + length
            }
        }
    }
}
