#if HEIF
internal import FoundationEssentials
internal import TintypeImages

/// The parameters that a decoder needs before the first sample of a track: the box `hvcC` (ISO/IEC 14496-15, section 8.3.3.1).
struct HEVCConfiguration {
    /// Bytes that state the length of a NAL unit within a sample: 1...4.
    let lengthBytes: Int
    /// The parameter sets, each a NAL unit.
    let parameterSets: [Data]

    init(_ box: UnsafeRawBufferPointer) throws(ImageError) {
        var reader = BoxReader(box)
        try reader.skip(21)
        lengthBytes = try reader.uint8() & 3 + 1
        var sets: [Data] = []
        for _ in 0..<(try reader.uint8()) {
            try reader.skip(1)
            for _ in 0..<(try reader.uint16()) { sets.append(Data(try reader.take(try reader.uint16()))) }
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

    /// Gives the NAL units of a sample in their order.
    func forEachUnit(
        of sample: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws(ImageError) -> Void
    ) throws(ImageError) {
        var reader = BoxReader(sample)
        while !reader.isAtEnd {
            var length = 0
            for _ in 0..<lengthBytes { length = length << 8 | (try reader.uint8()) }
            try body(try reader.take(length))
        }
    }
}
#endif
