#if TIFF
internal import CTIFF
internal import TintypeImages

/// Reads a page's samples in bands of rows.
final class TIFFSampleBands {
    /// The number of rows that are read at once: a single row of strips whose samples lie together, which libtiff unpacks row by row.
    let rows: Int
    private let file: TIFFFile
    private let layout: TIFFLayout
    private let rowBytes: Int
    /// The rows of a band, all planes in order.
    private let band: ScratchBytes
    private let tile: ScratchBytes
    private let strips: TIFFDeflateStrips?
    /// The bytes behind the last row that reading packed samples touches, or rows of ``TIFFDeflateStrips``.
    private static let slack = TIFFDeflateStrips.slack

    /// Returns the bytes that reading a page takes.
    ///
    /// - Throws: ``ImageError/Code/limitExceeded``
    static func memory(
        _ file: TIFFFile, _ layout: TIFFLayout, limits: DecodeLimits
    ) throws(ImageError) -> (band: Int, tile: Int, strip: Int) {
        let (plane, isTooLarge) = layout.rowBytes(layout.width).multipliedReportingOverflow(by: rows(file, layout))
        let (band, overflow) = plane.multipliedReportingOverflow(by: layout.planes.count)
        let tile = layout.tileWidth == nil ? 0 : Int(TIFFTileSize(file.handle))
        guard !isTooLarge, !overflow, band <= limits.maximumBytes.bytes else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "a strip of the TIFF file takes more than the limit of \(limits.maximumBytes)")
        }
        guard
            layout.tileWidth != nil || layout.isPlanar || isWholeOnly(file)
                || Int(TIFFScanlineSize(file.handle)) <= band
        else {
            throw .corrupt("the rows of the TIFF file are longer than its samples")
        }
        guard tile >= 0, tile <= limits.maximumBytes.bytes else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "a tile of the TIFF file takes more than the limit of \(limits.maximumBytes)")
        }
        return (band, tile, TIFFDeflateStrips.memory(file, layout, limits: limits))
    }

    private static func rows(_ file: TIFFFile, _ layout: TIFFLayout) -> Int {
        layout.tileWidth == nil && !layout.isPlanar && !isWholeOnly(file) ? 1 : file.rowsPerBand
    }

    /// True if libtiff can't unpack a strip row by row: its decoder for PackBits loses what a run has for the next row, which writers should avoid
    /// (TIFF 6.0, section 9), and don't (4.5.0).
    private static func isWholeOnly(_ file: TIFFFile) -> Bool {
        Int32(TIFFFile.short(file.handle, TIFFTAG_COMPRESSION)) == COMPRESSION_PACKBITS
    }

    init(_ file: TIFFFile, layout: TIFFLayout, context: ProcessingContext) throws(ImageError) {
        let memory = try Self.memory(file, layout, limits: context.limits)
        // Cleared: libtiff reports success for strips that fill it in part.
        guard let band = ScratchBytes(memory.band + Self.slack, pool: context.pool),
            let tile = ScratchBytes(memory.tile, pool: context.pool)
        else {
            throw ImageError(
                .outOfMemory, stage: .decode,
                reason:
                    "there isn't enough memory for a strip of the TIFF file, which takes \(ByteCount(memory.band + memory.tile))"
            )
        }
        self.file = file
        self.layout = layout
        rows = Self.rows(file, layout)
        rowBytes = layout.rowBytes(layout.width)
        self.band = band
        self.tile = tile
        strips = TIFFDeflateStrips(file, layout, bytes: memory.strip, pool: context.pool)
    }

    /// Reads the band that starts at a row.
    ///
    /// - Returns: `false` if it can't be read.
    func read(top: Int, count: Int) -> Bool {
        guard layout.isPlanar || layout.tileWidth != nil || Self.isWholeOnly(file) else {
            return strips?.read(top, to: band.base) == true
                || TIFFReadScanline(file.handle, band.base, UInt32(top), 0) == 1
        }
        for (index, plane) in layout.planes.enumerated() {
            let target = band.base + index * rowBytes * rows
            let isRead =
                layout.tileWidth.map { readTiles(top, count, plane, into: target, tileWidth: $0) }
                ?? readStrip(top, count, plane, into: target)
            guard isRead else { return false }
        }
        return true
    }

    private func readStrip(_ top: Int, _ count: Int, _ plane: Int, into target: UnsafeMutableRawPointer) -> Bool {
        let strip = TIFFComputeStrip(file.handle, UInt32(top), UInt16(plane))
        let size = count * rowBytes
        return TIFFReadEncodedStrip(file.handle, strip, target, tmsize_t(size)) >= size
    }

    private func readTiles(
        _ top: Int, _ count: Int, _ plane: Int, into target: UnsafeMutableRawPointer, tileWidth: Int
    ) -> Bool {
        let tileRow = layout.rowBytes(tileWidth)
        guard tileWidth > 0, count * tileRow <= tile.count else { return false }
        let source = tile.base
        for x in stride(from: 0, to: layout.width, by: tileWidth) {
            guard TIFFReadTile(file.handle, source, UInt32(x), UInt32(top), 0, UInt16(plane)) > 0 else { return false }
            let bytes = layout.rowBytes(min(tileWidth, layout.width - x))
            for y in 0..<count {
                (target + y * rowBytes + layout.rowBytes(x)).copyMemory(from: source + y * tileRow, byteCount: bytes)
            }
        }
        return true
    }

    /// Returns a sample of each pixel of a row of the band; `nil` for a sample that isn't read.
    func samples(_ sample: Int, _ y: Int) -> TIFFSamples? {
        guard let plane = layout.isPlanar ? layout.planes.firstIndex(of: sample) : 0 else { return nil }
        return TIFFSamples(
            row: UnsafeRawPointer(band.base) + (plane * rows + y) * rowBytes, first: layout.isPlanar ? 0 : sample,
            step: layout.samplesTogether, count: layout.width)
    }
}
#endif
