import Foundation
import TestSupport
import Testing
import TintypeImages
import TintypeTesting

@testable import TintypeCodecs

@Suite("Metadata in headers", .timeLimited)
struct MetadataInfoTests {
    private let xmp = MadeXMP.data("<dc:subject><rdf:Bag><rdf:li>tram</rdf:li></rdf:Bag></dc:subject>")
    private let iptc = MadeIPTC.datasets([(5, "Bahn")])

    private var exif: Data {
        MadeExif(
            main: MetadataFieldsTests.main, exif: MetadataFieldsTests.capture, gps: MetadataFieldsTests.place
        ).data
    }

    @Test(
        "A header has the metadata of the image, without decoding it", .capability("MET-31"),
        arguments: WritableFormats.withMetadata)
    func header(format: ImageFormat) throws {
        let image = try RasterSamples.gradient(40, 30).with { $0.metadata = ImageMetadata(exif: exif, xmp: xmp) }
        let data = try WritableFormats.encode(image, as: format) { $0.keepsMetadata = true }
        let info = try WritableFormats.coders.info(data)
        let fields = info.metadata.fields
        #expect(info.metadata == (try WritableFormats.decode(data).metadata))
        #expect(fields.cameraModel == "EOS R5" && fields.aperture == 2.8 && fields.keywords == ["tram"])
        #expect(fields == image.metadata.fields)
        #expect(try WritableFormats.coders.info(WritableFormats.encode(image, as: format)).metadata == ImageMetadata())
    }

    @Test(
        "The metadata of a header is missing where the file ends early, and no error",
        arguments: WritableFormats.withMetadata)
    func cut(format: ImageFormat) throws {
        let image = try RasterSamples.gradient(400, 300).with { $0.metadata = ImageMetadata(exif: exif, xmp: xmp) }
        let data = try WritableFormats.encode(image, as: format) { $0.keepsMetadata = true }
        for count in stride(from: 0, to: data.count, by: 97) {
            do throws(ImageError) {
                let info = try WritableFormats.coders.info(
                    of: data.prefix(count), hint: nil, context: ProcessingContext())
                #expect([ImageMetadata().exif, image.metadata.exif].contains(info.metadata.exif) || format == .tiff)
            } catch {
                #expect(error.stage == .decode)
            }
        }
    }

    @Test("XMP in GIF, which isn't divided into blocks", .capability("MET-31"))
    func gif() throws {
        let trailer: [UInt8] = [1] + (0...255).reversed().map { UInt8($0) } + [0]
        func file(_ contents: [UInt8]) -> Data {
            var gif = TestGIF(2, 1)
            gif.raw([0x21, 0xFF, 11] + Array("XMP DataXMP".utf8) + contents)
            gif.frame((0, 0, 2, 1), [0, 1])
            return gif.data
        }
        let info = try GIFCoder().info(file(xmp + trailer))
        #expect(info.metadata.xmp == xmp && info.metadata.fields.keywords == ["tram"] && info.frameCount == 1)
        #expect(try GIFCoder().decode(file(xmp + trailer)).metadata.xmp == xmp)
        #expect(try GIFCoder().info(file([3, 1, 2, 3, 0])).metadata == ImageMetadata())
    }

    @Test("IPTC and its digest in a JPEG, also in two segments", .capability("MET-31"), arguments: [1, 40, 10_000])
    func jpeg(split: Int) throws {
        let resources =
            MadeIPTC.resource(0x03ED, Data([1, 2, 3]), name: "ab") + MadeIPTC.resource(0x0404, iptc, name: "abc")
            + MadeIPTC.resource(0x0425, Data(count: 16))
        var jpeg = HandmadeJPEG(values: [100])
        for part in [resources.prefix(split), resources.dropFirst(split)] where !part.isEmpty {
            jpeg.segments.append((0xED, Array("Photoshop 3.0\0".utf8) + part))
        }
        let metadata = try JPEGCoder().info(jpeg.data).metadata
        #expect(metadata.iptc == iptc && metadata.iptcDigest == Data(count: 16) && metadata.fields.title == "Bahn")
        #expect(try JPEGCoder().decode(jpeg.data).metadata == metadata)
        for count in 0..<resources.count {
            var cut = ImageMetadata()
            cut.readIPTC(fromPhotoshop: Data(resources.prefix(count)))
            #expect(cut.iptc == nil || cut.iptc == iptc)
        }
    }

    @Test("A block of more than 4 MB is left out", .capability("MET-29"))
    func largeBlocks() throws {
        func png(_ exif: Data) throws -> ImageMetadata {
            var file = try PNGCoder().encode(RasterSamples.gradient(4, 4), as: .png, options: EncodeOptions())
            var chunk = Data()
            PNGChunk.append(.exif, exif, to: &chunk)
            file.insert(contentsOf: chunk, at: 33)
            #expect(try PNGCoder().decode(file).metadata == PNGCoder().info(file).metadata)
            return try PNGCoder().info(file).metadata
        }
        #expect(try png(exif + Data(count: 4 << 20 - exif.count)).fields.cameraModel == "EOS R5")
        #expect(try png(exif + Data(count: 4 << 20 - exif.count + 1)).exif == nil)
    }

    #if TIFF
    @Test("IPTC in the fields of a TIFF file", .capability("MET-31"))
    func tiff() throws {
        let resources = MadeIPTC.resource(0x0404, Data([1])) + MadeIPTC.resource(0x0425, Data(count: 16))
        let file = MadeExif(
            isLittleEndian: false,
            main: MetadataFieldsTests.main + [
                (0x02BC, .bytes(type: 1, [UInt8](xmp))), (0x83BB, .bytes(type: 7, [UInt8](iptc))),
                (0x8649, .bytes(type: 1, [UInt8](resources))),
            ], exif: MetadataFieldsTests.capture
        ).data
        let metadata = try #require(
            file.withUnsafeBytes { bytes in ExifReader(bytes).map { ImageMetadata(tiff: $0) } })
        #expect(metadata.iptc == iptc && metadata.xmp == xmp && metadata.iptcDigest == Data(count: 16))
        #expect(metadata.fields.cameraModel == "EOS R5" && metadata.fields.title == "Bahn")
    }

    @Test("A page of a TIFF file has metadata of its own", .capability("MET-31"))
    func pages() throws {
        let image = try RasterSamples.gradient(8, 8).with { $0.metadata = ImageMetadata(exif: exif, xmp: xmp) }
        var file = try TIFFCoder().encode(image, as: .tiff, options: EncodeOptions(keepsMetadata: true))
        if file.count % 2 == 1 { file.append(0) }
        // A first page of one gray pixel, before the page that the header leads to.
        let fields = [
            (256, 1), (257, 1), (258, 8), (259, 1), (262, 1), (273, 8), (277, 1), (278, 1), (279, 1),
        ]
        let start = file.count
        let second = Data(file[4..<8])
        file += ByteBuilder.little(fields.count, 2)
        for (tag, value) in fields {
            file += ByteBuilder.little(tag, 2) + ByteBuilder.little(3, 2) + ByteBuilder.little(1, 4)
            file += ByteBuilder.little(value, 4)
        }
        file += second
        file.replaceSubrange(4..<8, with: ByteBuilder.little(start, 4))
        #expect(try TIFFCoder().decode(file).metadata == ImageMetadata())
        let page = try TIFFCoder().decode(file) { $0.page = 1 }
        #expect(page.size == image.size && page.metadata.xmp == xmp)
        #expect(page.metadata.fields == image.metadata.fields)
    }

    /// A BigTIFF file of one gray pixel, with a maker, IPTC, and a directory of Exif.
    private func makeBigTIFF(isLittleEndian: Bool) -> Data {
        func number(_ value: Int, _ bytes: Int) -> Data {
            isLittleEndian ? ByteBuilder.little(value, bytes) : ByteBuilder.big(value, bytes)
        }
        func directory(_ entries: [(tag: Int, type: Int, count: Int, value: Data)], at place: Int) -> Data {
            var (fields, values) = (number(entries.count, 8), Data())
            let end = place + 8 + entries.count * 20 + 8
            for entry in entries {
                fields += number(entry.tag, 2) + number(entry.type, 2) + number(entry.count, 8)
                if entry.value.count > 8 {
                    fields += number(end + values.count, 8)
                    values += entry.value
                } else {
                    fields += entry.value + Data(count: 8 - entry.value.count)
                }
            }
            return fields + number(0, 8) + values
        }
        // The pixel lies between the header and the directory.
        func main(exif: Int) -> Data {
            directory(
                [
                    (256, 3, 1, number(1, 2)), (257, 3, 1, number(1, 2)), (258, 3, 1, number(8, 2)),
                    (259, 3, 1, number(1, 2)), (262, 3, 1, number(1, 2)), (0x010F, 2, 10, Data("Canon EOS\0".utf8)),
                    (273, 16, 1, number(16, 8)), (277, 3, 1, number(1, 2)), (278, 3, 1, number(1, 2)),
                    (279, 16, 1, number(1, 8)), (0x83BB, 7, iptc.count, iptc), (0x8769, 18, 1, number(exif, 8)),
                ], at: 24)
        }
        let header = Data(isLittleEndian ? [0x49, 0x49] : [0x4D, 0x4D]) + number(43, 2) + number(8, 2) + number(0, 2)
        let place = 24 + main(exif: 0).count
        return header + number(24, 8) + Data(count: 8) + main(exif: place)
            + directory([(0x829D, 5, 1, number(28, 4) + number(10, 4))], at: place)
    }

    @Test("BigTIFF has metadata, too", .capability("MET-31", "MET-29"), arguments: [true, false])
    func bigTIFF(isLittleEndian: Bool) throws {
        let file = makeBigTIFF(isLittleEndian: isLittleEndian)
        let metadata = try TIFFCoder().info(file).metadata
        #expect(metadata.fields.cameraMake == "Canon EOS" && metadata.fields.aperture == 2.8)
        #expect(metadata.iptc == iptc && metadata.exif?.prefix(4) == Data("II*\0".utf8))
        func read(_ file: Data) -> ImageMetadata? {
            file.withUnsafeBytes { bytes in
                ExifReader(bytes, allowsBigTIFF: true).map { ImageMetadata(tiff: $0) }
            }
        }
        #expect(read(file) == metadata)
        // Blocks of Exif are never BigTIFF.
        #expect(file.withUnsafeBytes { ExifReader($0) == nil } && file.exifBlock == nil)
        for count in 0..<file.count { _ = read(file.prefix(count)) }
        for place in file.indices {
            for byte: UInt8 in [0, 0x7F, 0xFF] {
                var damaged = file
                damaged[place] = byte
                _ = read(damaged)
            }
        }
    }
    #endif

    #if RAW
    @Test("Camera files that are TIFF files have metadata, without makers' notes", .capability("MET-31"))
    func raw() throws {
        let file = SampleDNG(picture: try RasterSamples.quarters(128, 96).pixels).data
        let info = try RAWCoder().info(file)
        #expect(info.metadata.fields.cameraModel != nil)
        #expect(try RAWCoder().decode(file).metadata == info.metadata)
        let camera = MadeExif(
            exif: MetadataFieldsTests.capture + [(0x927C, .bytes(type: 7, [UInt8](repeating: 7, count: 64)))])
        let notes = camera.data.withUnsafeBytes { bytes in
            [true, false].map { keeps in ExifReader(bytes).map { ImageMetadata(tiff: $0, keepsMakerNotes: keeps) } }
        }
        let sevens = Data(repeating: 7, count: 64)
        #expect(notes.map { $0?.exif?.range(of: sevens) != nil } == [true, false])
        #expect(notes.allSatisfy { $0?.fields.aperture == 2.8 })
    }
    #endif
}
