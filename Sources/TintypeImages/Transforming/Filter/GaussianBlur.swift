internal import CKernels

/// Blurs pixels with a Gaussian filter. Pixels at the edges are repeated beyond them.
///
/// A small standard deviation uses the Gaussian itself: see ``DirectGaussian``. For a larger one, three extended
/// box filters take its place (Gwosdek et al., "Theoretical foundations of Gaussian convolution by extended box filtering",
/// 2011), whose time hardly depends on the deviation.
///
/// - Complexity: O(pixels), and O(deviation) for each row and column; memory for two lines of the longer side with four
///   deviations, and for boxes also for a buffer of 16-bit pixels.
struct GaussianBlur {
    let sigma: Double
    /// True to blur light instead of encoded components.
    let isLinear: Bool

    /// The standard deviation where boxes take the place of the Gaussian. They differ by less than 3 % of the contrast.
    static let boxThreshold = 2.0

    /// The same for 8-bit pixels, where the Gaussian is faster than boxes up to here.
    static let fixedBoxThreshold = 7.0

    /// Returns the blurred pixels.
    /// - Parameter format: the format of the result; `nil` for the pixels' own.
    func blurred(
        _ pixels: PixelBuffer, format: PixelFormat? = nil, _ context: ProcessingContext
    ) throws(ImageError) -> PixelBuffer {
        let format = format ?? pixels.format
        // A smaller one has no weight beside the pixel itself, and its square may be zero.
        guard sigma > 0.05 else { return try pixels.converted(to: format, pool: context.pool) }
        if pixels.format == .rgba8, format == .rgba8, !isLinear, sigma < Self.fixedBoxThreshold {
            return try DirectGaussian<UInt16>(sigma: sigma).blurred(pixels, format: format, context)
        }
        return sigma < Self.boxThreshold
            ? try DirectGaussian<Float>(sigma: sigma, isLinear: isLinear).blurred(pixels, format: format, context)
            : try withBoxes(pixels, format, context)
    }

    private static let passes = 3

    /// The number of vectors on each side that a box includes in full, the weight of these, and the weight of another.
    private var box: (radius: Int, weight: Float, endWeight: Float) {
        let variance = sigma * sigma / Double(Self.passes)
        let radius = (((12 * variance + 1).squareRoot() - 1) / 2).rounded(.down)
        let fraction =
            (2 * radius + 1) * (radius * (radius + 1) - 3 * variance)
            / (6 * (variance - (radius + 1) * (radius + 1)))
        let weight = 1 / (2 * (radius + fraction) + 1)
        return (Int(radius), Float(weight), Float(weight * fraction))
    }

    private func withBoxes(
        _ source: PixelBuffer, _ format: PixelFormat, _ context: ProcessingContext
    ) throws(ImageError) -> PixelBuffer {
        let target = try context.buffer(source.size, format: format)
        let middle = try context.buffer(
            source.size, format: source.format == .rgbaFloat16 ? .rgbaFloat16 : .rgba16)
        let side = max(source.width, source.height)
        let length = (side + 2 * margin) * 16
        let scratch = try context.scratch(floats: 2 * length + source.width * 4)
        let line = scratch.base.bindMemory(to: Float.self, capacity: scratch.count / 4)
        let lines = (line, line + length)
        try blurRows(source, to: middle, lines, row: line + 2 * length, context)
        try blurColumns(middle, to: target, lines, context)
        return target.freeze()
    }

    /// Blurs four rows at once.
    private func blurRows(
        _ source: PixelBuffer, to target: borrowing MutablePixelBuffer,
        _ lines: (UnsafeMutablePointer<Float>, UnsafeMutablePointer<Float>), row: UnsafeMutablePointer<Float>,
        _ context: ProcessingContext
    ) throws(ImageError) {
        let kernels = ComponentRow.kernels
        let width = source.width
        let (start, result) = (lines.0 + margin * 16, lines.1 + margin * 16)
        for top in stride(from: 0, to: source.height, by: 4) {
            try context.checkCancellation(row: top)
            for lane in 0..<4 {
                source.unpackRow(min(top + lane, source.height - 1), to: row)
                if isLinear { LinearLight.decode(ComponentRow.pixels(row, width)) }
                kernels.spread(start, row, lane, width)
            }
            applyBoxes(lines, count: width)
            for lane in 0..<min(4, source.height - top) {
                kernels.gather(row, result, lane, width)
                ComponentRow.pack(row, to: target.row(top + lane), pixels: width, format: target.format)
            }
        }
    }

    /// Blurs four columns at once.
    private func blurColumns(
        _ source: borrowing MutablePixelBuffer, to target: borrowing MutablePixelBuffer,
        _ lines: (UnsafeMutablePointer<Float>, UnsafeMutablePointer<Float>), _ context: ProcessingContext
    ) throws(ImageError) {
        let kernels = ComponentRow.kernels
        let height = source.height
        let (start, result) = (lines.0 + margin * 16, lines.1 + margin * 16)
        let isDirect = source.format == .rgba16 && target.format != .rgbaFloat16 && !isLinear
        for left in stride(from: 0, to: source.width, by: 4) {
            try context.checkCancellation(row: left)
            let from = source.row(0) + left * 8
            let to = target.row(0) + left * target.format.bytesPerPixel
            // Rows are padded to 64 bytes, so four columns always exist.
            if isDirect {
                let bytes = from.assumingMemoryBound(to: UInt8.self)
                kernels.read_columns16(start, bytes, source.bytesPerRow, height)
            } else {
                for y in 0..<height {
                    ComponentRow.unpack(
                        from + y * source.bytesPerRow, to: start + y * 16, pixels: min(4, source.width - left),
                        format: source.format)
                }
            }
            applyBoxes(lines, count: height)
            let bytes = to.assumingMemoryBound(to: UInt8.self)
            switch (isDirect, target.format) {
            case (true, .rgba8): kernels.write_columns8(bytes, target.bytesPerRow, result, height)
            case (true, _): kernels.write_columns16(bytes, target.bytesPerRow, result, height)
            case (false, let format):
                for y in 0..<height {
                    let pixels = ComponentRow.pixels(result + y * 16, min(4, source.width - left))
                    if isLinear { LinearLight.encode(pixels) }
                    ComponentRow.pack(
                        result + y * 16, to: to + y * target.bytesPerRow, pixels: pixels.count, format: format)
                }
            }
        }
    }

    /// The vectors before and after a line. The result of two boxes on repeated pixels has to be in the line, because it
    /// isn't constant.
    private var margin: Int { (Self.passes - 1) * (box.radius + 1) }

    /// Applies all boxes to the first line, after repeating its ends. The result is in the second buffer.
    private func applyBoxes(
        _ lines: (UnsafeMutablePointer<Float>, UnsafeMutablePointer<Float>), count vectors: Int
    ) {
        let (radius, weight, endWeight) = box
        let margin = margin
        let count = vectors + 2 * margin
        for index in 0..<margin {
            (lines.0 + index * 16).update(from: lines.0 + margin * 16, count: 16)
            (lines.0 + (margin + vectors + index) * 16).update(from: lines.0 + (margin + vectors - 1) * 16, count: 16)
        }
        ComponentRow.kernels.boxes(lines.0, lines.1, count, radius, weight, endWeight)
    }
}
