#if TIFF
internal import CTIFF
internal import CUnfilter
internal import TintypeImages

/// The rows of strips with Deflate (Adobe Photoshop TIFF Technical Notes, 2002), each of which is unpacked at once with libdeflate. libtiff unpacks single
/// rows, with zlib, which takes twice as long.
///
/// It is only for undamaged strips that have exactly the data of their rows. libtiff reads all others, row by row: it takes whole strips for
/// read whose data is too long, and leaves out the end.
final class TIFFDeflateStrips {
    /// The numbers of a row that are the differences from the pixel on the left (TIFF 6.0, section 14).
    private enum Differences { case none, bytes, words }

    private let file: TIFFFile
    private let differences: Differences
    private let samples: Int
    private let rowBytes: Int
    private let inflater: Inflater
    private let rows: ScratchBytes
    private let kernels = PNGKernels.available[0]
    private var strip: Int?
    private var isUnpacked = false

    /// The bytes that may be read and written beyond the end of a row.
    static let slack = 16
    /// The largest strip that is unpacked at once. Larger ones don't matter, and would take the memory that reading by rows saves.
    private static let mostUnpacked = 16 << 20

    /// Returns the bytes of the strip that is held; 0 for files that libtiff reads.
    static func memory(_ file: TIFFFile, _ layout: TIFFLayout, limits: DecodeLimits) -> Int {
        guard differences(file, layout) != nil else { return 0 }
        let (bytes, overflow) = layout.rowBytes(layout.width).multipliedReportingOverflow(by: file.rowsPerBand)
        return overflow || bytes > min(mostUnpacked, limits.maximumBytes.bytes) ? 0 : bytes + slack
    }

    /// - Parameter bytes: As ``memory(_:_:limits:)`` returns it.
    /// - Returns: `nil` for files that libtiff reads, and if there is no memory.
    init?(_ file: TIFFFile, _ layout: TIFFLayout, bytes: Int, pool: PixelBufferPool) {
        guard bytes > 0, let differences = Self.differences(file, layout), let inflater = Inflater(),
            let rows = ScratchBytes(bytes, cleared: false, pool: pool)
        else { return nil }
        self.file = file
        self.differences = differences
        self.inflater = inflater
        self.rows = rows
        samples = layout.samplesTogether
        rowBytes = layout.rowBytes(layout.width)
    }

    private static func differences(_ file: TIFFFile, _ layout: TIFFLayout) -> Differences? {
        func field(_ tag: Int32) -> Int32 { Int32(TIFFFile.short(file.handle, tag)) }
        let isInNativeOrder = layout.bitsPerSample <= 8 || TIFFIsByteSwapped(file.handle) == 0
        guard [COMPRESSION_ADOBE_DEFLATE, COMPRESSION_DEFLATE].contains(field(TIFFTAG_COMPRESSION)),
            layout.tileWidth == nil, !layout.isPlanar, isInNativeOrder, field(TIFFTAG_FILLORDER) == FILLORDER_MSB2LSB
        else { return nil }
        switch (field(TIFFTAG_PREDICTOR), layout.bitsPerSample) {
        case (PREDICTOR_NONE, _): return Differences.none
        case (PREDICTOR_HORIZONTAL, 8) where layout.samplesTogether <= 4: return .bytes
        case (PREDICTOR_HORIZONTAL, 16): return .words
        default: return nil
        }
    }

    /// Writes row `y` of the page, and up to ``slack`` bytes of any value behind it.
    ///
    /// - Returns: `false` if libtiff has to read it, as all rows of the strip.
    func read(_ y: Int, to row: UnsafeMutableRawPointer) -> Bool {
        let (strip, rowOfStrip) = y.quotientAndRemainder(dividingBy: file.rowsPerBand)
        if strip != self.strip { (self.strip, isUnpacked) = (strip, unpack(strip)) }
        guard isUnpacked else { return false }
        let source = UnsafeRawPointer(rows.base + rowOfStrip * rowBytes)
        switch differences {
        case .none: row.copyMemory(from: source, byteCount: rowBytes)
        case .bytes:
            // The same as the filter “Sub” of PNG, which takes nothing from the row above.
            let source = source.assumingMemoryBound(to: UInt8.self)
            kernels.undo(row.assumingMemoryBound(to: UInt8.self), source, source, rowBytes, Int32(samples), 1)
        case .words:
            row.copyMemory(from: source, byteCount: rowBytes)
            let numbers = row.assumingMemoryBound(to: UInt16.self)
            for place in samples..<max(samples, rowBytes / 2) { numbers[place] &+= numbers[place - samples] }
        }
        return true
    }

    private func unpack(_ strip: Int) -> Bool {
        let place = TIFFGetStrileOffset(file.handle, UInt32(strip))
        let packed = TIFFGetStrileByteCount(file.handle, UInt32(strip))
        let (end, overflow) = place.addingReportingOverflow(packed)
        let count = min(file.rowsPerBand, file.info.size.height - strip * file.rowsPerBand) * rowBytes
        guard !overflow, end <= UInt64(file.bytes.count), count <= Inflater.mostUnpacked(Int(packed)) else {
            return false
        }
        return inflater.unpack(
            UnsafeRawBufferPointer(rebasing: file.bytes[Int(place)..<Int(end)]),
            into: UnsafeMutableRawBufferPointer(start: rows.base, count: count))
    }
}
#endif
