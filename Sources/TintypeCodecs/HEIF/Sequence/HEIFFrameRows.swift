#if HEIF
internal import TintypeCore

/// Makes premultiplied RGBA of 8 bits of the decoded planes of one frame, row by row.
struct HEIFFrameRows: ~Copyable {
    private let image: YCbCrRows
    private let bits: Int
    private let aperture: PixelRect
    private let alpha: (plane: PlanarPicture.Plane, bits: Int, aperture: PixelRect)?
    private let isPremultiplied: Bool
    private let color: CodedColor
    private let deep: DeepRows

    init(
        image: PlanarPicture, aperture: PixelRect, alpha: PlanarPicture?, alphaAperture: PixelRect?,
        isPremultiplied: Bool, coding: ColorCoding, color: CodedColor
    ) {
        self.image = YCbCrRows(image, matrix: YCbCrMatrix(coding, bits: image.bits))
        self.aperture = aperture
        self.isPremultiplied = isPremultiplied
        self.color = color
        bits = image.bits
        deep = DeepRows(bits: image.bits, color: color)
        self.alpha =
            if let alpha, let alphaAperture { (alpha.luma, alpha.bits, alphaAperture) } else { nil }
    }

    func convert(_ y: Int, to row: UnsafeMutableRawPointer) {
        let count = aperture.size.width
        if bits == 8 {
            withUnsafeTemporaryAllocation(byteCount: count * 4, alignment: 16) { straight in
                guard let base = straight.baseAddress else { return }
                image.convert(aperture.y + y, from: aperture.x, count: count, to: base)
                setAlpha(y, of: base.assumingMemoryBound(to: UInt8.self), maximum: 255)
                deep.convert(bytes: base, to: row, count: count, premultiplies: alpha != nil)
            }
        } else {
            withUnsafeTemporaryAllocation(of: UInt16.self, capacity: count * 4) { straight in
                guard let base = straight.baseAddress else { return }
                image.convert(aperture.y + y, from: aperture.x, count: count, toDeep: base)
                setAlpha(y, of: base, maximum: 1 << bits - 1)
                deep.convert(base, to: row, count: count, premultiplies: alpha != nil)
            }
        }
    }

    /// Puts the numbers of the alpha plane, which take all values whatever the pictures say, into the row.
    private func setAlpha<Number: FixedWidthInteger>(_ y: Int, of row: UnsafeMutablePointer<Number>, maximum: Int) {
        guard let alpha else { return }
        let source = alpha.plane.base + (alpha.aperture.y + y) * alpha.plane.bytesPerRow
        if alpha.bits == 8 {
            let numbers = source.assumingMemoryBound(to: UInt8.self) + alpha.aperture.x
            setAlpha(numbers, 255, of: row, maximum: maximum)
        } else {
            let numbers = source.assumingMemoryBound(to: UInt16.self) + alpha.aperture.x
            setAlpha(numbers, 1 << alpha.bits - 1, of: row, maximum: maximum)
        }
    }

    @inline(__always)
    private func setAlpha<Source: FixedWidthInteger, Number: FixedWidthInteger>(
        _ source: UnsafePointer<Source>, _ last: Int, of row: UnsafeMutablePointer<Number>, maximum: Int
    ) {
        for x in 0..<aperture.size.width {
            let stated = min(Int(source[x]), last)
            let value = last == maximum ? stated : (stated * maximum + last / 2) / last
            row[x * 4 + 3] = Number(truncatingIfNeeded: value)
            guard isPremultiplied else { continue }
            // Colours are converted straight.
            for component in x * 4..<x * 4 + 3 {
                let product = Int(row[component])
                row[component] = Number(
                    truncatingIfNeeded: value == 0 ? 0 : min(maximum, (product * maximum + value / 2) / value))
            }
        }
    }
}
#endif
