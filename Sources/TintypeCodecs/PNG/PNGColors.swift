internal import CUnfilter
internal import TintypeImages

/// The colors of a picture of 8 bits that has at most 256, in the order in which they came.
struct PNGColors {
    /// The colors as they are in the picture, and where the kernels find each.
    private let table: [UInt32]
    private let places: [UInt16]
    private let hasAlpha: Bool
    /// Straight RGBA, four bytes each.
    let straight: [UInt8]

    var count: Int { straight.count / 4 }

    /// Finds the colors. A photograph ends the search in its first rows.
    /// - Parameters:
    ///   - hasAlpha: false to take all pixels for opaque.
    ///   - most: the most colors, up to 256.
    /// - Returns: `nil` for a picture of more colors, or of 16 bits.
    init?(of pixels: PixelBuffer, hasAlpha: Bool, most: Int) {
        guard pixels.format == .rgba8 else { return nil }
        var table = [UInt32](repeating: 0, count: Int(CUNFILTER_COLORS))
        var places = [UInt16](repeating: 0, count: Int(CUNFILTER_PLACES))
        var count: Int32 = 0
        for y in 0..<pixels.height {
            count = pixels.withRow(y) { row in
                cunfilter_find_colors(
                    &table, &places, count, Int32(most), row.baseAddress, pixels.width, hasAlpha ? 1 : 0)
            }
            guard count >= 0 else { return nil }
        }
        var straight = [UInt8](repeating: 0, count: Int(count) * 4)
        table.withUnsafeBytes { source in
            straight.withUnsafeMutableBytes { target in
                guard let source = source.baseAddress, let target = target.baseAddress else { return }
                Premultiplication.unpremultiply(source, into: target, count: Int(count))
            }
        }
        self.table = table
        self.places = places
        self.hasAlpha = hasAlpha
        self.straight = straight
    }

    /// Writes the numbers of pixels of the picture, with 1, 2, 4 or 8 bits each.
    /// - Parameter numbers: the number of each color.
    func pack(
        _ pixels: UnsafeRawPointer, as numbers: [UInt8], bits: Int, to row: UnsafeMutablePointer<UInt8>, count: Int
    ) {
        cunfilter_pack_colors(row, pixels, count, hasAlpha ? 1 : 0, table, places, numbers, Int32(bits))
    }
}
