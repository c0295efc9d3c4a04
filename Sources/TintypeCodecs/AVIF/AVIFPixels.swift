#if AVIF
internal import CAVIF
internal import FoundationEssentials
internal import TintypeCore

/// Makes premultiplied RGBA of the planes of a decoded AVIF frame, in bands of rows, so that the full bitmap is not made for
/// a thumbnail.
struct AVIFPixels {
    let image: UnsafeMutablePointer<avifImage>
    /// What of the frame is shown.
    let crop: avifCropRect
    let color: CodedColor
    let context: DecodeContext

    private static let bandHeight = 128
    /// Rows around a band that decide how its colour is enlarged; even, because two rows share their colour.
    private static let margin = 2

    /// The bits that libavif is asked for.
    ///
    /// To deep formats, its own number: libavif's scaling to 16 bits is not always rounded to the nearest.
    private var bits: Int {
        color.format != .rgba8 ? max(10, Int(image.pointee.depth)) : color.toneMapping != nil ? ToneMapping.bits : 8
    }

    func convert(to output: PixelSize, orientation: Orientation) throws(ImageError) -> PixelBuffer {
        let stored = PixelSize(width: Int(image.pointee.width), height: Int(image.pointee.height))
        let size = PixelSize(width: Int(crop.width), height: Int(crop.height))
        let (left, above) = (Int(crop.x), Int(crop.y))
        let scratch = try MutablePixelBuffer(
            size: PixelSize(width: stored.width, height: min(stored.height, Self.bandHeight + 2 * Self.margin + 1)),
            format: bits > 8 ? .rgba16 : .rgba8, pool: context.pool)
        var sink = try RowSink(
            stored: size, output: output, orientation: orientation, format: color.format, context: context)
        let numbers = color.format == .rgba8 ? [] : Self.numbers(bits: bits)
        let end = above + size.height
        for top in stride(from: above, to: end, by: Self.bandHeight) {
            let bottom = min(end, top + Self.bandHeight)
            // A view begins where two rows begin to share their colour.
            let first = max(0, top - Self.margin) & ~1
            try convertBand(first..<min(stored.height, bottom + Self.margin), into: scratch)
            for y in top..<bottom {
                finish(
                    scratch.row(y - first) + left * scratch.format.bytesPerPixel, into: sink.rowToFill(),
                    count: size.width, numbers)
                try sink.commitRow()
            }
        }
        return try sink.finish()
    }

    /// What each number of so many bits is in 16, rounded to the nearest.
    private static func numbers(bits: Int) -> [UInt16] {
        let last = 1 << min(16, bits) - 1
        return (0...last).map { UInt16(($0 * 65_535 + last / 2) / last) }
    }

    /// - Parameter numbers: see ``numbers(bits:)``; for deep formats alone.
    private func finish(
        _ source: UnsafeMutableRawPointer, into row: UnsafeMutableRawPointer, count: Int, _ numbers: [UInt16]
    ) {
        let premultiplies = image.pointee.alphaPlane != nil
        guard color.format == .rgba8 else {
            let source = source.assumingMemoryBound(to: UInt16.self)
            for index in 0..<count * 4 { source[index] = numbers[min(Int(source[index]), numbers.count - 1)] }
            return color.finish(source, to: row, count: count, premultiplies: premultiplies)
        }
        if let toneMapping = color.toneMapping {
            toneMapping.convert(source.assumingMemoryBound(to: UInt16.self), to: row, count: count)
        } else {
            row.copyMemory(from: source, byteCount: count * 4)
            color.convert(row, count: count)
        }
        if premultiplies { Premultiplication.premultiply(row, count: count) }
    }

    /// Some rows as straight RGBA.
    private func convertBand(
        _ rows: Range<Int>, into scratch: borrowing MutablePixelBuffer
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
            rgb.depth = UInt32(bits)
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
