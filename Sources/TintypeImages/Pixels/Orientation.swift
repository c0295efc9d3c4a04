/// The transformation that turns stored pixels upright: the eight values of the EXIF tag 0x0112 (Exif 2.32, 4.6.4 A).
///
/// Coders apply the orientation once, while they decode; an ``Image`` is always upright.
public enum Orientation: Int, Sendable, Hashable, Codable, CaseIterable {
    /// The stored pixels are upright.
    case up = 1
    /// Mirrored left to right.
    case upMirrored = 2
    /// Rotated by 180°.
    case down = 3
    /// Mirrored top to bottom.
    case downMirrored = 4
    /// Mirrored along the diagonal from the top left to the bottom right.
    case leftMirrored = 5
    /// Needs a clockwise rotation by 90°.
    case right = 6
    /// Mirrored along the other diagonal.
    case rightMirrored = 7
    /// Needs a counterclockwise rotation by 90°.
    case left = 8

    /// True for the four orientations that exchange width and height.
    package var swapsSides: Bool { rawValue >= 5 }

    /// Returns the upright size for a stored size.
    /// - Parameter stored: the size of the stored pixels.
    package func display(_ stored: PixelSize) -> PixelSize { swapsSides ? stored.transposed : stored }

    /// Returns the stored size for an upright size: the inverse of ``display(_:)``.
    /// - Parameter display: the upright size.
    package func stored(_ display: PixelSize) -> PixelSize { swapsSides ? display.transposed : display }
}
