internal import CKernels

/// Applies a matrix to every color.
struct ColorMatrixTransformer: ImageTransformer {
    var values: [Double]

    var key: String {
        TransformKey("colorMatrix").with("values", text: values.map(TransformKey.number).joined(separator: ":"))
            .description
    }

    func transform(_ image: Image) throws -> Image {
        let check = ParameterCheck("colorMatrix")
        guard let matrix = ColorMatrix(values) else { throw check.error("number of values", values.count, "20") }
        for (index, value) in values.enumerated() {
            // Larger numbers overflow in single precision.
            try check.check("number in row \(index / 5), column \(index % 5)", value, in: -1e6...1e6)
        }
        let context = ProcessingContext.current
        guard let columns = matrix.premultipliedColumns else {
            let columns = (0..<5).map { column in
                SIMD4<Float>(
                    Float(matrix[0, column]), Float(matrix[1, column]), Float(matrix[2, column]),
                    Float(matrix[3, column]))
            }
            return image.replacing(try Self.applied(columns, to: image.pixels, context), hasAlpha: true)
        }
        return image.replacing(try Self.applied(columns, to: image.pixels, context))
    }

    /// Applies the columns of a matrix to premultiplied pixels.
    static func applied(
        _ columns: [Float], to pixels: PixelBuffer, _ context: ProcessingContext
    ) throws(ImageError) -> PixelBuffer {
        let kernels = ComponentRow.kernels
        guard pixels.format == .rgba8 else {
            return try pixels.mappingComponents(context) { row, _ in
                guard let base = UnsafeMutableRawPointer(row.baseAddress) else { return }
                kernels.matrix(base.assumingMemoryBound(to: Float.self), columns, row.count)
            }
        }
        let target = try context.buffer(pixels.size, format: .rgba8)
        for y in 0..<pixels.height {
            try context.checkCancellation(row: y)
            pixels.withRow(y) { row in
                guard let source = row.baseAddress else { return }
                kernels.matrix8(
                    target.row(y).assumingMemoryBound(to: UInt8.self), source.assumingMemoryBound(to: UInt8.self),
                    columns, pixels.width)
            }
        }
        return target.freeze()
    }

    /// Applies five columns to straight pixels.
    private static func applied(
        _ columns: [SIMD4<Float>], to pixels: PixelBuffer, _ context: ProcessingContext
    ) throws(ImageError) -> PixelBuffer {
        let isLimited = pixels.format != .rgbaFloat16
        let (red, green, blue, alpha, offset) = (columns[0], columns[1], columns[2], columns[3], columns[4])
        return try pixels.mappingComponents(context) { row, _ in
            for x in row.indices {
                let pixel = row[x].straight
                var result = red * pixel.x + green * pixel.y
                result += blue * pixel.z + alpha * pixel.w + offset
                if isLimited { result.clamp(lowerBound: .zero, upperBound: .one) }
                result.w = min(max(result.w, 0), 1)
                row[x] = result.premultiplied
            }
        }
    }
}

extension ImageTransformer where Self == ImageTransformers {
    /// A transformer that applies a matrix of four rows and five columns to every color.
    ///
    /// Colors are straight, gamma-encoded RGBA, whose components range from 0 to 1. The rows produce red, green, blue and alpha, and the
    /// fifth column is added, as in SVG's `feColorMatrix` (Filter Effects Module Level 1).
    /// - Parameter values: the 20 numbers, row by row. Another count throws ``ImageError/Code/transformFailed``.
    public static func colorMatrix(_ values: [Double]) -> ImageTransformers {
        ImageTransformers([ColorMatrixTransformer(values: values)])
    }

    package static func colorMatrix(_ matrix: ColorMatrix) -> ImageTransformers { colorMatrix(matrix.values) }

    /// A transformer that removes color.
    /// - Parameter amount: 0 to change nothing, 1 for gray.
    public static func grayscale(_ amount: Double = 1) -> ImageTransformers { colorMatrix(.grayscale(amount)) }

    /// A transformer that gives the image brown tones.
    /// - Parameter amount: 0 to change nothing, 1 for brown tones alone.
    public static func sepia(_ amount: Double = 1) -> ImageTransformers { colorMatrix(.sepia(amount)) }

    /// A transformer that inverts color.
    /// - Parameter amount: 0 to change nothing, 0.5 for uniform gray, 1 to invert.
    public static func invert(_ amount: Double = 1) -> ImageTransformers { colorMatrix(.invert(amount)) }

    /// A transformer that multiplies the distance from gray.
    /// - Parameter amount: 0 for gray, 1 to change nothing, more for stronger color.
    public static func saturation(_ amount: Double) -> ImageTransformers { colorMatrix(.saturation(amount)) }

    /// A transformer that multiplies color.
    /// - Parameter amount: 0 for black, 1 to change nothing, more for brighter color.
    public static func brightness(_ amount: Double) -> ImageTransformers { colorMatrix(.brightness(amount)) }

    /// A transformer that multiplies the distance from medium gray.
    /// - Parameter amount: 0 for gray, 1 to change nothing, more for stronger contrast.
    public static func contrast(_ amount: Double) -> ImageTransformers { colorMatrix(.contrast(amount)) }

    /// A transformer that turns the hue, as SVG's `hueRotate` does.
    /// - Parameter degrees: the angle on the color wheel.
    public static func hueRotation(degrees: Double) -> ImageTransformers {
        colorMatrix(.hueRotation(degrees: degrees))
    }
}

extension ImageTransformer {
    /// Returns a sequence that then applies a matrix of four rows and five columns to every color.
    /// - Parameter values: the 20 numbers, row by row.
    public func colorMatrix(_ values: [Double]) -> ImageTransformers { then(.colorMatrix(values)) }

    /// Returns a sequence that then removes color.
    /// - Parameter amount: 0 to change nothing, 1 for gray.
    public func grayscale(_ amount: Double = 1) -> ImageTransformers { then(.grayscale(amount)) }

    /// Returns a sequence that then gives the result brown tones.
    /// - Parameter amount: 0 to change nothing, 1 for brown tones alone.
    public func sepia(_ amount: Double = 1) -> ImageTransformers { then(.sepia(amount)) }

    /// Returns a sequence that then inverts color.
    /// - Parameter amount: 0 to change nothing, 0.5 for uniform gray, 1 to invert.
    public func invert(_ amount: Double = 1) -> ImageTransformers { then(.invert(amount)) }

    /// Returns a sequence that then multiplies the distance from gray.
    /// - Parameter amount: 0 for gray, 1 to change nothing, more for stronger color.
    public func saturation(_ amount: Double) -> ImageTransformers { then(.saturation(amount)) }

    /// Returns a sequence that then multiplies color.
    /// - Parameter amount: 0 for black, 1 to change nothing, more for brighter color.
    public func brightness(_ amount: Double) -> ImageTransformers { then(.brightness(amount)) }

    /// Returns a sequence that then multiplies the distance from medium gray.
    /// - Parameter amount: 0 for gray, 1 to change nothing, more for stronger contrast.
    public func contrast(_ amount: Double) -> ImageTransformers { then(.contrast(amount)) }

    /// Returns a sequence that then turns the hue.
    /// - Parameter degrees: the angle on the color wheel.
    public func hueRotation(degrees: Double) -> ImageTransformers { then(.hueRotation(degrees: degrees)) }
}
