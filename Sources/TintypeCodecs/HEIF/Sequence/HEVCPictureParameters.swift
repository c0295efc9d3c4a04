#if HEIF
internal import TintypeImages

/// The description of the pictures in a sequence parameter set (ITU-T H.265, section 7.3.2.2), limited to the facts that determine a
/// decoder's memory.
struct HEVCPictureParameters: Equatable {
    /// In whole coding blocks.
    let codedSize: PixelSize
    /// Without the rows and columns outside the conformance window.
    let size: PixelSize
    /// Of luma; chroma has as many.
    let bits: Int
    /// The number of pixels that share a number of chroma.
    let chroma: PlanarPicture.Chroma
    /// The bytes that the planes of a picture take.
    let byteCount: Int

    /// The type of a NAL unit that holds such a set (table 7-1).
    private static let unitType = 33

    /// - Returns: `nil` for NAL units of other kinds.
    init?(unit: UnsafeRawBufferPointer) throws(ImageError) {
        guard unit.count > 2, HEVCUnit(unit)?.type == Self.unitType else { return nil }
        var bits = BitReader(UnsafeRawBufferPointer(rebasing: unit.dropFirst(2)))
        try bits.skip(4)
        let subLayers = try bits.read(3)
        try bits.skip(1)
        // The profile and level of the whole, then of the layers within.
        try bits.skip(96)
        let flags = subLayers > 0 ? try bits.read(16) : 0
        for layer in 0..<subLayers {
            if flags >> (15 - 2 * layer) & 1 != 0 { try bits.skip(88) }
            if flags >> (14 - 2 * layer) & 1 != 0 { try bits.skip(8) }
        }
        _ = try bits.exponential()
        let chroma = try bits.exponential()
        guard chroma <= 3 else { throw .corrupt("the HEVC pictures have the unknown chroma format \(chroma)") }
        if chroma == 3, try bits.read(1) == 1 { throw Self.unsupported("separately coded planes") }
        let (width, height) = (try bits.exponential(), try bits.exponential())
        // As far as libde265 goes, and more than the levels of HEVC allow.
        guard 1...65_535 ~= width, 1...65_535 ~= height else {
            throw .corrupt("the HEVC pictures have the invalid size \(width)x\(height)")
        }
        codedSize = PixelSize(width: width, height: height)
        var cut = [0, 0, 0, 0]
        if try bits.read(1) == 1 { for side in 0..<4 { cut[side] = try bits.exponential() } }
        let (across, down) = (chroma == 1 || chroma == 2 ? 2 : 1, chroma == 1 ? 2 : 1)
        size = PixelSize(width: width - across * (cut[0] + cut[1]), height: height - down * (cut[2] + cut[3]))
        guard !size.isEmpty else { throw .corrupt("the cropping of the HEVC pictures leaves no pixels") }
        let depth = (luma: try bits.exponential() + 8, chroma: try bits.exponential() + 8)
        guard depth.luma <= 12, chroma == 0 || depth.luma == depth.chroma else {
            throw Self.unsupported("\(depth.luma) and \(depth.chroma) bits for luma and chroma")
        }
        self.bits = depth.luma
        self.chroma = [.none, .half, .halfWidth, .full][chroma]
        byteCount = codedSize.pixelCount * [2, 3, 4, 6][chroma] / 2 * (depth.luma > 8 ? 2 : 1)
    }

    private static func unsupported(_ what: String) -> ImageError {
        ImageError(.formatNotEnabled, stage: .decode, reason: "HEVC pictures with \(what) aren't supported")
    }
}

/// The header of a NAL unit (section 7.3.1.2).
struct HEVCUnit {
    let type: Int
    /// Above 0 for units of further views or finer layers.
    let layer: Int

    init?(_ unit: UnsafeRawBufferPointer) {
        guard let header = unit.bigEndian16(at: 0) else { return nil }
        type = header >> 9 & 63
        layer = header >> 3 & 63
    }

    /// True for a part of a picture; false for parameters and messages.
    var isSlice: Bool { type < 32 }
    /// True for a part of a picture that decoding can start with.
    var standsAlone: Bool { 16...23 ~= type }
}

/// Reads bits, the highest first, and leaves out the bytes that keep start codes from appearing (section 7.3.1.1).
private struct BitReader {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0
    private var zeros = 0
    private var current = 0
    private var available = 0

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    private mutating func bit() throws(ImageError) -> Int {
        if available == 0 {
            if zeros >= 2, offset < bytes.count, bytes[offset] == 3 { (offset, zeros) = (offset + 1, 0) }
            guard offset < bytes.count else { throw .corrupt("a parameter set of the HEVC pictures ends too early") }
            current = Int(bytes[offset])
            zeros = current == 0 ? zeros + 1 : 0
            (offset, available) = (offset + 1, 8)
        }
        available -= 1
        return current >> available & 1
    }

    mutating func read(_ count: Int) throws(ImageError) -> Int {
        var value = 0
        for _ in 0..<count { value = value << 1 | (try bit()) }
        return value
    }

    mutating func skip(_ count: Int) throws(ImageError) { for _ in 0..<count { _ = try bit() } }

    /// A number in Exp-Golomb code of order 0 (section 9.2), under 2³².
    mutating func exponential() throws(ImageError) -> Int {
        var zeros = 0
        while try bit() == 0 {
            zeros += 1
            guard zeros <= 32 else { throw .corrupt("a parameter set of the HEVC pictures has an invalid number") }
        }
        return (1 << zeros) - 1 + (try read(zeros))
    }
}
#endif
