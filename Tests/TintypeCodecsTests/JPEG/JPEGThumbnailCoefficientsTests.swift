import Foundation
import TestSupport
import Testing
import TintypeImages
import TintypeTesting

@testable import TintypeCodecs

@Suite("JPEG, coefficients of thumbnails", .timeLimited)
struct JPEGThumbnailCoefficientsTests {
    /// Smooth colors with noise, so that blocks have many coefficients.
    static func picture(_ width: Int, _ height: Int, noise: Int, seed: UInt64 = 34) throws -> Image {
        var generator = SeededRandom(seed: seed)
        return try RasterSamples.image(width, height) { x, y in
            func component(_ value: Int) -> UInt8 {
                UInt8(max(0, min(255, value + Int.random(in: -noise...noise, using: &generator))))
            }
            return SIMD4(
                component(x * 255 / width), component(y * 255 / height), component((x ^ y) & 255), 255)
        }
    }

    static func file(
        _ image: Image, quality: Double, _ subsampling: ChromaSubsampling = .half, restartRows: Int = 0,
        optimized: Bool = false, progressive: Bool = false
    ) throws -> Data {
        var options = EncodeOptions(quality: quality)
        options.progressive = progressive
        options.jpeg.subsampling = subsampling
        options.jpeg.restartRows = restartRows
        options.jpeg.optimizesHuffmanCodes = optimized
        return try JPEGCoder().encode(image, as: .jpeg, options: options)
    }

    private func expectEqual(_ data: Data, _ name: String, last: [Int] = [5, 9, 14, 27], warmUp: Int = 1_024) throws {
        for last in last {
            let decoded = try #require(try ThumbnailCoefficients.decode(data, last: last, warmUp: warmUp), "\(name)")
            #expect(decoded.values == ThumbnailCoefficients.reference(data, last: last), "\(name), last \(last)")
        }
    }

    @Test(
        "Coefficients are those of libjpeg, whatever the quality and the resolution of color",
        arguments: [
            0.05, 0.3, 0.5, 0.75, 0.9, 0.97, 1,
        ])
    func qualities(quality: Double) throws {
        for subsampling in [ChromaSubsampling.full, .halfAcross, .half] {
            for (noise, optimized) in [(0, false), (20, true), (120, false)] {
                let image = try Self.picture(173, 131, noise: noise)
                let data = try Self.file(image, quality: quality, subsampling, optimized: optimized)
                try expectEqual(data, "\(subsampling) \(noise)")
                let progressive = try Self.file(image, quality: quality, subsampling, progressive: true)
                try expectEqual(
                    progressive, "progressive, \(subsampling) \(noise)",
                    last: [5, 9, ThumbnailCoefficients.lastOfProgressive])
            }
        }
    }

    @Test("Coefficients of pictures of any size are those of libjpeg")
    func sizes() throws {
        for (width, height) in [(1, 1), (1, 9), (7, 1), (8, 8), (9, 17), (16, 15), (33, 64), (640, 3), (2, 500)] {
            for restartRows in [0, 1, 3] {
                let data = try Self.file(
                    Self.picture(width, height, noise: 30), quality: 0.8, restartRows: restartRows)
                try expectEqual(data, "\(width)x\(height) \(restartRows)")
            }
            let progressive = try Self.file(
                Self.picture(width, height, noise: 30), quality: 0.8, progressive: true)
            try expectEqual(progressive, "progressive, \(width)x\(height)", last: [5, 9])
        }
    }

    @Test("Coefficients between restart markers are those of libjpeg", arguments: [1, 2, 5, 40])
    func restarts(rows: Int) throws {
        for subsampling in [ChromaSubsampling.full, .half] {
            let data = try Self.file(
                Self.picture(300, 400, noise: 60), quality: 0.9, subsampling, restartRows: rows)
            try expectEqual(data, "\(subsampling)", last: [9])
        }
    }

    @Test("Coefficients of a scan that takes several windows are those of libjpeg", arguments: [0, 1, 20])
    func windows(restartRows: Int) throws {
        let data = try Self.file(Self.picture(700, 500, noise: 60), quality: 1, .full, restartRows: restartRows)
        // A window has 393,216 bytes at most.
        #expect(data.count > 600_000)
        try expectEqual(data, "\(restartRows)", last: [14])
    }

    @Test("A stream that began at a wrong place is taken over, and nothing changes", arguments: [8, 24, 64])
    func takeovers(warmUp: Int) throws {
        var takeovers = 0
        for seed in 1...2 {
            let image = try Self.picture(700, 500, noise: 40, seed: UInt64(seed))
            let data = try Self.file(image, quality: 0.9)
            #expect(data.count > 100_000)
            try expectEqual(data, "\(seed)", last: [14, 27], warmUp: warmUp)
            takeovers += try ThumbnailCoefficients.decode(data, last: 5, warmUp: warmUp)?.takeovers ?? 0
        }
        if warmUp == 8 { #expect(takeovers > 0) }
    }

    /// The rounds of a test that may be run for long: with `CRASH_ROUNDS=200`, a hundred times as many as usual.
    static func rounds(_ usual: Int) -> Int {
        (ProcessInfo.processInfo.environment["CRASH_ROUNDS"].flatMap { Int($0) } ?? 2) * usual / 2
    }

    @Test(
        "What is accepted of damaged files has the coefficients of libjpeg, which has no warning",
        arguments: [false, true])
    func mutants(progressive: Bool) throws {
        let files = try [
            Self.file(Self.picture(90, 70, noise: 40), quality: 0.8, progressive: progressive),
            Self.file(
                Self.picture(64, 64, noise: 90), quality: 0.95, .full, restartRows: progressive ? 0 : 1,
                progressive: progressive),
        ]
        var generator = SeededRandom(seed: 3_434)
        var accepted = 0
        let last = BlockFormat.lastCoefficient
        for round in 0..<Self.rounds(160) {
            var data = files[round % files.count]
            for _ in 0...Int.random(in: 0...2, using: &generator) {
                let place = Int.random(in: 2..<data.count, using: &generator)
                data[place] = UInt8.random(in: 0...255, using: &generator)
            }
            if round % 5 == 4 { data = data.prefix(Int.random(in: 2..<data.count, using: &generator)) }
            guard let decoded = try ThumbnailCoefficients.decode(data, last: last, warmUp: 16) else { continue }
            accepted += 1
            #expect(decoded.values == ThumbnailCoefficients.reference(data, last: last), "round \(round)")
        }
        #expect(accepted > 10)
    }

    @Test("Coefficients of files of any kind are those of libjpeg")
    func madeFiles() throws {
        let rounds = Self.rounds(100)
        var generator = SeededRandom(seed: 10_000)
        var kinds: Set<String> = []
        var refused = 0
        for number in 0..<rounds {
            let side = number % 20 == 0 ? 300 : 60
            let (width, height) = (
                Int.random(in: 1...side, using: &generator), Int.random(in: 1...side, using: &generator)
            )
            let progressive = Bool.random(using: &generator)
            let restartRows = progressive ? 0 : max(0, Int.random(in: -4...3, using: &generator))
            let sampling = [ChromaSubsampling.full, .halfAcross, .half][Int.random(in: 0..<3, using: &generator)]
            let image = try Self.picture(
                width, height, noise: Int.random(in: 0...127, using: &generator), seed: UInt64(number))
            let data = try Self.file(
                image, quality: Double.random(in: 0...1, using: &generator), sampling, restartRows: restartRows,
                optimized: Bool.random(using: &generator), progressive: progressive)
            let last = [5, 9, 13, 27][number % 4]
            guard let decoded = try ThumbnailCoefficients.decode(data, last: last, warmUp: [16, 1_024][number % 2])
            else {
                refused += 1
                continue
            }
            let reference = ThumbnailCoefficients.reference(data, last: last)
            #expect(decoded.values == reference, "\(number): \(width)x\(height) \(sampling)")
            kinds.insert("\(progressive) \(restartRows) \(sampling)")
        }
        #expect(kinds.count > 12)
        // libjpeg may decode a few, such as tiny ones of much noise.
        #expect(refused <= max(1, rounds / 500))
    }

    @Test("A scan that ends in the middle of an MCU, and with far fewer than its size says, is refused")
    func endWithinMCU() throws {
        // So many MCUs are missing that there is no room for them in a window. What is left of the window then begins behind its end.
        var data = try Self.file(Self.picture(700, 500, noise: 40), quality: 0.9)
        let header = try #require(data.firstRange(of: Data([0xFF, 0xC0, 0, 17, 8])))
        data[header.upperBound] = 0x40
        for cut in 0..<40 {
            let part = data.dropLast(2 + cut * 3) + [0xFF, 0xD9]
            #expect(try ThumbnailCoefficients.decode(part, last: 14) == nil, "\(cut)")
        }
    }

    @Test("JFIF of another version than 1 is left to libjpeg, which doubts its colors")
    func version() throws {
        var data = try Self.file(Self.picture(90, 70, noise: 40), quality: 0.9)
        let name = try #require(data.firstRange(of: Data("JFIF\0".utf8)))
        data[name.upperBound] = 2
        #expect(try ThumbnailCoefficients.decode(data, last: 5) == nil)
    }

    @Test("Progressive files whose scans aren't all there, or have more behind them, are left to libjpeg")
    func incomplete() throws {
        let data = try Self.file(Self.picture(90, 70, noise: 40), quality: 0.9, progressive: true)
        let scans = try #require(data.withUnsafeBytes { JPEGScans($0) }).scans
        #expect(try ThumbnailCoefficients.decode(data, last: 9) != nil)
        for index in scans.indices {
            var fewer = data
            fewer.removeSubrange(scans[index].range)
            #expect(try ThumbnailCoefficients.decode(fewer, last: 9) == nil, "without scan \(index)")
        }
        let more = data.dropLast(2) + [0xFF, 0xFE, 0, 2, 0xFF, 0xD9]
        #expect(try ThumbnailCoefficients.decode(more, last: 9) == nil)
    }

    /// How the decoder of thumbnails ends with a file.
    private enum Outcome: String, CaseIterable {
        case equal = "with the coefficients of libjpeg"
        case different = "with others"
        /// Such as four components, or restart markers in a progressive file.
        case kind = "of another kind"
        case damaged = "that libjpeg warns about too"
        case refused = "refused, though libjpeg has no warning"

        init(_ data: Data) throws {
            let last = ThumbnailCoefficients.lastOfProgressive
            let bytes = Array(data)
            if let decoded = try ThumbnailCoefficients.decode(data, last: last) {
                self = decoded.values == ThumbnailCoefficients.reference(data, last: last) ? .equal : .different
            } else if !bytes.starts(with: [0xFF, 0xD8]) {
                self = .kind
            } else if let frame = try? ThumbnailFrame(bytes.span), !frame.isProgressive || frame.restartInterval == 0 {
                self = ThumbnailCoefficients.reference(data, last: last) == nil ? .damaged : .refused
            } else {
                self = .kind
            }
        }
    }

    /// Run by `scripts/test-long`. It prints the numbers.
    @Test(
        "Coefficients of all files of the corpora that aren't left to libjpeg are those of libjpeg",
        .enabled(if: ProcessInfo.processInfo.environment["TINTYPE_CORPORA"] != nil))
    func corpora() async throws {
        let folder = try #require(ProcessInfo.processInfo.environment["TINTYPE_CORPORA"])
        let paths = try #require(FileManager.default.enumerator(atPath: folder)).compactMap { $0 as? String }
        let files = paths.filter { $0.hasSuffix(".jpg") || $0.hasSuffix(".jpeg") }
        let outcomes = try await withThrowingTaskGroup(of: (String, Outcome).self) { group in
            for path in files {
                group.addTask {
                    let file = URL(fileURLWithPath: folder).appendingPathComponent(path)
                    return (path, try Outcome(Data(contentsOf: file)))
                }
            }
            return try await group.reduce(into: [(String, Outcome)]()) { $0.append($1) }
        }
        for outcome in Outcome.allCases {
            print("thumbnails: \(outcomes.filter { $0.1 == outcome }.count) JPEG files \(outcome.rawValue)")
        }
        for (path, outcome) in outcomes where outcome == .refused { print("thumbnails: left: \(path)") }
        for (path, outcome) in outcomes where outcome == .different { Issue.record("\(path): \(outcome.rawValue)") }
        #expect(outcomes.filter { $0.1 == .equal }.count > 50)
    }
}
