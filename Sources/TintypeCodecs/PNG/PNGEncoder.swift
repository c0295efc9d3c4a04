internal import FoundationEssentials
internal import TintypeImages

/// Puts a PNG file, still or animated, together from a file for each frame.
struct PNGEncoder {
    let job: EncodeJob
    let compressionLevel: Int

    func encode() throws(ImageError) -> Data {
        if job.isAnimated { return try animation() }
        var file = try still()
        // Profile and metadata stand right behind the signature and the header of 25 bytes.
        let metadata = try metadata()
        if !metadata.isEmpty, file.count > 33 { file.insert(contentsOf: metadata, at: file.startIndex + 33) }
        return file
    }

    /// Writes gray pixels as gray, and few colors as a palette if that makes the file smaller.
    private func still() throws(ImageError) -> Data {
        let image = job.image
        let area = PixelRect(size: image.size)
        // A gray file may not have a profile of RGB (section 11.3.2.3).
        let isGray = job.profile == nil && image.pixels.isGray
        func components() throws(ImageError) -> Data {
            let samples = PNGSamples(image.pixels.format, hasAlpha: image.hasAlpha, isGray: isGray)
            return try picture(image.pixels, area, samples)
        }
        guard let samples = PNGSamples(fewColorsOf: image.pixels, hasAlpha: image.hasAlpha, isGray: isGray) else {
            return try components()
        }
        let file = try picture(image.pixels, area, samples)
        // A palette makes a large opaque picture smaller. It is long beside a small one, and the soft edges of an icon are many of
        // its colors, but smooth alpha: four of five icons were smaller as RGBA.
        guard image.hasAlpha || image.size.pixelCount <= 1 << 16 else { return file }
        let other = try components()
        return other.count <= file.count ? other : file
    }

    private func picture(
        _ pixels: PixelBuffer, _ area: PixelRect, _ samples: PNGSamples
    ) throws(ImageError) -> Data {
        let filter = job.options.png.filter
        return try PNGPicture(
            pixels: pixels, area: area, samples: samples, isSRGB: job.profile == nil,
            isInterlaced: job.options.progressive, compressionLevel: compressionLevel,
            filter: samples.areNumbers && filter == .adaptive ? .none : filter, context: job.context
        ).file()
    }

    /// The chunks of the profile, of Exif (PNG, third edition, section 11.3.4.5) and XMP, which is international text, not
    /// compressed (XMP, part 3, section 1.1.5).
    private func metadata() throws(ImageError) -> Data {
        var chunks = Data()
        if let profile = job.profile, !PNGProfile.append(profile, to: &chunks) {
            throw ImageError(.outOfMemory, stage: .encode, reason: "there isn't enough memory to compress the profile")
        }
        if let exif = job.exif { PNGChunk.append(.exif, exif, to: &chunks) }
        if let xmp = job.xmp { PNGChunk.append(.itxt, Data("XML:com.adobe.xmp\0\0\0\0\0".utf8) + xmp, to: &chunks) }
        return chunks
    }

    /// Writes the first frame as the default image, and of each further frame the rectangle that differs.
    private func animation() throws(ImageError) -> Data {
        let image = job.image
        var file = Data()
        let metadata = try metadata()
        var sequenceNumber = 0
        func number() -> [UInt8] {
            defer { sequenceNumber += 1 }
            return PNGChunk.bigEndian(sequenceNumber)
        }
        let count = image.animation?.frameCount ?? 1
        let durations = job.milliseconds(atLeast: 0)
        var index = 0
        var previous: PixelBuffer?
        try job.forEachFrame { frame throws(ImageError) in
            defer { (index, previous) = (index + 1, frame.pixels) }
            let area =
                previous.map { PixelRect(covering: frame.pixels, differingFrom: $0) } ?? PixelRect(size: image.size)
            // Frames share a color type, which the first would have to choose before the others are decoded.
            let samples = PNGSamples(frame.pixels.format, hasAlpha: image.hasAlpha)
            try Self.forEachChunk(of: try picture(frame.pixels, area, samples)) { type, contents in
                switch type {
                case .ihdr where index == 0:
                    file.append(contentsOf: PNGChunks.signature)
                    PNGChunk.append(type, contents, to: &file)
                    file += metadata
                    PNGChunk.append(
                        .actl, PNGChunk.bigEndian(count) + PNGChunk.bigEndian(image.loopCount), to: &file)
                case .idat:
                    if index == 0 {
                        if sequenceNumber == 0 {
                            PNGChunk.append(.fctl, number() + Self.control(area, durations[index]), to: &file)
                        }
                        PNGChunk.append(type, contents, to: &file)
                    } else {
                        PNGChunk.append(.fdat, number() + contents, to: &file)
                    }
                case .iend where index == count - 1: PNGChunk.append(type, contents, to: &file)
                case .ihdr where index > 0:
                    PNGChunk.append(.fctl, number() + Self.control(area, durations[index]), to: &file)
                case .ihdr, .iend: break
                default: if index == 0 { PNGChunk.append(type, contents, to: &file) }
                }
            }
        }
        return file
    }

    /// A frame control without its sequence number: nothing is disposed of, and pixels are replaced.
    static func control(_ area: PixelRect, _ milliseconds: Int) -> [UInt8] {
        // Delays of more than 65 s are written in hundredths, tenths, or seconds, of which 65,535 fit.
        let unit = [1, 10, 100].first { (milliseconds + $0 / 2) / $0 <= 65_535 } ?? 1_000
        let (numerator, denominator) = (min((milliseconds + unit / 2) / unit, 65_535), 1_000 / unit)
        return [area.size.width, area.size.height, area.x, area.y].flatMap(PNGChunk.bigEndian)
            + [numerator >> 8, numerator & 0xFF, denominator >> 8, denominator & 0xFF].map(UInt8.init)
            + [FrameDisposal.keep.rawValue, 0]
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
