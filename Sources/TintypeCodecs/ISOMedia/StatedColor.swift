#if AVIF || HEIF
internal import FoundationEssentials
internal import TintypeImages

/// The colors that the boxes of a picture state.
struct StatedColor: Equatable {
    var profile: Data?
    /// The statement of a `colr` box of the kind `nclx`.
    private(set) var coding: ColorCoding?

    /// More bytes than any profile has.
    private static let maximumProfile = 16 << 20

    /// - Parameter copy: Copies a profile.
    init(
        _ boxes: [MediaBox], copy: (UnsafeRawBufferPointer) -> Data = { Data($0) }
    ) throws(ImageError) {
        for box in boxes where box.type == "colr" {
            var reader = box.reader
            switch try reader.letters() {
            case "prof", "rICC":
                guard profile == nil, reader.remaining <= Self.maximumProfile else { continue }
                profile = copy(try reader.take(reader.remaining))
            case "nclx":
                let codePoints = CodePoints(primaries: try reader.uint16(), transfer: try reader.uint16())
                let matrix = try reader.uint16()
                coding = ColorCoding(
                    codePoints: codePoints, matrix: matrix, isFullRange: try reader.uint8() & 0x80 != 0)
            default: break
            }
        }
    }

    /// True if no box states anything.
    var isEmpty: Bool { profile == nil && coding == nil }

    /// Returns the colors of a derived image that is made of an image with these: the derived image's profile and code points, if it states
    /// any. The matrix and the range say how the numbers are coded, so they stay.
    func replacingColors(by derived: StatedColor) -> StatedColor {
        guard !derived.isEmpty else { return self }
        var color = derived
        if var coding {
            coding.codePoints = derived.coding?.codePoints ?? coding.codePoints
            color.coding = coding
        }
        return color
    }
}
#endif
