#if AVIF
internal import CAVIF
internal import TintypeImages

/// Makes premultiplied RGBA of the planes of a decoded AVIF frame, row by row, so that a thumbnail doesn't need the full bitmap.
///
/// libavif's own conversion isn't used: for the limited range of BT.709 and BT.2020 it computes blue with 6 bits, and it
/// doesn't interpolate the chroma of 12 bits.
struct AVIFPixels {
    let image: UnsafeMutablePointer<avifImage>
    /// The part of the frame that is shown.
    let crop: avifCropRect
    /// True if the frame's second picture is transparency.
    let hasAlpha: Bool
    let coding: ColorCoding
    let color: CodedColor
    let context: ProcessingContext

    /// Converts the frame.
    ///
    /// - Parameters:
    ///   - output: The requested size, upright.
    ///   - orientation: The orientation of the stored frame.
    /// - Throws: ``ImageError/Code/corruptImage`` for planes that can't be shown, and ``ImageError/Code/cancelled``.
    func convert(to output: PixelSize, orientation: Orientation) throws(ImageError) -> PixelBuffer {
        let picture = try PlanarPicture(avif: image.pointee)
        let shown = PixelRect(
            x: Int(crop.x), y: Int(crop.y), size: PixelSize(width: Int(crop.width), height: Int(crop.height)))
        guard shown.maxX <= picture.size.width, shown.maxY <= picture.size.height else {
            throw .corrupt("the clean aperture of the AVIF image lies outside of the image")
        }
        let rows = try PlanarRows(
            image: picture, aperture: shown, alpha: alpha(picture.size, shown),
            isPremultiplied: hasAlpha && image.pointee.alphaPremultiplied == AVIF_TRUE, coding: coding, color: color)
        var sink = try RowSink(
            stored: shown.size, output: output, orientation: orientation, format: color.format, context: context)
        for y in 0..<shown.size.height {
            rows.convert(y, to: sink.rowToFill())
            try sink.commitRow()
        }
        return try sink.finish()
    }

    private func alpha(_ size: PixelSize, _ shown: PixelRect) -> PlanarRows.Alpha? {
        guard hasAlpha, let base = image.pointee.alphaPlane else { return nil }
        let plane = PlanarPicture.Plane(
            base: UnsafeRawPointer(base), bytesPerRow: Int(image.pointee.alphaRowBytes), size: size)
        return PlanarRows.Alpha(plane: plane, bits: Int(image.pointee.depth), aperture: shown)
    }
}

extension PlanarPicture {
    /// - Parameter frame: A decoded image of libavif's, which outlives the picture.
    init(avif frame: avifImage) throws(ImageError) {
        let size = PixelSize(width: Int(frame.width), height: Int(frame.height))
        let layout: Chroma =
            switch frame.yuvFormat {
            case AVIF_PIXEL_FORMAT_YUV444: .full
            case AVIF_PIXEL_FORMAT_YUV422: .halfWidth
            case AVIF_PIXEL_FORMAT_YUV420: .half
            default: .none
            }
        func plane(
            _ base: UnsafeMutablePointer<UInt8>?, _ stride: UInt32, _ size: PixelSize
        ) throws(ImageError) -> Plane {
            guard let base else { throw .corrupt("the AVIF image has no pixels") }
            return Plane(base: UnsafeRawPointer(base), bytesPerRow: Int(stride), size: size)
        }
        var chroma: (blue: Plane, red: Plane)?
        if let chromaSize = layout.chromaSize(of: size) {
            chroma = (
                blue: try plane(frame.yuvPlanes.1, frame.yuvRowBytes.1, chromaSize),
                red: try plane(frame.yuvPlanes.2, frame.yuvRowBytes.2, chromaSize)
            )
        }
        self.init(
            luma: try plane(frame.yuvPlanes.0, frame.yuvRowBytes.0, size), chroma: chroma, layout: layout,
            bits: Int(frame.depth))
        guard isConsistent else { throw .corrupt("the planes of the AVIF image don't have the stated sizes") }
    }
}
#endif
