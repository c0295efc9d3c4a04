/// The part of a source, from its upper left corner on, that a resampled picture shows: a size in pixels that need not be whole.
///
/// A JPEG decoder that reduces while it decodes rounds sides up: of 1593 columns at an eighth it gives 200, of which the picture
/// fills 199.125. Taken for 200, a thumbnail would be stretched.
package struct ResampledExtent: Equatable, Sendable {
    package var width: Double
    package var height: Double

    package init(width: Double, height: Double) {
        self.width = width
        self.height = height
    }

    /// All of a size.
    package init(_ size: PixelSize) { self.init(width: Double(size.width), height: Double(size.height)) }
}
