#if HEIF
internal import TintypeCore

/// A picture as video decoders give it: a plane for luma and two for chroma. Valid as long as the decoder's memory.
struct PlanarPicture {
    struct Plane {
        let base: UnsafeRawPointer
        /// From one row to the next.
        let bytesPerRow: Int
        let size: PixelSize
    }

    /// How many pixels share a chroma number.
    enum Chroma: Equatable {
        case none, full, halfWidth, half
    }

    let luma: Plane
    /// The difference to blue, and that to red; `nil` in a gray picture.
    let chroma: (blue: Plane, red: Plane)?
    let layout: Chroma
    /// Of a number; above 8 it takes two bytes in the machine's order.
    let bits: Int

    var size: PixelSize { luma.size }

    /// Whether the planes have the sizes that the layout asks for, and rows are long enough.
    var isConsistent: Bool {
        func holds(_ plane: Plane, _ size: PixelSize) -> Bool {
            plane.size.width >= size.width && plane.size.height >= size.height
                && plane.bytesPerRow >= plane.size.width * (bits > 8 ? 2 : 1)
        }
        guard (8...12).contains(bits), !size.isEmpty, holds(luma, size) else { return false }
        guard let chroma else { return layout == .none }
        let (width, height) = (size.width, size.height)
        let needed: PixelSize
        switch layout {
        case .none: return false
        case .full: needed = size
        case .halfWidth: needed = PixelSize(width: (width + 1) / 2, height: height)
        case .half: needed = PixelSize(width: (width + 1) / 2, height: (height + 1) / 2)
        }
        return holds(chroma.blue, needed) && holds(chroma.red, needed)
    }
}
#endif
