#if HEIF
internal import FoundationEssentials
internal import TintypeImages

/// The parameters that a decoder needs before the first sample of a track: the box `hvcC` (ISO/IEC 14496-15, section 8.3.3.1).
struct HEVCConfiguration {
    /// Bytes that state the length of a NAL unit within a sample: 1...4.
    let lengthBytes: Int
    /// The parameter sets, each a NAL unit.
    let parameterSets: [Data]

    /// Sets have numbers: there are up to 16 of videos, 16 of sequences, and 64 of pictures, besides a few messages.
    private static let maximumSets = 256

    init(_ box: UnsafeRawBufferPointer) throws(ImageError) {
        var reader = BoxReader(box)
        try reader.skip(21)
        lengthBytes = try reader.uint8() & 3 + 1
        var sets: [Data] = []
        for _ in 0..<(try reader.uint8()) {
            try reader.skip(1)
            for _ in 0..<(try reader.uint16()) { sets.append(Data(try reader.take(try reader.uint16()))) }
            guard sets.count <= Self.maximumSets else {
                throw .corrupt("the HEVC configuration has more than \(Self.maximumSets) parameter sets")
            }
        }
        parameterSets = sets
    }

    /// The picture that the first sequence parameter set describes; `nil` if the sets are within the samples.
    func pictures() throws(ImageError) -> HEVCPictureParameters? {
        for set in parameterSets {
            let parameters = try set.withBytes { bytes throws(ImageError) in try HEVCPictureParameters(unit: bytes) }
            if let parameters { return parameters }
        }
        return nil
    }

    /// The picture that a parameter set within a sample describes.
    /// - Throws: ``ImageError/Code/corruptImage`` if there is none.
    func pictures(within sample: UnsafeRawBufferPointer) throws(ImageError) -> HEVCPictureParameters {
        var pictures: HEVCPictureParameters?
        try forEachUnit(of: sample) { unit throws(ImageError) in
            if pictures == nil { pictures = try HEVCPictureParameters(unit: unit) }
        }
        guard let pictures else { throw .corrupt("the HEIF file doesn't state the size of its images") }
        return pictures
    }

    /// True if the picture of a sample needs no other, as its first slice says.
    func standsAlone(_ sample: UnsafeRawBufferPointer) throws(ImageError) -> Bool {
        var reader = BoxReader(sample)
        while let unit = try nextUnit(&reader) {
            guard let header = HEVCUnit(unit), header.layer == 0, header.isSlice else { continue }
            return header.standsAlone
        }
        return false
    }

    /// Gives the NAL units of a sample in their order.
    func forEachUnit(
        of sample: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(ImageError) -> Void
    ) throws(ImageError) {
        var reader = BoxReader(sample)
        while let unit = try nextUnit(&reader) { try body(unit) }
    }

    /// The next NAL unit of a sample; `nil` after the last.
    private func nextUnit(_ reader: inout BoxReader) throws(ImageError) -> UnsafeRawBufferPointer? {
        guard !reader.isAtEnd else { return nil }
        var length = 0
        for _ in 0..<lengthBytes { length = length << 8 | (try reader.uint8()) }
        return try reader.take(length)
    }
}
#endif
