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
        optimized: Bool = false
    ) throws -> Data {
        var options = EncodeOptions(quality: quality)
        options.jpeg.subsampling = subsampling
        options.jpeg.restartRows = restartRows
        options.jpeg.optimizesHuffmanCodes = optimized
        return try JPEGCoder().encode(image, as: .jpeg, options: options)
    }

    private func expectEqual(_ data: Data, _ name: String, last: [Int] = [5, 9, 14], warmUp: Int = 1_024) throws {
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

    @Test("A stream that began at a wrong place is taken over, and nothing changes", arguments: [8, 24, 64])
    func takeovers(warmUp: Int) throws {
        var takeovers = 0
        for seed in 1...4 {
            let image = try Self.picture(700, 500, noise: 40, seed: UInt64(seed))
            let data = try Self.file(image, quality: 0.9)
            #expect(data.count > 100_000)
            try expectEqual(data, "\(seed)", last: [14], warmUp: warmUp)
            takeovers += try ThumbnailCoefficients.decode(data, last: 5, warmUp: warmUp)?.takeovers ?? 0
        }
        if warmUp == 8 { #expect(takeovers > 0) }
    }

    @Test("What is accepted of damaged files has the coefficients of libjpeg, which has no warning")
    func mutants() throws {
        let files = try [
            Self.file(Self.picture(90, 70, noise: 40), quality: 0.8),
            Self.file(Self.picture(64, 64, noise: 90), quality: 0.95, .full, restartRows: 1),
        ]
        var generator = SeededRandom(seed: 3_434)
        var accepted = 0
        for round in 0..<300 {
            var data = files[round % files.count]
            for _ in 0...Int.random(in: 0...2, using: &generator) {
                let place = Int.random(in: 2..<data.count, using: &generator)
                data[place] = UInt8.random(in: 0...255, using: &generator)
            }
            if round % 5 == 4 { data = data.prefix(Int.random(in: 2..<data.count, using: &generator)) }
            guard let decoded = try ThumbnailCoefficients.decode(data, last: 14, warmUp: 16) else { continue }
            accepted += 1
            #expect(decoded.values == ThumbnailCoefficients.reference(data, last: 14), "round \(round)")
        }
        #expect(accepted > 10)
    }

    @Test(
        "Coefficients of all sequential files of the corpora are those of libjpeg",
        .enabled(if: ProcessInfo.processInfo.environment["TINTYPE_CORPORA"] != nil))
    func corpora() throws {
        let folder = try #require(ProcessInfo.processInfo.environment["TINTYPE_CORPORA"])
        let paths = try #require(FileManager.default.enumerator(atPath: folder)).compactMap { $0 as? String }
        var compared = 0
        for path in paths.sorted() where path.hasSuffix(".jpg") || path.hasSuffix(".jpeg") {
            let data = try Data(contentsOf: URL(fileURLWithPath: folder).appendingPathComponent(path))
            // Large photographs take long in a build without optimization.
            guard data.count < 400_000, let decoded = try ThumbnailCoefficients.decode(data, last: 14) else { continue }
            #expect(decoded.values == ThumbnailCoefficients.reference(data, last: 14), "\(path)")
            compared += 1
        }
        #expect(compared > 50)
    }
}
