#if AVIF
internal import CAVIF
internal import FoundationEssentials
internal import TintypeCore

/// Makes premultiplied RGBA of the planes of a decoded AVIF frame, in bands of rows, so that the full bitmap is not made for
/// a thumbnail.
struct AVIFPixels {
    let image: UnsafeMutablePointer<avifImage>
    let color: CodedColor
    let context: DecodeContext

    private static let bandHeight = 128
    /// Rows around a band that decide how its colour is enlarged; even, because two rows share their colour.
    private static let margin = 2

    func convert(to output: PixelSize, orientation: Orientation) throws(ImageError) -> PixelBuffer {
        let size = PixelSize(width: Int(image.pointee.width), height: Int(image.pointee.height))
        let isDeep = color.toneMapping != nil
        let scratch = try MutablePixelBuffer(
            size: PixelSize(width: size.width, height: min(size.height, Self.bandHeight + 2 * Self.margin)),
            format: isDeep ? .rgba16 : .rgba8, pool: context.pool)
        var sink = try RowSink(stored: size, output: output, orientation: orientation, context: context)
        let premultiplies = image.pointee.alphaPlane != nil
        for top in stride(from: 0, to: size.height, by: Self.bandHeight) {
            let bottom = min(size.height, top + Self.bandHeight)
            let first = max(0, top - Self.margin)
            try convertBand(first..<min(size.height, bottom + Self.margin), into: scratch, isDeep: isDeep)
            for y in top..<bottom {
                let row = sink.rowToFill()
                finish(scratch.row(y - first), into: row, count: size.width)
                if premultiplies { Premultiplication.premultiply(row, count: size.width) }
                try sink.commitRow()
            }
        }
        return try sink.finish()
    }

    private func finish(_ source: UnsafeMutableRawPointer, into row: UnsafeMutableRawPointer, count: Int) {
        if let toneMapping = color.toneMapping {
            toneMapping.convert(source.assumingMemoryBound(to: UInt16.self), to: row, count: count)
        } else {
            row.copyMemory(from: source, byteCount: count * 4)
            color.convert(row, count: count)
        }
    }

    /// Some rows as straight RGBA.
    private func convertBand(
        _ rows: Range<Int>, into scratch: borrowing MutablePixelBuffer, isDeep: Bool
    ) throws(ImageError) {
        guard let view = avifImageCreateEmpty() else {
            throw ImageError(.outOfMemory, stage: .decode, reason: "libavif has no memory for rows")
        }
        defer { avifImageDestroy(view) }
        var rect = avifCropRect(
            x: 0, y: UInt32(rows.lowerBound), width: image.pointee.width, height: UInt32(rows.count))
        var result = avifImageSetViewRect(view, image, &rect)
        if result == AVIF_RESULT_OK {
            var rgb = avifRGBImage()
            avifRGBImageSetDefaults(&rgb, view)
            rgb.format = AVIF_RGB_FORMAT_RGBA
            rgb.depth = isDeep ? UInt32(ToneMapping.bits) : 8
            rgb.pixels = scratch.row(0).assumingMemoryBound(to: UInt8.self)
            rgb.rowBytes = UInt32(scratch.bytesPerRow)
            result = avifImageYUVToRGB(view, &rgb)
        }
        guard result == AVIF_RESULT_OK else {
            throw .corrupt("the AVIF image cannot be shown (libavif: \(String(cString: avifResultToString(result))))")
        }
    }
}
#endif
