internal import FoundationEssentials
internal import TintypeImages

/// A picture to be written as PNG: the pixels of a rectangle, of 8 or 16 bits, and their samples.
struct PNGPicture {
    let pixels: PixelBuffer
    let area: PixelRect
    let samples: PNGSamples
    /// True to mark the colors as sRGB.
    let isSRGB: Bool
    let isInterlaced: Bool
    /// From 0 to 9.
    let compressionLevel: Int
    let filter: PNGEncodeOptions.Filter
    let context: ProcessingContext

    /// Returns the file.
    func file() throws(ImageError) -> Data {
        if let rows = try PNGPackedRows(self) { return try rows.file() }
        return try PNGWriter().write(self)
    }

    /// Calls a function with each row: RGBA in native byte order, premultiplied only where samples are numbers of colors.
    func forEachRow(_ body: (UnsafeRawPointer) throws(ImageError) -> Void) throws(ImageError) {
        let width = area.size.width
        let row = PixelSize(width: width, height: 1)
        let straight = samples.haveAlpha ? try MutablePixelBuffer(size: row, format: pixels.format) : nil
        let bytesPerPixel = pixels.format.bytesPerPixel
        let straightRow = straight?.row(0)
        for line in 0..<area.size.height {
            if line & 255 == 255 { try context.checkCancellation() }
            try pixels.withRow(area.y + line) { (bytes) throws(ImageError) -> Void in
                guard let source = bytes.baseAddress.map({ $0 + area.x * bytesPerPixel }) else { return }
                guard let straightRow else { return try body(source) }
                if pixels.format == .rgba8 {
                    Premultiplication.unpremultiply(source, into: straightRow, count: width)
                } else {
                    straightRow.copyMemory(from: source, byteCount: width * bytesPerPixel)
                    Premultiplication.unpremultiply(straightRow, count: width, format: pixels.format)
                }
                try body(UnsafeRawPointer(straightRow))
            }
        }
    }
}
