/// The part of a source, starting at its upper left corner, that a resampled picture shows: a size in pixels that can be
/// fractional.
///
/// A JPEG decoder that scales while it decodes rounds sides up: at an eighth, 1593 columns become 200, and the picture
/// fills 199.125 of them. If all 200 were used, a thumbnail would be stretched.
package struct ResampledExtent: Equatable, Sendable {
    package var width: Double
    package var height: Double

    package init(width: Double, height: Double) {
        self.width = width
        self.height = height
    }

    /// Creates the extent of a whole size.
    package init(_ size: PixelSize) { self.init(width: Double(size.width), height: Double(size.height)) }
}
