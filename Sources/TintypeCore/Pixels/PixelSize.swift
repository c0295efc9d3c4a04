/// A width and a height in pixels.
public struct PixelSize: Hashable, Sendable, CustomStringConvertible {
    public var width: Int
    public var height: Int

    public init(width: Int, height: Int) {
        self.width = width
        self.height = height
    }

    public static let zero = PixelSize(width: 0, height: 0)

    /// True if a side is zero or negative: no image has such a size.
    public var isEmpty: Bool { width <= 0 || height <= 0 }

    /// `width × height`, or `Int.max` where that does not fit.
    public var pixelCount: Int {
        let (count, overflow) = width.multipliedReportingOverflow(by: height)
        return overflow ? .max : count
    }

    /// Width and height exchanged.
    public var transposed: PixelSize { PixelSize(width: height, height: width) }

    public var description: String { "\(width)x\(height)" }
}

extension PixelSize {
    /// This size scaled to fit into a box.
    ///
    /// The side that the box bounds becomes exactly the box's; with `preservingAspectRatio` the other follows, rounded up,
    /// and is at least 1. A size or box with an empty side leaves the size as it is.
    /// - Parameter upscaling: whether a size smaller than the box may grow. Without, each side is at most what it was.
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

    /// The largest size of this shape whose pixels, in `frames` frames of `bytesPerPixel`, take at most `limit` bytes;
    /// each side is at least 1.
    public func scaled(toBytes limit: Int, bytesPerPixel: Int = 4, frames: Int = 1) -> PixelSize {
        guard !isEmpty else { return PixelSize(width: 1, height: 1) }
        let pixels = max(1, limit / max(1, bytesPerPixel) / max(1, frames))
        if pixelCount <= pixels { return self }
        let scaledWidth = max(1, Int((Double(pixels) * Double(width) / Double(height)).squareRoot()))
        let scaledHeight = max(1, Int(Double(scaledWidth) * Double(height) / Double(width)))
        return PixelSize(width: scaledWidth, height: scaledHeight)
    }

    /// `side × numerator / denominator`, rounded up, at least 1; in floating point only where the product overflows.
    private static func derivedSide(_ side: Int, _ numerator: Int, _ denominator: Int) -> Int {
        let (product, overflow) = side.multipliedReportingOverflow(by: numerator)
        if overflow {
            let exact = (Double(side) * (Double(numerator) / Double(denominator))).rounded(.up)
            return exact >= Double(Int.max) ? .max : max(1, Int(exact))
        }
        return max(1, product / denominator + (product % denominator == 0 ? 0 : 1))
    }
}
