#if TIFF
internal import CTIFF
internal import TintypeCore

/// Reads a page's samples in bands of rows, and makes RGBA of 8 or 16 bits of them.
///
/// Numbers of 12 and 16 bits are rounded to 8, or kept. Of 32 bits and floating point no file says what is white: values from 0 to 255
/// are shown as they are, others are cut off, as other readers do.
final class TIFFSampleBands {
    private let file: TIFFFile
    private let layout: TIFFLayout
    private let format: PixelFormat
    private let rowBytes: Int
    private let planes: Int
    /// The rows of a band, all planes one after the other.
    private let band: UnsafeMutableRawBufferPointer
    private let tile: UnsafeMutableRawBufferPointer
    private let ink: UnsafeMutableRawPointer
    private let lab: TIFFLabConversion?
    private let conversion: ColorConversion?

    /// - Parameters:
    ///   - format: what rows become: 8 or 16 bits.
    ///   - conversion: from the profile of the page.
    init(
        _ file: TIFFFile, layout: TIFFLayout, format: PixelFormat, conversion: ColorConversion?, limits: DecodeLimits
    ) throws(ImageError) {
        planes = layout.isPlanar ? layout.samplesPerPixel : 1
        rowBytes = layout.rowBytes(layout.width)
        let (plane, isTooLarge) = rowBytes.multipliedReportingOverflow(by: file.rowsPerBand)
        let (bytes, overflow) = plane.multipliedReportingOverflow(by: planes)
        guard !isTooLarge, !overflow, bytes <= limits.maximumBytes.bytes else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "a strip of the TIFF file takes more than the limit of \(limits.maximumBytes)")
        }
        let tileBytes = layout.tileWidth == nil ? 0 : Int(TIFFTileSize(file.handle))
        guard tileBytes >= 0, tileBytes <= limits.maximumBytes.bytes else {
            throw ImageError(.limitExceeded, stage: .decode, reason: "a tile of the TIFF file takes too much memory")
        }
        self.file = file
        self.layout = layout
        self.format = format
        band = .allocate(byteCount: max(1, bytes), alignment: 16)
        tile = .allocate(byteCount: max(1, tileBytes), alignment: 16)
        ink = .allocate(byteCount: layout.width * format.bytesPerPixel, alignment: 16)
        lab = layout.color == .lab ? TIFFLabConversion() : nil
        self.conversion = conversion
    }

    deinit {
        band.deallocate()
        tile.deallocate()
        ink.deallocate()
    }

    // MARK: Reading

    /// Reads the band that begins at a row.
    /// - Returns: false if it cannot be read.
    func read(top: Int, count: Int) -> Bool {
        for plane in 0..<planes {
            guard let base = band.baseAddress else { return false }
            let target = base + plane * rowBytes * file.rowsPerBand
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
        guard tileWidth > 0, count * tileRow <= tile.count, let source = tile.baseAddress else { return false }
        for x in stride(from: 0, to: layout.width, by: tileWidth) {
            guard TIFFReadTile(file.handle, source, UInt32(x), UInt32(top), 0, UInt16(plane)) > 0 else { return false }
            let bytes = layout.rowBytes(min(tileWidth, layout.width - x))
            for y in 0..<count {
                (target + y * rowBytes + layout.rowBytes(x)).copyMemory(from: source + y * tileRow, byteCount: bytes)
            }
        }
        return true
    }

    // MARK: Converting

    /// Makes premultiplied RGBA of a row of the band.
    func convert(_ y: Int, to row: UnsafeMutableRawPointer) {
        let width = layout.width
        switch layout.color {
        case .gray, .invertedGray:
            for component in 0..<3 { copy(sample: 0, y, to: row, component) }
        case .rgb:
            for component in 0..<3 { copy(sample: component, y, to: row, component) }
        case .cmyk:
            for component in 0..<4 { copy(sample: component, y, to: ink, component) }
            if let conversion {
                conversion.convert(cmyk: ink, to: row, count: width)
            } else if format == .rgba8 {
                ColorConversion.convertNaively(cmyk: ink, inverted: false, to: row, count: width)
            } else {
                ColorConversion.convertNaively(
                    deepCMYK: ink.assumingMemoryBound(to: UInt16.self), inverted: false,
                    to: row.assumingMemoryBound(to: UInt16.self), count: width)
            }
            return
        case .lab:
            for component in 0..<3 { copy(sample: component, y, to: row, component) }
            lab?.convert(row, count: width)
        }
        finish(y, row)
    }

    private func finish(_ y: Int, _ row: UnsafeMutableRawPointer) {
        let width = layout.width
        if layout.color == .invertedGray {
            for offset in 0..<width * format.bytesPerPixel {
                row.storeBytes(
                    of: ~row.load(fromByteOffset: offset, as: UInt8.self), toByteOffset: offset, as: UInt8.self)
            }
        }
        guard layout.alpha != .none else {
            let bytes = format.bytesPerPixel
            for x in 0..<width {
                (row + x * bytes + bytes / 4 * 3).initializeMemory(as: UInt8.self, repeating: 255, count: bytes / 4)
            }
            conversion?.convert(row, count: width)
            return
        }
        copy(sample: layout.color == .rgb || layout.color == .lab ? 3 : 1, y, to: row, 3)
        if layout.alpha == .premultiplied {
            Premultiplication.clamp(row, count: width, format: format)
            guard conversion != nil else { return }
            Premultiplication.unpremultiply(row, count: width, format: format)
        }
        conversion?.convert(row, count: width)
        Premultiplication.premultiply(row, count: width, format: format)
    }

    /// Writes one sample of each pixel to one component of a row.
    private func copy(sample: Int, _ y: Int, to row: UnsafeMutableRawPointer, _ component: Int) {
        guard let base = band.baseAddress else { return }
        let plane = layout.isPlanar ? sample : 0
        let source = UnsafeRawPointer(base) + (plane * file.rowsPerBand + y) * rowBytes
        let samples = TIFFSamples(
            row: source, first: layout.isPlanar ? 0 : sample, step: layout.samplesTogether, count: layout.width)
        if format == .rgba8 {
            samples.copy(layout.sample, to: row.assumingMemoryBound(to: UInt8.self) + component)
        } else {
            samples.copy(layout.sample, to: row.assumingMemoryBound(to: UInt16.self) + component)
        }
    }
}
#endif
