#if HEIF
internal import FoundationEssentials
internal import TintypeImages

/// Makes pixels of planned images.
struct ItemRenderer {
    struct Picture {
        var pixels: PixelBuffer
        var colorSpace: ColorSpace
        var isHighDynamicRange: Bool
    }

    let table: ItemTable
    let options: DecodeOptions
    let context: ProcessingContext
    /// The format of images that lie on a canvas; else the options decide.
    var layerFormat: PixelFormat?

    /// - Parameters:
    ///   - output: The size to decode at, upright.
    ///   - whole: The image that a thumbnail shows. It states the depth, and the colors of a thumbnail that states none.
    func render(_ image: ItemImage, to output: PixelSize, of whole: HEIFPlan? = nil) throws(ImageError) -> Picture {
        var plan = image.plan
        if let whole, plan.color.isEmpty { plan.color = whole.color }
        if case .layers(let layers, let background) = plan.content {
            return try compose(layers, on: background, plan, to: output)
        }
        let aperture = plan.view.aperture
        let stored = plan.view.orientation.stored(output)
        guard let rows = PictureRows(plan, part: aperture, output: stored, table: table, context: context) else {
            throw .corrupt("the HEIF image has no planes")
        }
        // The colors that the pictures state are known only with the first pictures.
        let first = try rows.window(with: aperture.y)
        let coding = plan.color.coding ?? rows.coding ?? ColorCoding(codePoints: .sRGB, matrix: 2, isFullRange: true)
        let isHighDynamicRange = plan.color.profile == nil && coding.codePoints.isHighDynamicRange
        let format =
            layerFormat
            ?? options.pixelFormat(bitsPerComponent: (whole ?? plan).bits, isHighDynamicRange: isHighDynamicRange)
        guard layerFormat == nil || format == .rgba8 || isHighDynamicRange == (format == .rgbaFloat16) else {
            throw ImageError(
                .formatNotEnabled, stage: .decode,
                reason:
                    "an image on the canvas of the HEIF file has high dynamic range that only its bitstream states, "
                    + "which isn't supported")
        }
        try context.limits.check(size: aperture.size, output: output, bytesPerPixel: format.bytesPerPixel)
        let color = CodedColor(
            profile: plan.color.profile, codePoints: coding.codePoints, isGray: plan.isGray,
            keepsColorSpace: options.keepsColorSpace, format: format, bitsPerComponent: plan.bits)
        let alpha =
            if let alpha = image.alpha { try AlphaRows(alpha, of: plan, table: table, context: context) } else {
                nil as AlphaRows?
            }
        var sink = try RowSink(
            stored: aperture.size, output: output, orientation: plan.view.orientation, format: format,
            context: context)
        var (window, y) = (first, 0)
        while y < aperture.size.height {
            if !window.rows.contains(aperture.y + y) { window = try rows.window(with: aperture.y + y) }
            let transparency = try alpha?.rows(at: y)
            let end = min(
                window.rows.upperBound - aperture.y, transparency?.end ?? aperture.size.height, aperture.size.height)
            let converter = try PlanarRows(
                image: window.planes,
                aperture: PixelRect(x: aperture.x, y: aperture.y - window.top, size: aperture.size),
                alpha: transparency?.alpha, isPremultiplied: image.isPremultiplied, coding: coding, color: color)
            while y < end {
                converter.convert(y, to: sink.rowToFill())
                try sink.commitRow()
                y += 1
            }
        }
        withExtendedLifetime((rows, alpha)) {}
        return Picture(
            pixels: try sink.finish(), colorSpace: color.colorSpace, isHighDynamicRange: isHighDynamicRange)
    }

    // MARK: Layers

    /// Draws images onto a canvas, in sRGB, or in extended sRGB if all are in high dynamic range.
    private func compose(
        _ layers: [HEIFPlan.Layer], on background: SIMD4<UInt16>, _ plan: HEIFPlan, to output: PixelSize
    ) throws(ImageError) -> Picture {
        var options = DecodeOptions()
        options.allowsPartialImage = self.options.allowsPartialImage
        options.decodeToHDR = self.options.decodeToHDR
        let format =
            layerFormat
            ?? options.pixelFormat(bitsPerComponent: plan.bits, isHighDynamicRange: plan.isHighDynamicRange)
        try context.limits.check(size: plan.size, output: output, bytesPerPixel: format.bytesPerPixel)
        let canvas = try MutablePixelBuffer(size: plan.size, format: format, pool: context.pool)
        let fill = SIMD4<Float>(background) / 65_535
        let color = PixelColor(red: fill.x, green: fill.y, blue: fill.z, alpha: fill.w)
        for y in 0..<plan.size.height {
            PixelBlending.fill(canvas.row(y), with: color, count: plan.size.width, format: format)
        }
        let renderer = ItemRenderer(table: table, options: options, context: context, layerFormat: format)
        for layer in layers {
            let size = layer.image.plan.view.displaySize
            let place = PixelRect(x: layer.x, y: layer.y, size: size)
            // Parts outside the canvas aren't decoded.
            guard let visible = place.clipped(to: plan.size) else { continue }
            let pixels = try renderer.render(layer.image, to: size).pixels
            for y in 0..<visible.size.height {
                let target = canvas.row(visible.y + y) + visible.x * format.bytesPerPixel
                pixels.withRow(visible.y + y - layer.y) { row in
                    guard let base = row.baseAddress else { return }
                    PixelBlending.blend(
                        UnsafeRawPointer(base) + (visible.x - layer.x) * format.bytesPerPixel, over: target,
                        count: visible.size.width, format: format)
                }
            }
        }
        let colorSpace: ColorSpace = format == .rgbaFloat16 ? .extendedSRGB : .sRGB
        let aperture = plan.view.aperture
        let pixels: PixelBuffer
        if aperture == PixelRect(x: 0, y: 0, size: plan.size), plan.view.orientation == .up, output == plan.size {
            pixels = canvas.freeze()
        } else {
            var sink = try RowSink(
                stored: aperture.size, output: output, orientation: plan.view.orientation, format: format,
                context: context)
            for y in 0..<aperture.size.height {
                sink.rowToFill().copyMemory(
                    from: canvas.row(aperture.y + y) + aperture.x * format.bytesPerPixel,
                    byteCount: aperture.size.width * format.bytesPerPixel)
                try sink.commitRow()
            }
            withExtendedLifetime(canvas.freeze()) {}
            pixels = try sink.finish()
        }
        return Picture(pixels: pixels, colorSpace: colorSpace, isHighDynamicRange: format == .rgbaFloat16)
    }
}

/// The transparency of an image, from the top to the bottom of the part that is shown.
private final class AlphaRows {
    private let rows: PictureRows
    private let aperture: PixelRect
    private let bits: Int
    /// The whole plane in the size of the image, if the file has it in another.
    private let enlarged: ScratchBytes?
    private let image: HEIFPlan

    /// - Parameter image: The plan of the image that the transparency belongs to. It is turned like that.
    init(
        _ alpha: HEIFPlan, of image: HEIFPlan, table: ItemTable, context: ProcessingContext
    ) throws(ImageError) {
        self.image = image
        bits = alpha.bits
        // A picture as large as the image's is cropped like it.
        let isAlike = alpha.size == image.size
        let fits = isAlike || alpha.view.aperture.size == image.view.aperture.size
        aperture = isAlike ? image.view.aperture : fits ? alpha.view.aperture : PixelRect(size: alpha.size)
        guard
            // Edges of blocks would show in transparency, which is often sharp.
            let rows = PictureRows(alpha, part: aperture, output: aperture.size, table: table, context: context)
        else {
            throw ImageError(
                .formatNotEnabled, stage: .decode,
                reason: "the alpha image of the HEIF file is composed of several images, which isn't supported")
        }
        self.rows = rows
        enlarged = fits ? nil : try Self.enlarge(rows, alpha, to: image.size, context)
    }

    /// Gives the transparency of a row of the part that is shown, and the end of the rows that come with it.
    func rows(at y: Int) throws(ImageError) -> (alpha: PlanarRows.Alpha, end: Int) {
        if let enlarged {
            let plane = PlanarPicture.Plane(
                base: UnsafeRawPointer(enlarged.base), bytesPerRow: image.size.width * (bits > 8 ? 2 : 1),
                size: image.size)
            return (PlanarRows.Alpha(plane: plane, bits: bits, aperture: image.view.aperture), .max)
        }
        let window = try rows.window(with: aperture.y + y)
        let shifted = PixelRect(x: aperture.x, y: aperture.y - window.top, size: aperture.size)
        return (
            PlanarRows.Alpha(plane: window.planes.luma, bits: bits, aperture: shifted),
            window.rows.upperBound - aperture.y
        )
    }

    /// The nearest number for each pixel of the image.
    private static func enlarge(
        _ rows: PictureRows, _ alpha: HEIFPlan, to size: PixelSize, _ context: ProcessingContext
    ) throws(ImageError) -> ScratchBytes {
        let bytes = alpha.bits > 8 ? 2 : 1
        guard let plane = ScratchBytes(size.pixelCount * bytes, pool: context.pool) else {
            throw ImageError(.outOfMemory, stage: .decode, reason: "there isn't enough memory for \(size) pixels")
        }
        for y in 0..<size.height {
            let row = y * alpha.size.height / size.height
            let window = try rows.window(with: row)
            let source = window.planes.luma.base + (row - window.top) * window.planes.luma.bytesPerRow
            let target = plane.base + y * size.width * bytes
            for x in 0..<size.width {
                let place = x * alpha.size.width / size.width
                (target + x * bytes).copyMemory(from: source + place * bytes, byteCount: bytes)
            }
        }
        return plane
    }
}
#endif
