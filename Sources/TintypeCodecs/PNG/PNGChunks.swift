internal import FoundationEssentials
internal import TintypeImages

/// The chunks of a PNG file (PNG, third edition, section 5), read without decoding any pixel.
struct PNGChunks {
    static let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    private static let endChunk: [UInt8] = [0, 0, 0, 0, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60, 0x82]

    /// `IHDR` (section 11.2.1).
    struct Header {
        var size: PixelSize
        var bitDepth: Int
        var colorType: UInt8
        var isInterlaced: Bool
        /// The chunk's 13 bytes.
        var bytes: [UInt8]

        var isIndexed: Bool { colorType == 3 }
        var isGray: Bool { colorType & 2 == 0 }
        var bitsPerPixel: Int { bitDepth * (isIndexed ? 1 : (isGray ? 1 : 3) + Int(colorType & 4) / 4) }
        /// The bytes of a row of a width in pixels, without the filter's byte.
        func rowBytes(_ width: Int) -> Int { (width * bitsPerPixel + 7) / 8 }
    }

    private(set) var header: Header
    /// True with an alpha channel or transparent colors.
    private(set) var hasAlpha: Bool
    private(set) var profileName: String?
    /// The code points of `cICP`, which take precedence over a profile (section 4.3).
    private(set) var codePoints: CodePoints?
    /// The chunk of the profile, whole.
    private var profileChunk: Range<Int>?
    private(set) var metadata = ImageMetadata()
    private var textKinds: Set<PNGText.Kind> = []
    private(set) var orientation = Orientation.up
    /// The bytes of the chunks that say how the data of any frame is to be read, whole: `tRNS`, and the `PLTE` of indexed colors.
    private(set) var sharedChunks: [Range<Int>] = []
    /// The contents of the first run of `IDAT` chunks that are there whole.
    private(set) var imageData: [Range<Int>] = []
    /// True if there is a palette that only suggests colors, and need not make sense.
    private(set) var hasSuggestedPalette = false
    /// The start of the chunk of data that the end of the bytes cuts off.
    private(set) var cutChunk: Int?
    /// The animation; `nil` for an image that does not move, and where its chunks contradict each other.
    private(set) var animation: PNGAnimation?
    /// True if a chunk says that there is an animation, even if none of its frames has come yet.
    private(set) var announcesAnimation = false
    /// False if the bytes end before the end chunk.
    private(set) var isComplete = false
    /// True if the bytes end with a whole chunk, or within the end chunk.
    private(set) var endsAtEndChunk = false
    /// False if the bytes end before the pixels start.
    private(set) var hasPixelData = false

    /// A palette of 256 colors. More is wrong, and would be copied for each frame of an animation.
    private static let largestSharedChunk = 768
    /// More of a type than two say no more than that there is more than one.
    private static let mostSharedChunks = 2
    /// No file has more. A frame takes 200 bytes, and its chunks 54.
    private static let maximumCount = 1 << 18

    /// - Throws: ``ImageError/Code/truncatedImage`` if the header chunk is not there whole,
    ///   ``ImageError/Code/corruptImage`` if it makes no sense, and ``ImageError/Code/limitExceeded`` for too many chunks.
    /// - Complexity: O(chunks).
    init(_ bytes: UnsafeRawBufferPointer) throws(ImageError) {
        guard bytes.count >= 8 else { throw Self.truncation }
        guard bytes.prefix(8).elementsEqual(Self.signature) else {
            throw Self.corruption("the data doesn't start with the signature of a PNG")
        }
        guard bytes.count >= 8 + 8 + 13 else { throw Self.truncation }
        guard bytes.bigEndian32(at: 8) == 13, Self.type(bytes, 8) == .ihdr else {
            throw Self.corruption(
                bytes[12..<16].elementsEqual("CgBI".utf8)
                    ? "the file is in Xcode's variant of PNG for Apple devices (CgBI), which isn't supported"
                    : "the first chunk of the PNG isn't its header")
        }
        header = try Self.header(bytes, at: 16)
        hasAlpha = header.colorType & 4 != 0
        var animation = PNGAnimation.Parser(canvas: header.size)
        var offset = 8
        var previous = ChunkType.ihdr
        var rawProfiles = ImageMetadata()
        var count = 0
        while let length = bytes.bigEndian32(at: offset), offset + 8 <= bytes.count {
            let payload = offset + 8..<offset + 8 + length
            let type = Self.type(bytes, offset)
            guard length < 1 << 31, payload.upperBound + 4 <= bytes.count else {
                if type == .idat {
                    hasPixelData = true
                    cutChunk = offset
                }
                break
            }
            let next = payload.upperBound + 4
            count += 1
            guard count <= Self.maximumCount else {
                throw ImageError(
                    .limitExceeded, stage: .decode, reason: "the PNG has more than \(Self.maximumCount) chunks")
            }
            read(type, payload, of: bytes, rawProfiles: &rawProfiles)
            animation.read(type, payload, of: bytes)
            if type == .plte, !header.isIndexed {
                hasSuggestedPalette = true
            } else if type == .plte || type == .trns, !hasPixelData, length <= Self.largestSharedChunk,
                sharedChunks.count(where: { Self.type(bytes, $0.lowerBound) == type }) < Self.mostSharedChunks
            {
                sharedChunks.append(offset..<next)
            }
            if type == .iccp, profileChunk == nil, !hasPixelData { profileChunk = offset..<next }
            if type == .idat, previous == .idat || imageData.isEmpty { imageData.append(payload) }
            previous = type
            offset = next
            if type == .iend {
                isComplete = true
                break
            }
        }
        endsAtEndChunk = !isComplete && Self.endChunk.starts(with: bytes[offset...])
        // The chunks that are made for a block come first.
        metadata.exif = metadata.exif ?? rawProfiles.exif
        metadata.xmp = metadata.xmp ?? rawProfiles.xmp
        (metadata.iptc, metadata.iptcDigest) = (rawProfiles.iptc, rawProfiles.iptcDigest)
        orientation = Orientation(exif: metadata.exif, xmp: metadata.xmp)
        self.animation = animation.finish(isComplete: isComplete)
    }

    init(_ data: Data) throws(ImageError) {
        self = try data.withBytes { bytes throws(ImageError) in try Self(bytes) }
    }

    /// Notes that all pixels of the last frame are there, although the bytes end before the end chunk.
    mutating func completeLastFrame() {
        isComplete = true
        if let count = animation?.frames.count { animation?.wholeFrames = count }
    }

    /// Returns the embedded color profile; `nil` if there is none that can be read.
    /// - Parameter bytes: the same as the initializer's.
    func profile(in bytes: UnsafeRawBufferPointer) -> Data? {
        if let codePoints { return isHighDynamicRange ? nil : codePoints.profile }
        guard let profileChunk, let contents = Self.checkedContents(profileChunk, of: bytes) else { return nil }
        return PNGProfile.read(bytes[contents], isGray: header.isGray)
    }

    private mutating func read(
        _ type: ChunkType, _ payload: Range<Int>, of bytes: UnsafeRawBufferPointer, rawProfiles: inout ImageMetadata
    ) {
        switch type {
        case .idat: hasPixelData = true
        // An animation without frames doesn't count.
        case .actl: announcesAnimation = bytes.bigEndian32(at: payload.lowerBound) != 0
        case .trns: hasAlpha = true
        case .cicp where payload.count == 4 && !hasPixelData && codePoints == nil:
            let points = CodePoints(
                primaries: Int(bytes[payload.lowerBound]), transfer: Int(bytes[payload.lowerBound + 1]))
            // Red, green and blue in full range are all that can be.
            guard bytes[payload.lowerBound + 2] == 0, bytes[payload.lowerBound + 3] == 1 else { break }
            codePoints = points
            profileName = points.isSRGB ? nil : points.name
        case .iccp where profileName == nil && codePoints == nil:
            // A name in Latin-1, then a zero.
            let name = bytes[payload].prefix(79).prefix { $0 != 0 }
            profileName = String(decoding: name.map { UInt16($0) }, as: UTF16.self)
        case .exif where metadata.exif == nil:
            metadata.exif = bytes.exifBlock(in: payload).flatMap { bytes.metadataBlock($0) }
        case .itxt, .ztxt, .text:
            // Only the first of a kind is read: to inflate many would take time.
            guard let text = PNGText(type, payload, of: bytes), textKinds.insert(text.kind).inserted else { break }
            if text.kind == .xmp {
                metadata.xmp = text.contents(of: bytes, maximumBytes: ImageMetadata.maximumBlockBytes)
            } else if let digits = text.contents(of: bytes, maximumBytes: PNGRawProfile.maximumTextBytes),
                let block = PNGRawProfile.block(digits)
            {
                rawProfiles.read(rawProfile: block, text.kind)
            }
        default: break
        }
    }

    private static func header(_ bytes: UnsafeRawBufferPointer, at offset: Int) throws(ImageError) -> Header {
        let width = bytes.bigEndian32(at: offset) ?? 0
        let height = bytes.bigEndian32(at: offset + 4) ?? 0
        let size = PixelSize(width: width, height: height)
        guard !size.isEmpty, max(width, height) < 1 << 31 else {
            throw corruption("the PNG has the invalid size \(size)")
        }
        return Header(
            size: size, bitDepth: Int(bytes[offset + 8]), colorType: bytes[offset + 9],
            isInterlaced: bytes[offset + 12] != 0, bytes: Array(bytes[offset..<offset + 13]))
    }

    static func type(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> ChunkType {
        ChunkType(rawValue: UInt32(truncatingIfNeeded: bytes.bigEndian32(at: offset + 4) ?? 0))
    }

    private static var truncation: ImageError {
        ImageError(.truncatedImage, stage: .decode, reason: "the PNG ends within its header")
    }

    private static func corruption(_ reason: String) -> ImageError {
        ImageError(.corruptImage, stage: .decode, reason: reason)
    }

    /// The four letters of a chunk's type.
    struct ChunkType: RawRepresentable, Equatable {
        let rawValue: UInt32
        init(rawValue: UInt32) { self.rawValue = rawValue }
        init(_ name: StaticString) {
            rawValue = UnsafeRawBufferPointer(start: name.utf8Start, count: 4).reduce(0) { $0 << 8 | UInt32($1) }
        }

        /// The letters as bytes.
        var bytes: [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: rawValue >> $0) } }

        static let ihdr = Self("IHDR"), plte = Self("PLTE"), trns = Self("tRNS"), iccp = Self("iCCP"),
            cicp = Self("cICP")
        static let exif = Self("eXIf"), itxt = Self("iTXt"), idat = Self("IDAT"), iend = Self("IEND")
        static let text = Self("tEXt"), ztxt = Self("zTXt"), srgb = Self("sRGB")
        static let actl = Self("acTL"), fctl = Self("fcTL"), fdat = Self("fdAT")
    }
}
