#if HEIF
internal import CDE265
internal import TintypeImages

/// A picture in a decoder's memory.
struct HEVCPicture {
    let planes: PlanarPicture
    /// The pictures' own statement of their colors (ITU-T H.265, section E.3.1).
    let coding: ColorCoding

    /// - Parameter image: a `de265_image`.
    init(_ image: OpaquePointer, parameters: HEVCPictureParameters) throws(ImageError) {
        let layout: PlanarPicture.Chroma =
            switch de265_get_chroma_format(image) {
            case de265_chroma_420: .half
            case de265_chroma_422: .halfWidth
            case de265_chroma_444: .full
            default: .none
            }
        func plane(_ channel: Int32) throws(ImageError) -> PlanarPicture.Plane {
            var stride: Int32 = 0
            guard let base = de265_get_image_plane(image, channel, &stride) else {
                throw .corrupt("a frame of the HEIF file has no pixels")
            }
            let size = PixelSize(
                width: Int(de265_get_image_width(image, channel)), height: Int(de265_get_image_height(image, channel)))
            return PlanarPicture.Plane(base: UnsafeRawPointer(base), bytesPerRow: Int(stride), size: size)
        }
        planes = PlanarPicture(
            luma: try plane(0), chroma: layout == .none ? nil : (try plane(1), try plane(2)), layout: layout,
            bits: Int(de265_get_bits_per_pixel(image, 0)))
        guard planes.isConsistent, planes.size == parameters.size, planes.bits == parameters.bits else {
            throw .corrupt("the HEIF file states a size of \(parameters.size), but a frame has \(planes.size) pixels")
        }
        coding = ColorCoding(
            codePoints: CodePoints(
                primaries: Int(de265_get_image_colour_primaries(image)),
                transfer: Int(de265_get_image_transfer_characteristics(image))),
            matrix: Int(de265_get_image_matrix_coefficients(image)),
            isFullRange: de265_get_image_full_range_flag(image) != 0)
    }
}
#endif
