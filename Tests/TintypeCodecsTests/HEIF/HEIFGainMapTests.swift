#if HEIF
import Foundation
import TestSupport
import Testing
import TintypeLoading
import TintypeTesting

@testable import TintypeCodecs

@Suite("Gain maps of HEIF", .timeLimited)
struct HEIFGainMapTests {
    private func picture(_ width: Int, _ height: Int, _ luma: Int, _ properties: [Data] = []) throws
        -> HEIFTestStill.Item
    {
        let pictures = try HEVCTestEncoder(width: width, height: height, layout: .gray)
            .encode(frames: 1) { _, _, _, _ in luma }
        return HEIFTestStill.Item(
            data: pictures.samples[0].data,
            properties: [
                HEIFTestSequence.configuration(pictures.sets), HEIFTestStill.size(width, height),
                HEIFTestSequence.color(primaries: 1, transfer: 13, matrix: 1, isFullRange: true),
            ] + properties)
    }

    private static let exif = Data("MM\0*\0\0\0\u{8}\0\0\0\0\0\0".utf8)

    /// An image, its gain map, and Exif as an iPhone's software of 2024 writes them: the metadata and the auxiliary image belong to the
    /// image and to the brighter one.
    private func file(description: Data? = nil, gain: Int = 255, _ properties: [Data] = []) throws -> Data {
        let kind = HEIFTestStill.auxiliaryType("urn:com:apple:photo:2020:aux:hdrgainmap")
        var map = try picture(32, 32, gain, [kind] + properties)
        map.references = [("auxl", [1, 4])]
        map.isHidden = true
        let exif = HEIFTestStill.Item(
            type: "Exif", data: Data(count: 4) + Self.exif, properties: [], references: [("cdsc", [1, 4])])
        var items = [try picture(64, 64, 100), map, exif]
        if let description {
            items.append(
                HEIFTestStill.Item(
                    type: "tmap", data: description, properties: [HEIFTestStill.size(64, 64)],
                    references: [("dimg", [1, 2])], isInner: true))
        }
        var file = HEIFTestStill(items: items)
        if description != nil { file.alternatives = [[4, 1]] }
        return file.data
    }

    /// ISO 21496-1's numbers for a gain of 0 to 2 stops.
    private static let description =
        Data([0, 0, 0, 0, 0, 0x40])
        + TestMovie.numbers([0, 1, 2, 1, 0, 1, 2, 1, 1, 1, 0, 1, 0, 1])

    @Test("A photograph with a description of its gain map is decoded, with its metadata", .capability("COD-54"))
    func photograph() throws {
        let data = try file(description: Self.description)
        let image = try HEIFCoder().decode(data)
        #expect(image.size == PixelSize(width: 64, height: 64) && !image.hasAlpha)
        #expect(image.metadata.exif == Self.exif)
        let info = try HEIFCoder().info(data)
        #expect(info.pageCount == 1)
        #expect(info.gainMap == ImageInfo.GainMap(size: PixelSize(width: 32, height: 32), components: 1))
    }

    @Test("A gain map is found with its parameters, and applied", .capability("COD-54", "MET-10"))
    func iso() throws {
        let data = try file(description: Self.description)
        #expect(HEIFGainMap.mayBe(in: data.prefix(data.count - 300)))
        let gainMap = try #require(HEIFGainMap(of: data, as: .heic))
        #expect(gainMap.standard == .iso && gainMap.components == 1 && gainMap.size == PixelSize(width: 32, height: 32))
        #expect(gainMap.parameters?.alternateHeadroom == 2)
        #expect(try gainMap.decode()[3, 3] == [255, 255, 255, 255])
        let image = try HEIFCoder().decode(data)
        let bright = try gainMap.applied(to: image)
        #expect(bright.isHighDynamicRange && bright.pixels.format == .rgbaFloat16)
        func light(_ image: Image) -> Double {
            TransferCurves.sRGBLight(Double(image.pixels.component(x: 9, y: 9).x))
        }
        #expect(abs(light(bright) / light(image) - 4) < 0.05)
        #expect(abs(light(try gainMap.applied(to: image, headroom: 1)) / light(image) - 2) < 0.03)
    }

    @Test(
        "A gain map is applied where high dynamic range is asked for, also in thumbnails",
        .capability("COD-18", "COD-54"))
    func asked() throws {
        let data = try file(description: Self.description)
        let bright = try HEIFCoder().decode(data) { $0.decodeToHDR = true }
        let expected = try #require(HEIFGainMap(of: data, as: .heic)).applied(to: HEIFCoder().decode(data))
        #expect(bright.isHighDynamicRange && bright.pixels == expected.pixels && bright.metadata.exif == Self.exif)
        let small = try HEIFCoder().decode(data) {
            $0.decodeToHDR = true
            $0.thumbnailSize = PixelSize(width: 16, height: 16)
        }
        #expect(small.size.width == 16 && small.isHighDynamicRange && small.pixels.format == .rgbaFloat16)
        // Without parameters, and with colors that are kept, the image stays what it is.
        #expect(try !HEIFCoder().decode(file()) { $0.decodeToHDR = true }.isHighDynamicRange)
        #expect(
            try !HEIFCoder().decode(data) { ($0.decodeToHDR, $0.keepsColorSpace) = (true, true) }.isHighDynamicRange)
    }

    @Test("In an AVIF file, a gain map of HEVC is none: it would be decoded in the program", .capability("COD-54"))
    func onlyAV1() throws {
        #expect(HEIFGainMap(of: try file(description: Self.description), as: .avif) == nil)
    }

    #if AVIF
    @Test("In an AVIF file, a gain map of AV1 is found and applied", .capability("COD-54"))
    func av1() throws {
        var map = try HEIFTestStill.av1Picture(32, 32, gray: 255)
        var description = HEIFTestStill.Item(type: "tmap", data: Self.description, properties: [])
        map.isHidden = true
        description.references = [("dimg", [1, 2])]
        var file = HEIFTestStill(items: [try HEIFTestStill.av1Picture(64, 64), map, description])
        (file.brand, file.alternatives) = ("avif", [[3, 1]])
        #expect(try AVIFCoder().info(file.data).gainMap?.size == PixelSize(width: 32, height: 32))
        #expect(try AVIFCoder().decode(file.data) { $0.decodeToHDR = true }.isHighDynamicRange)
    }
    #endif

    @Test("A gain map that is far larger than its image is none", arguments: [(1_024, true), (2_048, false)])
    func largeMap(side: Int, isFound: Bool) throws {
        var map = try picture(side, side, 9, [HEIFTestStill.auxiliaryType("urn:com:apple:photo:2020:aux:hdrgainmap")])
        map.references = [("auxl", [1])]
        map.isHidden = true
        let file = HEIFTestStill(items: [try picture(64, 64, 100), map])
        #expect((HEIFGainMap(of: file.data, as: .heic) != nil) == isFound)
    }

    @Test("An auxiliary image of a camera is a gain map without parameters")
    func apple() throws {
        let gainMap = try #require(HEIFGainMap(of: file(), as: .heic))
        #expect(gainMap.standard == .apple && gainMap.parameters == nil)
        #expect(try gainMap.decode().size == gainMap.size)
        let image = try HEIFCoder().decode(file())
        expectCode(.transformFailed) { try gainMap.applied(to: image) }
    }

    @Test("A gray profile of a gain map changes none of its values")
    func profile() throws {
        let profile = TestMovie.box("colr", Data("prof".utf8) + (try ProfileSamples.linearGray()))
        let plain = try #require(HEIFGainMap(of: file(gain: 64), as: .heic)).decode()
        #expect(try #require(HEIFGainMap(of: file(gain: 64, [profile]), as: .heic)).decode() == plain)
        #expect(plain[5, 5] == [64, 64, 64, 255])
    }

    @Test("Other files, damage, and descriptions that make no sense are no gain maps, or have no parameters")
    func absent() throws {
        #expect(HEIFGainMap(of: Data(), as: .heic) == nil && !HEIFGainMap.mayBe(in: Data([0])))
        #expect(HEIFGainMap(of: HEIFTestStill(items: [try picture(32, 32, 9)]).data, as: .heic) == nil)
        for description in [Data(), Data([1]), Self.description.prefix(30), Data([7]) + Self.description.dropFirst()] {
            #expect(HEIFGainMap(of: try file(description: Data(description)), as: .heic)?.parameters == nil)
        }
        let data = try file(description: Self.description)
        for count in stride(from: 0, to: data.count, by: 7) { _ = HEIFGainMap(of: data.prefix(count), as: .heic) }
    }
}
#endif
