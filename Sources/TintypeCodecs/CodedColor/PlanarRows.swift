#if AVIF || HEIF
internal import TintypeImages

/// Makes premultiplied RGBA of the planes of a decoded picture, row by row.
struct PlanarRows: ~Copyable {
    /// The transparency of a picture: a plane whose numbers take all values.
    struct Alpha {
        let plane: PlanarPicture.Plane
        let bits: Int
        /// The part that belongs to the part of the picture that is shown.
        let aperture: PixelRect
    }

    private let image: YCbCrRows
    private let bits: Int
    private let aperture: PixelRect
    private let alpha: Alpha?
    private let isPremultiplied: Bool
    private let deep: DeepRows

    /// - Parameters:
    ///   - image: A consistent picture.
    ///   - aperture: The part of the picture that is shown. It lies within.
    ///   - alpha: The transparency, if there is any. Its aperture is as large, and lies within its plane.
    ///   - isPremultiplied: Whether colors are multiplied by alpha in the file.
    ///   - coding: The meaning of the picture's numbers.
    ///   - color: The treatment of the picture's colors.
    /// - Throws: ``ImageError/Code/corruptImage`` for a matrix that can't be undone.
    init(
        image: PlanarPicture, aperture: PixelRect, alpha: Alpha?, isPremultiplied: Bool, coding: ColorCoding,
        color: CodedColor
    ) throws(ImageError) {
        guard image.chroma == nil || YCbCrMatrix.isSupported(coding.matrix, image.layout) else {
            throw .corrupt(
                "the image has the matrix coefficients \(coding.matrix) (ITU-T H.273), which aren't supported")
        }
        // A gray picture has no chroma, even if it states a matrix; without a matrix, chroma would be its red and blue.
        var coding = coding
        if image.chroma == nil, coding.matrix == 0 { coding.matrix = 2 }
        self.image = YCbCrRows(image, matrix: YCbCrMatrix(coding, bits: image.bits))
        self.aperture = aperture
        self.isPremultiplied = isPremultiplied
        self.alpha = alpha
        bits = image.bits
        deep = DeepRows(bits: image.bits, color: color)
    }

    /// Writes row `y` of the part that is shown.
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
                image.convert(aperture.y + y, from: aperture.x, count: count, to: base)
                setAlpha(y, of: base, maximum: 1 << bits - 1)
                deep.convert(base, to: row, count: count, premultiplies: alpha != nil)
            }
        }
    }

    /// Writes the numbers of the alpha plane into the row.
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
            // Colors are converted straight.
            for component in x * 4..<x * 4 + 3 {
                let product = Int(row[component])
                row[component] = Number(
                    truncatingIfNeeded: value == 0 ? 0 : min(maximum, (product * maximum + value / 2) / value))
            }
        }
    }
}
#endif
