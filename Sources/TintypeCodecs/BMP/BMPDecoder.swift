internal import TintypeImages

/// Decodes the pixels behind a bitmap's header.
struct BMPDecoder {
    let bytes: UnsafeRawBufferPointer
    let header: BMPHeader
    let options: DecodeOptions
    let context: ProcessingContext

    /// - Returns: the pixels, true if some are missing, and true if some may be transparent.
    func decode(
        to output: PixelSize
    ) throws(ImageError) -> (PixelBuffer, isPartial: Bool, hasAlpha: Bool) {
        header.compression == .none ? try plain(to: output) : try runLengths(to: output)
    }

    private func plain(
        to output: PixelSize
    ) throws(ImageError) -> (PixelBuffer, isPartial: Bool, hasAlpha: Bool) {
        let (rowBytes, height) = (header.bytesPerRow, header.size.height)
        // Writers leave the padding of the last row out.
        let lastRow = (header.size.width * header.bitsPerPixel + 7) / 8
        let there = max(0, bytes.count - header.pixels)
        let rows = there >= rowBytes * (height - 1) + lastRow ? height : there / rowBytes
        if rows < height { try allowPartial("the BMP ends after \(rows) of \(height) rows") }
        let keepsAlpha = header.showsAlpha(bytes)
        let converter = BMPRows(header, keepsAlpha: keepsAlpha)
        var sink = try RowSink(stored: header.size, output: output, context: context)
        for y in 0..<height {
            let stored = header.isTopDown ? y : height - 1 - y
            let row = sink.rowToFill()
            if stored < rows {
                let start = header.pixels + stored * rowBytes
                let end = min(start + rowBytes, bytes.count)
                converter.convert(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), to: row)
            } else {
                row.initializeMemory(as: UInt8.self, repeating: 0, count: header.size.width * 4)
            }
            try sink.commitRow()
        }
        return (try sink.finish(), rows < height, rows < height || keepsAlpha)
    }

    private func runLengths(
        to output: PixelSize
    ) throws(ImageError) -> (PixelBuffer, isPartial: Bool, hasAlpha: Bool) {
        let pixels = try MutablePixelBuffer(size: header.size, cleared: true, pool: context.pool)
        var decoder = BMPRunLength(bytes, header: header)
        try decoder.decode(into: pixels, context: context)
        if !decoder.isComplete { try allowPartial("the run-length-encoded pixels of the BMP end too early") }
        // Only the codes reveal skipped pixels.
        let hasAlpha = (0..<header.size.height).contains { y in
            let row = pixels.row(y).assumingMemoryBound(to: UInt32.self)
            return (0..<header.size.width).contains { row[$0] == 0 }
        }
        return (try pixels.freeze().resized(to: output, pool: context.pool), !decoder.isComplete, hasAlpha)
    }

    private func allowPartial(_ reason: String) throws(ImageError) {
        guard options.allowsPartialImage else { throw .truncated(reason) }
    }
}
