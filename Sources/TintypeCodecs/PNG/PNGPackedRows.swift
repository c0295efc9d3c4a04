internal import CDeflate
internal import CUnfilter
internal import FoundationEssentials
internal import TintypeImages

/// The rows of a picture with their filters, which libdeflate compresses at once, in less than half the time of zlib.
struct PNGPackedRows {
    private let picture: PNGPicture
    private let kernels: PNGKernels
    /// The bytes of a row, without the filter's byte.
    private let rowBytes: Int
    private let rows: ScratchBytes
    /// Two rows without filters, each behind a margin of zeros, and a filtered row.
    private let lines: ScratchBytes

    /// Returns the most bytes of rows. Compression can't be canceled: 96 MB, a photograph of 32 megapixels, take about three
    /// seconds, and 24 MB take up to five at high levels.
    private static func mostBytes(_ level: Int) -> Int { level > 6 ? 24 << 20 : 96 << 20 }
    /// The zeros to the left of a row, for the filters: a pixel at least.
    private static let margin = 8

    /// - Returns: `nil` if libpng has to write the picture: it streams large ones through zlib, and interlaces.
    /// - Throws: ``ImageError/Code/outOfMemory``
    init?(_ picture: PNGPicture, kernels: PNGKernels = PNGKernels.available[0]) throws(ImageError) {
        let size = picture.area.size
        rowBytes = picture.samples.rowBytes(size.width)
        let count = (rowBytes + 1) * size.height
        guard !picture.isInterlaced, count <= Self.mostBytes(picture.compressionLevel) else { return nil }
        let pool = picture.context.pool
        // Lines are cleared: what is above the first row, and to the left of all rows, is taken for zeros.
        guard let rows = ScratchBytes(count, cleared: false, pool: pool),
            let lines = ScratchBytes(3 * (Self.margin + rowBytes), pool: pool)
        else { throw PNGWriter.outOfMemory }
        self.picture = picture
        self.kernels = kernels
        self.rows = rows
        self.lines = lines
    }

    /// Returns the whole file, with all rows in a single chunk.
    func file() throws(ImageError) -> Data {
        try filter()
        try picture.context.checkCancellation()
        // The most effort is libdeflate's 12. Its 9 makes larger files than zlib's.
        let level = picture.compressionLevel == 9 ? 12 : picture.compressionLevel
        guard let compressor = libdeflate_alloc_compressor(Int32(level)) else { throw PNGWriter.outOfMemory }
        defer { libdeflate_free_compressor(compressor) }
        let room = libdeflate_zlib_compress_bound(compressor, rows.count)
        guard let stream = ScratchBytes(room, cleared: false, pool: picture.context.pool) else {
            throw PNGWriter.outOfMemory
        }
        return try withExtendedLifetime(stream) { () throws(ImageError) -> Data in
            let count = libdeflate_zlib_compress(compressor, rows.base, rows.count, stream.base, room)
            try picture.context.checkCancellation()
            guard count > 0 else {
                throw ImageError(.encodeFailed, stage: .encode, reason: "the rows of the PNG can't be compressed")
            }
            return file(UnsafeRawBufferPointer(start: stream.base, count: count))
        }
    }

    private func file(_ stream: UnsafeRawBufferPointer) -> Data {
        let (size, samples) = (picture.area.size, picture.samples)
        var file = Data(PNGChunks.signature)
        file.reserveCapacity(stream.count + 128 + samples.palette.count + samples.alphas.count)
        PNGChunk.append(
            .ihdr,
            PNGChunk.bigEndian(size.width) + PNGChunk.bigEndian(size.height)
                + [UInt8(samples.bitDepth), samples.colorType, 0, 0, 0], to: &file)
        // Perceptual, as libpng writes it.
        if picture.isSRGB { PNGChunk.append(.srgb, [0] as [UInt8], to: &file) }
        if !samples.palette.isEmpty { PNGChunk.append(.plte, samples.palette, to: &file) }
        if !samples.alphas.isEmpty { PNGChunk.append(.trns, samples.alphas, to: &file) }
        PNGChunk.append(.idat, stream, to: &file)
        PNGChunk.append(.iend, [UInt8](), to: &file)
        return file
    }

    /// Fills the rows. libpng chooses filters likewise: each row has the filter whose bytes, as signed numbers, have the least sum.
    private func filter() throws(ImageError) {
        let lineBytes = Self.margin + rowBytes
        func line(_ index: Int) -> UnsafeMutablePointer<UInt8> {
            (lines.base + index * lineBytes + Self.margin).assumingMemoryBound(to: UInt8.self)
        }
        let filters = picture.filter.numbers
        let trial = line(2)
        let step = Int32(picture.samples.filterStep)
        var target = rows.base.assumingMemoryBound(to: UInt8.self)
        var (row, above) = (line(0), line(1))
        try picture.forEachRow { (pixels) throws(ImageError) -> Void in
            picture.samples.pack(pixels, to: row, width: picture.area.size.width)
            var least: UInt32?
            for filter in filters {
                let sum = kernels.apply(trial, row, above, rowBytes, step, Int32(filter))
                if let least, sum >= least { continue }
                least = sum
                target.pointee = filter
                (target + 1).update(from: trial, count: rowBytes)
            }
            target += rowBytes + 1
            (row, above) = (above, row)
        }
    }
}

extension PNGEncodeOptions.Filter {
    /// The filters to choose from, as the format numbers them.
    fileprivate var numbers: ClosedRange<UInt8> {
        switch self {
        case .adaptive: 0...4
        case .none: 0...0
        case .sub: 1...1
        case .up: 2...2
        case .average: 3...3
        case .paeth: 4...4
        }
    }
}
