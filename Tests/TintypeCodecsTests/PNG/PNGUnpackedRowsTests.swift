import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs
import TintypeTesting

/// What is unpacked at once is compared with what libpng makes of the same bytes.
@Suite("PNG, unpacked at once", .timeLimited)
struct PNGUnpackedRowsTests {
    let context = ProcessingContext()

    private func decode(
        _ data: Data, atOnce: Bool, _ change: (inout DecodeOptions) -> Void = { _ in }
    ) throws(ImageError) -> Image {
        var options = DecodeOptions()
        change(&options)
        return try data.withBytes { bytes throws(ImageError) in
            try PNGDecoder(
                chunks: PNGChunks(bytes), options: options, context: context, unpacksAtOnce: atOnce
            ).run(bytes)
        }
    }

    /// Whether the bytes are read without libpng.
    private func isUnpacked(_ data: Data) throws -> Bool {
        try data.withBytes { bytes throws(ImageError) in
            try PNGChunks(bytes).unpackedRows(of: bytes, format: .rgba8, bitmap: nil, context: context) != nil
        }
    }

    @Test(
        "Random pixels, filters, sizes and chunks are those of libpng",
        arguments: [
            (0, 1), (0, 2), (0, 4), (0, 8), (2, 8), (3, 1), (3, 2), (3, 4), (3, 8), (4, 8), (6, 8), (0, 16), (2, 16),
            (4, 16), (6, 16),
        ])
    func random(colorType: UInt8, bits: UInt8) throws {
        var random = SeededRandom(seed: UInt64(colorType) << 8 | UInt64(bits))
        for round in 0..<160 {
            // Every width once, and widths around the groups in which rows are worked on more often.
            let width = round < 70 ? round + 1 : Int.random(in: 1...70, using: &random)
            let file = RandomPNG(
                width: width, height: Int.random(in: 1...70, using: &random), bitDepth: bits, colorType: colorType,
                using: &random)
            let data = file.data(using: &random)
            #expect(try isUnpacked(data) == (bits <= 8 || !file.hasTransparentColor))
            let image = try decode(data, atOnce: true)
            let reference = try decode(data, atOnce: false)
            #expect(image.pixels == reference.pixels, "\(width) × \(file.height)")
            #expect(image.properties == reference.properties)
            if bits == 16 {
                let deep = try decode(data, atOnce: true) { $0.decodeToHDR = true }
                #expect(deep.pixels.format == .rgba16)
                #expect(try deep.pixels == decode(data, atOnce: false) { $0.decodeToHDR = true }.pixels)
            }
            guard round % 8 == 0 else { continue }
            let small = try decode(data, atOnce: true) { $0.thumbnailSize = PixelSize(width: 9, height: 9) }
            let smallReference = try decode(data, atOnce: false) { $0.thumbnailSize = PixelSize(width: 9, height: 9) }
            #expect(small.pixels == smallReference.pixels)
        }
    }

    @Test(
        "Every instruction set makes the same pixels, of each filter", arguments: [2, 6] as [UInt8], [8, 16] as [UInt8])
    func kernels(colorType: UInt8, bits: UInt8) throws {
        var random = SeededRandom(seed: 9)
        // Widths around the groups in which rows are worked on, and numbers of rows that don't fill the last group.
        let sizes = [(61, 30)] + (4...9).flatMap { width in (3...9).map { (width, $0) } }
        for (filter, (width, height)) in (UInt8(0)...4).flatMap({ filter in sizes.map { (filter, $0) } }) {
            let file = RandomPNG(
                width: width, height: height, bitDepth: bits, colorType: colorType, filters: filter...filter,
                using: &random)
            let data = file.data(using: &random)
            let reference = try decode(data, atOnce: false).pixels
            for kernels in PNGKernels.available {
                try data.withUnsafeBytes { bytes in
                    let chunks = try PNGChunks(bytes)
                    let layout = try #require(PNGLayout(chunks, size: chunks.header.size, bytes, format: .rgba8))
                    let pixels = try MutablePixelBuffer(size: layout.size)
                    let made = PNGUnpackedRows(
                        layout, chunks.imageData, of: bytes, bitmap: nil, kernels: kernels, context: context)
                    guard var rows = made else {
                        Issue.record("libpng has to do it")
                        return
                    }
                    let finisher = RowFinisher(width: width, conversion: nil, premultiplies: colorType == 6)
                    for y in 0..<height {
                        rows.read(to: pixels.row(y))
                        finisher.finish(pixels.row(y))
                    }
                    #expect(pixels.freeze() == reference, "filter \(filter), \(width) × \(height)")
                }
            }
        }
    }

    @Test("Damage, and an end that is missing, end as with libpng", .capability("3.8"))
    func damage() throws {
        var random = SeededRandom(seed: 21)
        for round in 0..<600 {
            let type = [0, 2, 3, 4, 6][round % 5] as UInt8
            let file = RandomPNG(width: 13, height: 11, bitDepth: 8, colorType: type, using: &random)
            var data = file.data(using: &random)
            if round % 3 == 0 {
                data = Data(data.prefix(Int.random(in: 33..<data.count, using: &random)))
            } else {
                data = data.damaged(1 + round % 4, from: 8, using: &random)
            }
            let outcome = Result { () throws(ImageError) -> Image in
                try decode(data, atOnce: true) { $0.allowsPartialImage = round % 2 == 0 }
            }
            let reference = Result { () throws(ImageError) -> Image in
                try decode(data, atOnce: false) { $0.allowsPartialImage = round % 2 == 0 }
            }
            switch (outcome, reference) {
            case (.success(let image), .success(let other)):
                #expect(image.pixels == other.pixels)
                #expect(image.properties == other.properties)
            case (.failure(let error), .failure(let other)):
                #expect(error.code == other.code)
                #expect(error.reason == other.reason)
            default: Issue.record("\(outcome), with libpng \(reference)")
            }
        }
    }

    @Test("Streams that are too long, too short, or have a wrong checksum are left to libpng")
    func streams() throws {
        let rows: [[UInt8]] = Array(repeating: [1, 2, 3], count: 4)
        func isUnpacked(_ rows: [[UInt8]], _ change: (inout [UInt8]) -> Void = { _ in }) throws -> Bool {
            var stream = HandmadePNG.compressed(rows)
            change(&stream)
            return try self.isUnpacked(HandmadePNG.file(width: 1, height: 4, bitDepth: 8, colorType: 2, [stream]))
        }
        #expect(try isUnpacked(rows))
        #expect(try !isUnpacked(rows + rows))
        #expect(try !isUnpacked(rows.dropLast()))
        #expect(try !isUnpacked(rows) { $0[$0.count - 1] ^= 1 })
        // A window of 256 bytes holds this image; of 128 there are none.
        #expect(try isUnpacked(rows) { $0.replaceSubrange(0..<2, with: [0x08, 0x1D]) })
        let high = HandmadePNG.file(
            width: 1, height: 200, bitDepth: 8, colorType: 2,
            [Array([0x08, 0x1D] + HandmadePNG.compressed(Array(repeating: [1, 2, 3], count: 200)).dropFirst(2))])
        #expect(try !self.isUnpacked(high))
    }

    @Test("What is not ordinary is left to libpng: a transparent color, interlacing, a broken palette")
    func exceptions() throws {
        let deep = HandmadePNG(
            width: 1, height: 1, bitDepth: 16, colorType: 0, chunks: [("tRNS", [1, 2])], rows: [[1, 2]])
        #expect(try !isUnpacked(deep.data))
        #expect(try decode(deep.data, atOnce: true).pixels[0, 0] == RasterSamples.clear)
        let key = HandmadePNG(
            width: 1, height: 1, colorType: 2, chunks: [("tRNS", [0, 1, 0, 2, 0, 3])], rows: [[1, 2, 3]])
        #expect(try !isUnpacked(key.data))
        #expect(try decode(key.data, atOnce: true).pixels[0, 0] == RasterSamples.clear)
        var encoding = EncodeOptions()
        encoding.progressive = true
        #expect(try !isUnpacked(PNGCoder().encode(RasterSamples.gradient(9, 9), as: .png, options: encoding)))
        let palettes: [[(String, [UInt8])]] = [
            [], [("PLTE", [1, 2])], [("tRNS", [9]), ("PLTE", [1, 2, 3])], [("PLTE", [1, 2, 3]), ("tRNS", [1, 2])],
        ]
        for chunks in palettes {
            let file = HandmadePNG(
                width: 1, height: 1, colorType: 3, chunks: chunks.map { (type: $0.0, contents: $0.1) }, rows: [[0]])
            #expect(try !isUnpacked(file.data))
        }
    }

    @Test("A size that so few bytes cannot unpack to takes no memory", .capability("3.1"))
    func bomb() throws {
        let pool = PixelBufferPool(limit: 0)
        let context = ProcessingContext(pool: pool)
        let file = HandmadePNG(width: 5_000, height: 5_000, colorType: 6, rows: [[0]]).data
        try file.withUnsafeBytes { bytes in
            let chunks = try PNGChunks(bytes)
            #expect(chunks.unpackedRows(of: bytes, format: .rgba8, bitmap: nil, context: context) == nil)
        }
        #expect(pool.statistics.allocated == 0)
    }

    @Test(
        "Rows that lie in the bitmap are reserved with it, and others beside it", .capability("3.1"),
        arguments: [
            (2, 8, false, true), (6, 8, false, false), (2, 16, false, false), (2, 16, true, true), (6, 16, true, false),
        ])
    func reservation(colorType: UInt8, bits: UInt8, isDeep: Bool, isInBitmap: Bool) throws {
        // The rows of the bitmap have no padding.
        let rowBytes = 128 * (colorType == 6 ? 4 : 3) * Int(bits) / 8
        let file = HandmadePNG(
            width: 128, height: 128, bitDepth: bits, colorType: colorType,
            rows: Array(repeating: Array(repeating: 0, count: rowBytes), count: 128))
        try file.data.withUnsafeBytes { bytes in
            let chunks = try PNGChunks(bytes)
            func reserved(unpacksAtOnce: Bool) throws -> Int {
                try chunks.reserve(
                    output: chunks.header.size, format: isDeep ? .rgba16 : .rgba8, unpacksAtOnce: unpacksAtOnce,
                    context: context
                ).bytes
            }
            let more = try reserved(unpacksAtOnce: true) - reserved(unpacksAtOnce: false)
            let rows = PNGLayout.unpackedBytes(chunks.header.size, rowBytes: rowBytes)
            #expect(more > 0)
            #expect((more < rows) == isInBitmap)
        }
    }

    @Test(
        "A thumbnail of a large image takes memory for the whole of it only while the budget has that room at once",
        .capability("3.1"))
    func thumbnailMemory() throws {
        let side = 2_600
        let source = try RasterSamples.gradient(side, side)
        let data = try PNGCoder().encode(source, as: .png, options: EncodeOptions())
        let unpacked = try data.withUnsafeBytes { bytes -> Int in
            let chunks = try PNGChunks(bytes)
            return try #require(PNGLayout(chunks, size: source.size, bytes, format: .rgba8)?.unpackedBytes)
        }
        #expect(unpacked > PNGUnpackedRows.mostUnpackedForThumbnail)
        var limits = DecodeLimits()
        limits.maximumBytes = ByteCount(unpacked - 1)
        let large = ByteCount.gigabytes(1)
        let cases = [
            (limits: DecodeLimits(), budget: large, isAtOnce: true),
            (limits: DecodeLimits(), budget: ByteCount(unpacked), isAtOnce: false),
            (limits: limits, budget: large, isAtOnce: false),
        ]
        var options = DecodeOptions()
        options.thumbnailSize = PixelSize(width: 100, height: 100)
        let thumbnail = try decode(data, atOnce: false) { $0 = options }
        for (limits, room, isAtOnce) in cases {
            let (pool, budget) = (PixelBufferPool(limit: 0), DecodeBudget(limit: room))
            let context = ProcessingContext(limits: limits, pool: pool, budget: budget)
            let image = try PNGCoder().decode(data, options: options, context: context)
            #expect(image.pixels == thumbnail.pixels)
            let (taken, statistics) = (pool.statistics.peakBytes, budget.statistics)
            #expect((taken > unpacked) == isAtOnce, "\(taken)")
            #expect(taken <= statistics.peakBytes && statistics.peakBytes <= room.bytes, "\(statistics.peakBytes)")
            #expect(statistics.reservedBytes == 0 && statistics.decodes == 0)
        }
        #expect(try decode(data, atOnce: true).pixels == source.pixels)
    }
}

/// A PNG of random samples, filters and divisions into chunks.
private struct RandomPNG {
    let width: Int
    let height: Int
    private let bitDepth: UInt8
    private let colorType: UInt8
    private var chunks: [(type: String, contents: [UInt8])] = []
    private var rows: [[UInt8]] = []

    var hasTransparentColor: Bool { colorType == 0 && !chunks.isEmpty }

    init(
        width: Int, height: Int, bitDepth: UInt8, colorType: UInt8, filters: ClosedRange<UInt8> = 0...4,
        using random: inout SeededRandom
    ) {
        (self.width, self.height, self.bitDepth, self.colorType) = (width, height, bitDepth, colorType)
        let samples = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4][colorType] ?? 1
        let bytes = (width * samples * Int(bitDepth) + 7) / 8
        for _ in 0..<height {
            // Small values between filters as large ones: what is undone depends on all of what is around.
            let isFlat = Bool.random(using: &random)
            rows.append(
                [UInt8.random(in: filters, using: &random)]
                    + (0..<bytes).map { _ in .random(in: isFlat ? 0...3 : 0...255, using: &random) })
        }
        let colors = Int.random(in: 1...(1 << Int(bitDepth)), using: &random)
        func noise(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: 0...255, using: &random) } }
        if colorType == 3 { chunks.append(("PLTE", noise(3 * colors))) }
        if colorType == 3, Bool.random(using: &random) {
            chunks.append(("tRNS", noise(.random(in: 1...colors, using: &random))))
        }
        if colorType == 0, Bool.random(using: &random) { chunks.append(("tRNS", noise(2))) }
    }

    func data(using random: inout SeededRandom) -> Data {
        let stream = HandmadePNG.deflated(rows.flatMap { $0 })
        var parts: [[UInt8]] = []
        var rest = stream[...]
        while !rest.isEmpty {
            let count = Int.random(in: 0...max(1, stream.count / 3), using: &random)
            parts.append(Array(rest.prefix(count)))
            rest = rest.dropFirst(count)
        }
        return HandmadePNG.file(
            width: width, height: height, bitDepth: bitDepth, colorType: colorType, chunks: chunks, parts)
    }
}
