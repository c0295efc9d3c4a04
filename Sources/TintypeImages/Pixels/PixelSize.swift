/// A width and a height in pixels.
public struct PixelSize: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The number of columns.
    public var width: Int
    /// The number of rows.
    public var height: Int

    /// Creates a size. Each parameter sets the property of the same name.
    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    /// An empty size.
    public static let zero = PixelSize(width: 0, height: 0)

    /// True if a side is zero or negative. No image has such a size.
    public var isEmpty: Bool { width <= 0 || height <= 0 }

    /// The number of pixels, `width × height`, or `Int.max` if the product is too large.
    public var pixelCount: Int {
        let (count, overflow) = width.multipliedReportingOverflow(by: height)
        return overflow ? .max : count
    }

    /// True if a side is shorter than a size's, and none is longer.
    func isSmaller(than size: PixelSize) -> Bool { self != size && width <= size.width && height <= size.height }

    /// The size with width and height exchanged.
    package var transposed: PixelSize { PixelSize(width: height, height: width) }

    /// The width and the height, such as `1600x900`.
    public var description: String { "\(width)x\(height)" }
}

extension PixelSize {
    /// Returns this size scaled to fit into a box.
    ///
    /// The side that limits the size becomes equal to the box's. With `preservingAspectRatio`, the other side follows,
    /// rounded to the nearest number, at least 1. An empty size or box leaves the size unchanged.
    /// - Parameters:
    ///   - box: the box.
    ///   - preservingAspectRatio: true to preserve the proportions; false to stretch the size to the box.
    ///   - upscaling: true to allow a size smaller than the box to grow; false to never enlarge a side.
    /// - Returns: the scaled size.
    public func scaled(into box: PixelSize, preservingAspectRatio: Bool = true, upscaling: Bool = false) -> PixelSize {
        guard !isEmpty, !box.isEmpty else { return self }
        var result = box
        if preservingAspectRatio {
            // The box is wider than the image if box.width / box.height > width / height.
            if Double(box.width) * Double(height) > Double(box.height) * Double(width) {
                result.width = Self.derivedSide(box.height, width, height)
            } else {
                result.height = Self.derivedSide(box.width, height, width)
            }
            if !upscaling, result.width > width || result.height > height { return self }
        } else if !upscaling {
            result = PixelSize(width: min(box.width, width), height: min(box.height, height))
        }
        return result
    }

    /// Returns the smallest proportional size whose sides are at least as long as a box's, rounded up; this size if it is smaller.
    func scaled(toCover box: PixelSize) -> PixelSize {
        guard !isEmpty, !box.isEmpty, box.width < width, box.height < height else { return self }
        let isWide = Double(box.width) * Double(height) > Double(box.height) * Double(width)
        return isWide
            ? PixelSize(width: box.width, height: Self.derivedSide(box.width, height, width, .up))
            : PixelSize(width: Self.derivedSide(box.height, width, height, .up), height: box.height)
    }

    /// Returns the largest proportional size whose pixels use at most `limit` bytes, with `frames` frames of `bytesPerPixel`.
    ///
    /// Each side is at least 1. If the shorter side would be less, the longer side uses the whole limit.
    /// - Parameters:
    ///   - limit: the largest number of bytes.
    ///   - bytesPerPixel: the bytes of a pixel: 4 or 8.
    ///   - frames: the number of frames.
    package func scaled(toBytes limit: Int, bytesPerPixel: Int = 4, frames: Int = 1) -> PixelSize {
        guard !isEmpty else { return PixelSize(width: 1, height: 1) }
        let pixels = max(1, limit / max(1, bytesPerPixel) / max(1, frames))
        if pixelCount <= pixels { return self }
        let ideal = (Double(pixels) * Double(width) / Double(height)).squareRoot()
        let scaledWidth = max(1, ideal < Double(pixels) ? Int(ideal) : pixels)
        // If the width would be less than 1, the height uses the whole limit.
        let proportional = Double(scaledWidth) * Double(height) / Double(width)
        let room = pixels / scaledWidth
        let scaledHeight = max(1, proportional < Double(room) ? Int(proportional) : room)
        return PixelSize(width: scaledWidth, height: scaledHeight)
    }

    /// Returns `side × numerator / denominator`, rounded to the nearest integer or up, at least 1. Uses floating point only if the product
    /// overflows.
    private static func derivedSide(
        _ side: Int, _ numerator: Int, _ denominator: Int, _ rule: FloatingPointRoundingRule = .toNearestOrAwayFromZero
    ) -> Int {
        let (product, overflow) = side.multipliedReportingOverflow(by: numerator)
        if overflow {
            let exact = (Double(side) * (Double(numerator) / Double(denominator))).rounded(rule)
            return exact >= Double(Int.max) ? .max : max(1, Int(exact))
        }
        let (quotient, remainder) = product.quotientAndRemainder(dividingBy: denominator)
        let isRoundedUp = rule == .up ? remainder > 0 : remainder >= denominator - remainder
        return max(1, quotient + (isRoundedUp ? 1 : 0))
    }
}
