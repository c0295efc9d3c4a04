#if AVIF || HEIF
import Foundation
import TestSupport
import Testing
import TintypeImages
import TintypeTesting

@testable import TintypeCodecs

/// Files of HEIF and AVIF that are cut, and files that something was appended to.
@Suite("Ends of HEIF and AVIF", .timeLimited)
struct TruncationTests {
    /// Bytes that servers and programs append: a part of a header, a box that lasts to the end, boxes of 1 GB and more.
    private static let leftovers: [Data] = [
        Data("\n".utf8), Data("\r\n".utf8), Data(count: 3), Data(count: 20), Data(repeating: 0xFF, count: 12),
        Data("<!-- made by a server -->".utf8), Data([0xFF, 0xD8, 0xFF, 0xE0, 0, 16]) + Data("JFIF\0".utf8),
        Data([0, 0, 0, 2]) + Data("odd leftover".utf8),
    ]

    /// A file is the same image with anything behind it, and isn't complete without its last byte.
    private func expectEnd(
        _ coder: some ImageCoder, _ data: Data, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let (image, info) = (try coder.decode(data), try coder.info(data))
        #expect(info.isComplete, sourceLocation: sourceLocation)
        for leftover in Self.leftovers {
            let longer = data + leftover
            #expect(try coder.info(longer) == info, "\(Array(leftover))", sourceLocation: sourceLocation)
            let other = try coder.decode(longer)
            #expect(!other.isPartial && other.properties == image.properties, sourceLocation: sourceLocation)
            #expect(other.frames == image.frames, sourceLocation: sourceLocation)
        }
        let shorter = Data(data.dropLast())
        #expect(try !coder.info(shorter).isComplete, sourceLocation: sourceLocation)
    }

    private func still() throws -> Image {
        try RasterSamples.gradient(48, 32).with {
            $0.metadata = ImageMetadata(exif: HandmadeExif().data, xmp: HandmadeExif.xmp())
        }
    }

    private static var options: EncodeOptions {
        var options = EncodeOptions()
        options.keepsMetadata = true
        return options
    }

    #if AVIF
    @Test("An AVIF with bytes behind its end is whole, moves, and has its metadata")
    func avif() throws {
        let coder = AVIFCoder()
        let data = try coder.encode(try still(), as: .avif, options: Self.options)
        let metadata = try coder.info(data).metadata
        #expect(metadata.exif != nil && metadata.xmp != nil)
        try expectEnd(coder, data)
        let frames = try [red, green, blue].map { color in
            ImageFrame(pixels: try RasterSamples.pixels(32, 16) { _, _ in color }, duration: .milliseconds(50))
        }
        let moving = try #require(Image(frames: frames)).with { $0.hasAlpha = false }
        try expectEnd(coder, try coder.encode(moving, as: .avif, options: EncodeOptions()))
    }
    #endif

    #if HEIF
    @Test("A HEIC with bytes behind its end is whole, and has its metadata")
    func heic() throws {
        let data = try HEIFCoder().encode(try still(), as: .heic, options: Self.options)
        let metadata = try HEIFCoder().info(data).metadata
        #expect(metadata.exif != nil && metadata.xmp != nil)
        try expectEnd(HEIFCoder(), data)
    }

    @Test("A sequence of HEIC with bytes behind its end moves, also if its description comes last")
    func sequence() throws {
        var movie = TestMovie(tracks: [HEIFTestSequence.track(try KnownPictures.encode(4))])
        try expectEnd(HEIFCoder(), movie.data)
        movie.beginning = try HEIFCoder().encode(try still(), as: .heic, options: Self.options)
        try expectEnd(HEIFCoder(), movie.data)
        (movie.beginning, movie.movieIsLast) = (nil, true)
        let data = movie.data
        for leftover in Self.leftovers {
            let image = try HEIFCoder().decode(data + leftover)
            #expect(image.frames.count == 4 && !image.isPartial)
        }
        expectCode(.truncatedImage) { try HEIFCoder().decode(Data(data.dropLast())) }
    }

    @Test("A box that ends early is no loss if nothing refers to its end")
    func unusedEnd() throws {
        var data = HEIFTestStill(items: [try HEIFTestStill.picture()]).data
        let media = try #require(data.range(of: Data("mdat".utf8), options: .backwards)).lowerBound - 4
        data.replaceSubrange(media..<media + 4, with: TestMovie.number(data.count - media + 100))
        #expect(try HEIFCoder().info(data).isComplete)
        #expect(try !HEIFCoder().info(Data(data.dropLast())).isComplete)
    }

    @Test("A still image whose file is branded as a sequence isn't whole before the sequence is described")
    func missingSequence() throws {
        var movie = TestMovie(tracks: [HEIFTestSequence.track(try KnownPictures.encode(4))])
        movie.movieIsLast = true
        var beginning = HEIFTestStill(items: [try HEIFTestStill.picture()]).data
        let brand = try #require(beginning.range(of: Data("mif1".utf8)))
        beginning.replaceSubrange(brand, with: Data("msf1".utf8))
        movie.beginning = beginning
        #expect(try HEIFCoder().info(movie.data).isAnimated)
        #expect(try !HEIFCoder().info(Data(movie.data.prefix(beginning.count + 20))).isComplete)
    }
    #endif
}
#endif
