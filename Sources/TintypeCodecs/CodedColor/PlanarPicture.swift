#if AVIF || HEIF
internal import TintypeImages

/// A picture as video decoders give it: a plane for luma and two for chroma. It is valid as long as the decoder's memory.
struct PlanarPicture {
    struct Plane {
        let base: UnsafeRawPointer
        /// The bytes between the starts of rows.
        let bytesPerRow: Int
        let size: PixelSize
    }

    /// The number of pixels that share a chroma number.
    enum Chroma: Equatable {
        case none, full, halfWidth, half

        /// Returns the size of the chroma planes of a picture, or `nil` without chroma.
        func chromaSize(of size: PixelSize) -> PixelSize? {
            switch self {
            case .none: nil
            case .full: size
            case .halfWidth: PixelSize(width: (size.width + 1) / 2, height: size.height)
            case .half: PixelSize(width: (size.width + 1) / 2, height: (size.height + 1) / 2)
            }
        }
    }

    let luma: Plane
    /// The difference to blue, and that to red; `nil` in a gray picture.
    let chroma: (blue: Plane, red: Plane)?
    let layout: Chroma
    /// The bits of a number. With more than 8 it takes two bytes in the machine's order.
    let bits: Int

    var size: PixelSize { luma.size }

    /// True if the planes have the sizes that the layout requires, and rows are long enough.
    var isConsistent: Bool {
        func holds(_ plane: Plane, _ size: PixelSize) -> Bool {
            plane.size.width >= size.width && plane.size.height >= size.height
                && plane.bytesPerRow >= plane.size.width * (bits > 8 ? 2 : 1)
        }
        guard (8...12).contains(bits), !size.isEmpty, holds(luma, size) else { return false }
        guard let chroma else { return layout == .none }
        guard let needed = layout.chromaSize(of: size) else { return false }
        return holds(chroma.blue, needed) && holds(chroma.red, needed)
    }
}
#endif
