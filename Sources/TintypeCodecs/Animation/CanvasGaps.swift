internal import TintypeImages

/// The treatment of a frame's part of the canvas before the next frame is drawn. The numbers are the same as PNG's.
enum FrameDisposal: UInt8, Sendable {
    case keep, clear, restorePrevious
}

/// The part of an animation's canvas that may be transparent, as far as the places of the frames tell.
///
/// Follows a decoder's changes to the canvas, but keeps only a rectangle that holds all gaps. A gap is taken for closed when a
/// single opaque frame covers all of it.
struct CanvasGaps {
    private let canvas: PixelSize
    private var gap: PixelRect?
    /// True once a frame has been shown over a gap.
    private(set) var isSeen = false

    /// An untouched canvas.
    init(canvas: PixelSize) {
        self.canvas = canvas
        gap = PixelRect(size: canvas)
    }

    /// Draws a frame, shows the canvas, and disposes of the frame.
    /// - Parameter isOpaque: true if every pixel of the frame is opaque.
    mutating func add(_ rect: PixelRect, isOpaque: Bool, disposal: FrameDisposal) {
        let before = gap
        if isOpaque, let gap, rect.contains(gap) { self.gap = nil }
        if gap != nil { isSeen = true }
        switch disposal {
        case .keep: break
        case .clear:
            guard let cleared = rect.clipped(to: canvas) else { break }
            gap = gap?.union(cleared) ?? cleared
        case .restorePrevious: gap = before
        }
    }
}

extension PixelRect {
    fileprivate func contains(_ other: PixelRect) -> Bool {
        x <= other.x && y <= other.y && maxX >= other.maxX && maxY >= other.maxY
    }

    fileprivate func union(_ other: PixelRect) -> PixelRect {
        let (left, top) = (min(x, other.x), min(y, other.y))
        return PixelRect(
            x: left, y: top, size: PixelSize(width: max(maxX, other.maxX) - left, height: max(maxY, other.maxY) - top))
    }
}
