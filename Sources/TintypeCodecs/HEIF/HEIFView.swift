#if HEIF
internal import TintypeImages

/// The part of a picture that is shown, and the way it is turned: the transformative properties of an item, in any order (ISO/IEC
/// 23008-12, section 6.5).
struct HEIFView: Equatable {
    /// In pixels of the picture as it is stored.
    private(set) var aperture: PixelRect
    private(set) var orientation = Orientation.up

    init(_ size: PixelSize) { aperture = PixelRect(size: size) }

    /// The size of the image as it is shown.
    var displaySize: PixelSize { orientation.display(aperture.size) }

    /// The types of the properties that change the view.
    static let properties: Set<String> = ["clap", "irot", "imir"]

    /// Applies a property to the view so far; properties other than ``properties`` change nothing.
    ///
    /// An aperture that doesn't lie within the picture on whole pixels is ignored, as in sequences and AVIF.
    mutating func apply(_ property: MediaBox) throws(ImageError) {
        var reader = property.reader
        switch property.type {
        case "clap":
            if let rect = try PixelRect(cleanAperture: property, of: displaySize) { crop(rect) }
        case "irot":
            orientation = orientation.followed(
                by: Orientation(counterclockwiseQuarters: try reader.uint8() & 3, mirror: .none))
        case "imir":
            orientation = orientation.followed(
                by: Orientation(
                    counterclockwiseQuarters: 0, mirror: try reader.uint8() & 1 == 0 ? .topBottom : .leftRight))
        default: break
        }
    }

    /// - Parameter rect: A part of the image as it is shown so far.
    private mutating func crop(_ rect: PixelRect) {
        var (rect, width, height) = (rect, displaySize.width, displaySize.height)
        let (turns, mirrors) = orientation.parts
        for _ in 0..<turns {
            rect = PixelRect(x: rect.y, y: width - rect.maxX, size: rect.size.transposed)
            (width, height) = (height, width)
        }
        if mirrors { rect.x = width - rect.maxX }
        aperture = PixelRect(x: aperture.x + rect.x, y: aperture.y + rect.y, size: rect.size)
    }
}

extension Orientation {
    /// The parts of an orientation: a mirroring left to right, and then quarter turns clockwise.
    fileprivate var parts: (turns: Int, mirrors: Bool) {
        switch self {
        case .up: (0, false)
        case .right: (1, false)
        case .down: (2, false)
        case .left: (3, false)
        case .upMirrored: (0, true)
        case .rightMirrored: (1, true)
        case .downMirrored: (2, true)
        case .leftMirrored: (3, true)
        }
    }

    fileprivate func followed(by next: Orientation) -> Orientation {
        let (own, other) = (parts, next.parts)
        // A mirroring behind a turn equals a mirroring before a turn in the other direction.
        let turns = (other.turns + (other.mirrors ? 4 - own.turns : own.turns)) & 3
        return own.mirrors != other.mirrors
            ? [.upMirrored, .rightMirrored, .downMirrored, .leftMirrored][turns] : [.up, .right, .down, .left][turns]
    }
}
#endif
