/// How stored pixels must be turned to stand upright: the eight values of the EXIF tag 0x0112 (Exif 2.32, 4.6.4 A).
///
/// Coders apply the orientation once, while they decode; an ``Image`` is always upright.
public enum Orientation: Int, Sendable, Hashable, CaseIterable {
    /// Upright as stored.
    case up = 1
    /// Mirrored left to right.
    case upMirrored = 2
    /// Turned by 180°.
    case down = 3
    /// Mirrored top to bottom.
    case downMirrored = 4
    /// Mirrored along the diagonal from the top left to the bottom right.
    case leftMirrored = 5
    /// To be turned 90° clockwise.
    case right = 6
    /// Mirrored along the other diagonal.
    case rightMirrored = 7
    /// To be turned 90° counter-clockwise.
    case left = 8

    /// True for the four orientations that exchange width and height.
    public var swapsSides: Bool { rawValue >= 5 }

    /// The size that a stored size is shown at.
    public func display(_ stored: PixelSize) -> PixelSize { swapsSides ? stored.transposed : stored }

    /// The stored size that is shown at a size: the inverse of ``display(_:)``.
    public func stored(_ display: PixelSize) -> PixelSize { swapsSides ? display.transposed : display }
}
