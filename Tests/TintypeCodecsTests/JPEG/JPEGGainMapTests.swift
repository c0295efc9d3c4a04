import FoundationEssentials
import Glibc
import TestSupport
import Testing
import TintypeImages
import TintypeTesting

@testable import TintypeCodecs

@Suite("JPEG gain maps", .timeLimited)
struct JPEGGainMapTests {
    private static let urn = Array("urn:iso:std:iso:ts:21496:-1\0".utf8)

    private func big(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * (count - 1 - $0))) }
    }

    private func segment(_ marker: UInt8, _ contents: [UInt8]) -> [UInt8] {
        [0xFF, marker] + big(contents.count + 2, 2) + contents
    }

    /// The binary form of ISO 21496-1.
    private func parameters(
        flags: Int, headrooms: [(Int, Int)], channels: [[(Int, Int)]], version: Int = 0
    ) -> [UInt8] {
        let fractions = (headrooms + channels.joined()).flatMap { big($0.0, 4) + big($0.1, 4) }
        return big(version, 2) + big(0, 2) + [UInt8(flags)] + fractions
    }

    private let channel = [(-1, 2), (5, 2), (1, 1), (1, 64), (1, 32)]

    /// A JPEG with a second picture behind it, and the index that says so.
    /// - Parameters:
    ///   - empty: The number of pictures without bytes between them in the index.
    ///   - picture: The second picture; green for `nil`.
    private func file(
        segments: [UInt8], isLittleEndian: Bool = false, size: Int = 0, offset: Int = 0, empty: Int = 0,
        picture: Data? = nil
    ) throws -> Data {
        let coder = JPEGCoder()
        let image = try coder.encode(makeImage(RasterSamples.pixels(32, 16) { _, _ in red }), as: .jpeg)
        var map = try picture ?? coder.encode(makeImage(RasterSamples.pixels(8, 4) { _, _ in green }), as: .jpeg)
        map.insert(contentsOf: segments, at: 2)
        func number(_ value: Int, _ count: Int) -> [UInt8] {
            isLittleEndian ? big(value, count).reversed() : big(value, count)
        }
        func entry(_ tag: Int, _ type: Int, _ count: Int, _ value: [UInt8]) -> [UInt8] {
            number(tag, 2) + number(type, 2) + number(count, 4) + value
        }
        let head = Array((isLittleEndian ? "II" : "MM").utf8) + number(42, 2) + number(8, 4)
        // Three entries, and the list of pictures behind them.
        let list = head.count + 2 + 36 + 4
        let length = 4 + 4 + list + 32 + 16 * empty
        let end = image.count + length
        let pictures =
            number(0, 4) + number(end, 4) + number(0, 8) + [UInt8](repeating: 0, count: 16 * empty)
            + number(0, 4) + number(map.count + size, 4) + number(end - 10 + offset, 4) + number(0, 4)
        let index =
            head + number(3, 2) + entry(0xB000, 7, 4, Array("0100".utf8)) + entry(0xB001, 4, 1, number(2 + empty, 4))
            + entry(0xB002, 7, 32 + 16 * empty, number(list, 4)) + number(0, 4) + pictures
        var file = image
        file.insert(contentsOf: segment(0xE2, Array("MPF\0".utf8) + index), at: 2)
        try #require(file.count == end)
        return file + map
    }

    @Test(
        "The gain map of a file comes with its size and its parameters", .capability("COD-54", "MET-10"),
        arguments: [false, true])
    func iso(isLittleEndian: Bool) throws {
        let bytes = parameters(flags: 0x40, headrooms: [(0, 1), (3, 1)], channels: [channel])
        let data = try file(segments: segment(0xE2, Self.urn + bytes), isLittleEndian: isLittleEndian)
        let gainMap = try #require(JPEGGainMap(of: data))
        #expect(gainMap.standard == .iso && gainMap.size == PixelSize(width: 8, height: 4))
        let info = try JPEGCoder().info(data)
        #expect(info.gainMap == ImageInfo.GainMap(size: gainMap.size, components: gainMap.components))
        let read = try #require(gainMap.parameters)
        #expect(read.baseHeadroom == 0 && read.alternateHeadroom == 3 && read.usesBaseColorSpace)
        let expected = GainMapParameters.Channel(
            minimum: -0.5, maximum: 2.5, gamma: 1, baseOffset: 0.015625, alternateOffset: 0.03125)
        #expect(read.channels == [expected])
        // It can be decoded, and the image itself is what it was.
        #expect(try Image(pixels: JPEGCoder().decode(gainMap.data).pixels).size == gainMap.size)
        #expect(try JPEGCoder().decode(data).size == PixelSize(width: 32, height: 16))
    }

    @Test("Of an index of pictures, sixteen after the first are looked through", arguments: [(15, true), (16, false)])
    func longIndex(empty: Int, isFound: Bool) throws {
        let bytes = parameters(flags: 0, headrooms: [(0, 1), (3, 1)], channels: [channel])
        let data = try file(segments: segment(0xE2, Self.urn + bytes), empty: empty)
        #expect((JPEGGainMap(of: data) != nil) == isFound)
        #expect(try JPEGCoder().decode(data).size == PixelSize(width: 32, height: 16))
    }

    @Test("Three components have parameters of their own")
    func channels() throws {
        let other = [(0, 1), (1, 1), (2, 1), (0, 1), (0, 1)]
        let bytes = parameters(flags: 0x80, headrooms: [(1, 2), (4, 1)], channels: [channel, other, channel])
        let gainMap = try #require(JPEGGainMap(of: file(segments: segment(0xE2, Self.urn + bytes))))
        let read = try #require(gainMap.parameters)
        #expect(read.channels.count == 3 && read.channels[1].gamma == 2 && read.baseHeadroom == 0.5)
        #expect(!read.usesBaseColorSpace)
    }

    @Test("Parameters in XMP are read from attributes and lists")
    func xmp() throws {
        let packet = """
            <rdf:Description hdrgm:Version="1.0" hdrgm:HDRCapacityMax='4' hdrgm:OffsetSDR="0.5">
            <hdrgm:GainMapMax><rdf:Seq><rdf:li>1</rdf:li><rdf:li>2.5</rdf:li><rdf:li>3</rdf:li></rdf:Seq></hdrgm:GainMapMax>
            <hdrgm:Gamma> 2 </hdrgm:Gamma></rdf:Description>
            """
        let contents = Array("http://ns.adobe.com/xap/1.0/\0".utf8) + Array(packet.utf8)
        let gainMap = try #require(JPEGGainMap(of: file(segments: segment(0xE1, contents))))
        #expect(gainMap.standard == .adobe)
        let read = try #require(gainMap.parameters)
        #expect(read.alternateHeadroom == 4 && read.baseHeadroom == 0 && read.channels.map(\.maximum) == [1, 2.5, 3])
        #expect(
            read.channels[2]
                == .init(minimum: 0, maximum: 3, gamma: 2, baseOffset: 0.5, alternateOffset: 1.0 / 64))
        for wrong in ["", "hdrgm:GainMapMax='1'", "hdrgm:GainMapMax='x' hdrgm:HDRCapacityMax='1'"] {
            #expect(GainMapParameters(xmp: wrong) == nil)
        }
    }

    @Test("Parameters that make no sense are left out, and the gain map remains")
    func senseless() throws {
        let good = parameters(flags: 0, headrooms: [(0, 1), (3, 1)], channels: [channel])
        let bad = [
            [], Array(good.dropLast()), parameters(flags: 0, headrooms: [(0, 0), (3, 1)], channels: [channel]),
            parameters(flags: 0, headrooms: [(0, 1), (3, 1)], channels: [channel], version: 1),
            parameters(flags: 0x80, headrooms: [(0, 1), (3, 1)], channels: [channel]),
            parameters(flags: 8, headrooms: [(0, 1), (3, 1)], channels: [channel]),
            parameters(
                flags: 0, headrooms: [(0, 1), (3, 1)], channels: [[(5, 1), (1, 1), (1, 1), (0, 1), (0, 1)]]),
            parameters(
                flags: 0, headrooms: [(0, 1), (3, 1)], channels: [[(0, 1), (1, 1), (0, 1), (0, 1), (0, 1)]]),
        ]
        #expect(GainMapParameters(iso: good) != nil)
        for bytes in bad {
            let gainMap = try #require(JPEGGainMap(of: file(segments: segment(0xE2, Self.urn + bytes))))
            #expect(gainMap.parameters == nil && gainMap.standard == .iso)
        }
    }

    @Test("Parameters in XMP count where those of the standard can't be read", .capability("COD-54"))
    func unreadableStandard() throws {
        let packet = #"<rdf:Description hdrgm:Version="1.0" hdrgm:GainMapMax="2" hdrgm:HDRCapacityMax="2"/>"#
        let xmp = segment(0xE1, Array("http://ns.adobe.com/xap/1.0/\0".utf8) + Array(packet.utf8))
        for version in [0, 1] {
            let bytes = parameters(flags: 0, headrooms: [(0, 1), (3, 1)], channels: [channel], version: version)
            let data = try file(segments: segment(0xE2, Self.urn + bytes) + xmp)
            let gainMap = try #require(JPEGGainMap(of: data))
            #expect(gainMap.standard == (version == 0 ? .iso : .adobe))
            #expect(gainMap.parameters?.alternateHeadroom == (version == 0 ? 3 : 2))
            #expect(try JPEGCoder().decode(data) { $0.decodeToHDR = true }.isHighDynamicRange)
        }
    }

    @Test("A denominator that all numbers have in common is read, as libultrahdr writes it", .capability("COD-54"))
    func commonDenominator() throws {
        func bytes(flags: Int = 0x48, denominator: Int = 4) -> [UInt8] {
            let numbers = [denominator, 0, 12, -2, 10, 4, 1, 2]
            return big(0, 2) + big(0, 2) + [UInt8(flags)] + numbers.flatMap { big($0, 4) }
        }
        let read = try #require(GainMapParameters(iso: bytes()))
        #expect(read.baseHeadroom == 0 && read.alternateHeadroom == 3 && read.usesBaseColorSpace)
        let expected = GainMapParameters.Channel(
            minimum: -0.5, maximum: 2.5, gamma: 1, baseOffset: 0.25, alternateOffset: 0.5)
        #expect(read.channels == [expected])
        #expect(GainMapParameters(iso: bytes(denominator: 0)) == nil)
        #expect(GainMapParameters(iso: bytes(flags: 0xC8)) == nil, "two channels are missing")
        #expect(GainMapParameters(iso: bytes(flags: 0x4C)) == nil, "the image itself has the range")
        for count in 0..<bytes().count { #expect(GainMapParameters(iso: Array(bytes().prefix(count))) == nil) }
    }

    @Test(
        "The values of a map aren't colors, and lie like those of the image, whatever profile and orientation it has",
        .capability("COD-54"))
    func values() throws {
        let pixels = try RasterSamples.pixels(8, 4) { x, _ in
            SIMD4(UInt8(x * 30), UInt8(x * 30), UInt8(x * 30), 255)
        }
        let gray = try #require(
            try JPEGWriter().write(makeImage(pixels, hasAlpha: false), quality: 100, EncodeOptions(), isGray: true))
        let iso = segment(
            0xE2, Self.urn + parameters(flags: 0x40, headrooms: [(0, 1), (3, 1)], channels: [channel]))
        let profile = [UInt8](try ProfileSamples.linearGray())
        let statements =
            segment(0xE2, Array("ICC_PROFILE\0".utf8) + [1, 1] + profile)
            + segment(0xE1, Array("Exif\0\0".utf8) + RasterSamples.exif(6, littleEndian: true))
        let plain = try file(segments: iso, picture: gray)
        let described = try file(segments: statements + iso, picture: gray)
        let image = try JPEGCoder().decode(plain)
        let maps = try [plain, described].map { data in
            try #require(JPEGGainMap(of: data)).pixels(turnedLike: image, ProcessingContext())
        }
        #expect(maps[0].size == PixelSize(width: 8, height: 4) && maps[0] == maps[1])
        let bright = try [plain, described].map { data in try JPEGCoder().decode(data) { $0.decodeToHDR = true } }
        #expect(bright[0].isHighDynamicRange && bright[0].pixels == bright[1].pixels)
    }

    /// The light of a pixel.
    private func light(_ image: Image, _ x: Int, _ y: Int) -> [Double] {
        let color = image.pixels.component(x: x, y: y)
        return [color.x, color.y, color.z].map { value in
            let light = TransferCurves.sRGBLight(abs(Double(value)))
            return value < 0 ? -light : light
        }
    }

    @Test("A gain map is applied, as much as the display can show", .capability("COD-54"))
    func applied() throws {
        // The map is green, (0, 128, 0) or so; the image red.
        let bytes = parameters(
            flags: 0x40, headrooms: [(0, 1), (2, 1)], channels: [[(-1, 1), (2, 1), (1, 1), (1, 64), (1, 32)]])
        let data = try file(segments: segment(0xE2, Self.urn + bytes))
        let gainMap = try #require(JPEGGainMap(of: data))
        let image = try JPEGCoder().decode(data)
        let map = try JPEGCoder().decode(gainMap.data).pixels.resized(to: image.size)
        for (headroom, weight) in [(nil, 1.0), (2, 1), (9, 1), (1, 0.5), (0, 0), (-1, 0), (Double.nan, 0)] {
            let result = try gainMap.applied(to: image, headroom: headroom)
            #expect(result.isHighDynamicRange && result.colorSpace == .extendedSRGB && result.size == image.size)
            #expect(result.pixels.format == .rgbaFloat16)
            let (before, after) = (light(image, 9, 7), light(result, 9, 7))
            for component in 0..<3 {
                let share = Double(map[9, 7][component]) / 255
                let gain = exp2((-1 + 3 * share) * weight)
                let expected = weight == 0 ? before[component] : (before[component] + 1.0 / 64) * gain - 1.0 / 32
                #expect(
                    abs(after[component] - expected) < 0.01 + 0.01 * abs(expected), "\(headroom ?? 99) \(component)")
            }
        }
        // A thumbnail has the same map.
        let small = try JPEGCoder().decode(data, options: DecodeOptions(thumbnailSize: PixelSize(width: 8, height: 8)))
        #expect(try gainMap.applied(to: small).size == PixelSize(width: 8, height: 4))
    }

    @Test("A gain map that can't be applied is an error", .capability("COD-54"))
    func inapplicable() throws {
        func code(_ bytes: [UInt8], _ change: (Image) throws -> Image = { $0 }, limit: Int = .max) throws -> ImageError
            .Code?
        {
            let data = try file(segments: segment(0xE2, Self.urn + bytes))
            let gainMap = try #require(JPEGGainMap(of: data))
            let image = try change(JPEGCoder().decode(data))
            var limits = DecodeLimits()
            limits.maximumPixels = min(limits.maximumPixels, limit)
            do throws(ImageError) {
                _ = try gainMap.applied(to: image, context: ProcessingContext(limits: limits))
                return nil
            } catch {
                return error.code
            }
        }
        let good = parameters(flags: 0, headrooms: [(0, 1), (3, 1)], channels: [channel])
        #expect(try code(good) == nil)
        #expect(try code([]) == .transformFailed)
        #expect(try code(parameters(flags: 0, headrooms: [(3, 1), (3, 1)], channels: [channel])) == .transformFailed)
        #expect(try code(good, { image in image.with { $0.isHighDynamicRange = true } }) == .transformFailed)
        #expect(try code(good, limit: 100) == .limitExceeded)
        // Numbers beyond all displays stay finite.
        let huge = [(-(1 << 31), 1), ((1 << 31) - 1, 1), (1, 1 << 31), ((1 << 31) - 1, 1), (-(1 << 31), 1)]
        #expect(try code(parameters(flags: 0, headrooms: [(0, 1), (3, 1)], channels: [huge])) == nil)
    }

    @Test("Other pictures, and places outside of the file, are no gain maps")
    func absent() throws {
        #expect(JPEGGainMap(of: Data()) == nil && JPEGGainMap(of: Data([0xFF, 0xD8])) == nil)
        #expect(try JPEGGainMap(of: file(segments: [])) == nil)
        let bytes = segment(0xE2, Self.urn + parameters(flags: 0, headrooms: [(0, 1), (3, 1)], channels: [channel]))
        #expect(try JPEGGainMap(of: file(segments: bytes)) != nil)
        for (size, offset) in [(1, 0), (1 << 31, 0), (-(1 << 31), 0), (1, -40)] {
            #expect(try JPEGGainMap(of: file(segments: bytes, size: size, offset: offset)) == nil)
        }
        for offset in [1, -40, 1 << 31] {
            #expect(try JPEGGainMap(of: file(segments: bytes, offset: offset)) != nil, "it is at the end of the file")
        }
        let data = try file(segments: bytes)
        for count in stride(from: 0, to: data.count, by: 7) { _ = JPEGGainMap(of: data.prefix(count)) }
    }
}
