#if AVIF
import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

/// Files that state many items, which libavif would compare with each other.
@Suite("Numbers of items of AVIF", .timeLimited)
struct AVIFDescriptionTests {
    private typealias Build = ByteBuilder

    private func refusal(_ boxes: Data) -> ImageError.Code? {
        let data = Build.box("ftyp", Data("avif\0\0\0\0avifmif1".utf8)) + boxes
        do throws(ImageError) { _ = try AVIFCoder().info(of: data, context: ProcessingContext()) } catch {
            return error.code
        }
        return nil
    }

    /// Boxes that state a number of items, each in another way.
    private func statements(_ count: Int) -> [Data] {
        let half = Build.box("ipma", Build.big(0), Build.big(count / 2))
        return [
            Build.box("iinf", Build.big(0), Build.big(count, 2)),
            Build.box("iinf", Build.big(1 << 24), Build.big(count)),
            Build.box("iloc", Build.big(0), Build.big(0x4400, 2), Build.big(count, 2)),
            Build.box("iloc", Build.big(2 << 24), Build.big(0x4400, 2), Build.big(count)),
            Build.box("iprp", Build.box("ipco"), half, half),
        ]
    }

    @Test("A file that describes more than 1,000 items is over a limit, before libavif reads it")
    func limit() {
        for (count, isOver) in [(1_000, false), (1_002, true)] {
            for statement in statements(count) {
                // Also before a box that is damaged.
                for damage in [Data(), Build.big(7) + Data("free".utf8)] {
                    let meta = Build.box("meta", Build.big(0), statement, damage)
                    let movie = Build.box("moov", Build.box("trak", meta))
                    for boxes in [meta, movie] {
                        let code = refusal(boxes)
                        #expect(code != nil && (code == .limitExceeded) == isOver, "\(count)")
                    }
                }
            }
        }
    }

    @Test(
        "More than 10,000 references, tracks, descriptions of samples, runs of chunks, or properties are over a limit",
        .capability("3.1"))
    func small() {
        func table(_ box: Data) -> Data {
            Build.box("moov", Build.box("trak", Build.box("mdia", Build.box("minf", Build.box("stbl", box)))))
        }
        func descriptions(_ entries: Data) -> Data { table(Build.box("stsd", Build.big(0), Build.big(1), entries)) }
        func properties(_ boxes: Data) -> Data {
            Build.box("meta", Build.big(0), Build.box("iprp", Build.box("ipco", boxes)))
        }
        for (count, isOver) in [(10_000, false), (10_001, true)] {
            let boxes = Build.repeated(Build.box("free"), count)
            let tracks = Build.box("moov", Build.repeated(Build.box("trak"), count))
            let entry = Build.box("av01", Data(count: 78), boxes)
            let runs = table(Build.box("stsc", Build.big(0), Build.big(count)))
            let reference = Build.box("dimg", Build.big(1, 2), Build.big(count - 1, 2), Data(count: (count - 1) * 2))
            let single = Build.box("cdsc", Build.big(1, 2), Build.big(1, 2), Build.big(2, 2))
            let references = [reference, Build.repeated(single, (count + 1) / 2)].map {
                Build.box("meta", Build.big(0), Build.box("iref", Build.big(0), $0))
            }
            for file in [properties(boxes), tracks, descriptions(boxes), descriptions(entry), runs] + references {
                let code = refusal(file)
                #expect(code != nil && (code == .limitExceeded) == isOver, "\(count)")
            }
        }
    }

    @Test("More than 262,144 parts of items are over a limit, also of no bytes", .capability("3.1"))
    func manyParts() {
        // Each item has 65,535 parts, whose offsets and lengths have no bytes.
        let places = Build.big(1, 2) + Build.big(0, 2) + Build.big(65_535, 2)
        for (items, isOver) in [(4, false), (5, true)] {
            let box = Build.box(
                "iloc", Build.big(0), Build.big(0, 2), Build.big(items, 2), Build.repeated(places, items))
            let code = refusal(Build.box("meta", Build.big(0), box))
            #expect(code != nil && (code == .limitExceeded) == isOver, "\(items)")
        }
    }

    @Test(
        "Items in several parts that have more bytes than the file are an error, before they are put together",
        .capability("3.1"))
    func parts() {
        /// The error of a file whose items have two parts of so many bytes each.
        func reason(_ items: Int, _ bytes: Int) -> String? {
            let item = Build.big(1, 2) + Build.big(0, 2) + Build.big(2, 2)
            let part = Build.big(0) + Build.big(bytes)
            let places = Build.box(
                "iloc", Build.big(0), Build.big(0x4400, 2), Build.big(items, 2),
                Build.repeated(item + part + part, items))
            let data =
                Build.box("ftyp", Data("avif\0\0\0\0avifmif1".utf8)) + Build.box("meta", Build.big(0), places)
                + Build.box("mdat", Data(count: 10_000))
            do throws(ImageError) { _ = try AVIFCoder().info(of: data, context: ProcessingContext()) } catch {
                return error.reason
            }
            return nil
        }
        #expect(reason(10, 600)?.contains("share their bytes") == true)
        #expect(reason(10, 400)?.contains("share their bytes") == false)
    }

    @Test("Two places of an item are an error: libavif would mix them up")
    func twoPlaces() {
        func code(_ second: Int) -> ImageError.Code? {
            let places = [1, second].reduce(Data()) { $0 + Build.big($1, 2) + Build.big(0, 4) }
            let box = Build.box("iloc", Build.big(0), Build.big(0x4400, 2), Build.big(2, 2), places)
            let file = [UInt8](Build.box("meta", Build.big(0), box))
            return file.withUnsafeBytes { file in
                do throws(ImageError) {
                    _ = try AVIFDescription(file, TopLevelBoxes(file), length: file.count)
                } catch {
                    return error.code
                }
                return nil
            }
        }
        #expect(code(2) == nil)
        #expect(code(1) == .corruptImage)
    }

    @Test("More than 64 tracks of pictures are over a limit, before their samples are listed", .capability("3.1"))
    func tracks() {
        let descriptions = Build.box("stsd", Build.big(0), Build.big(1), Build.box("av01", Data(count: 78)))
        let track = Build.box(
            "trak", Build.box("mdia", Build.box("minf", Build.box("stbl", descriptions))))
        for (count, isOver) in [(64, false), (65, true)] {
            let code = refusal(Build.box("moov", Build.repeated(track, count)))
            #expect(code != nil && (code == .limitExceeded) == isOver, "\(count)")
        }
    }

    #if HEIF
    @Test("A picture that is far larger than the file states is an error before it is decoded", .capability("3.1"))
    func largePicture() throws {
        // 4,096 × 2,048 equal grays.
        let picture = try #require(
            Data(
                base64Encoded: "EgAKChsuv///8MBDQagyXBg/w//EAAAp9cchURGzwfjl07r5Ic88I4pqhhpYj1YI07VQ0BKJY+7ObKwf"
                    + "vTSKh+GA9cchURGzwfjl07r5Ic88I4pqhhpYj1YI07VQ0BKJY+7ObKwfvTSKh+GA"))
        func file(_ size: PixelSize) -> Data {
            Data([0x81, 0x0C, 0x1C, 0x00]).withUnsafeBytes { configuration in
                picture.withUnsafeBytes { AVIFSingleImage(size: size, configuration: configuration, data: $0).file }
            }
        }
        let size = PixelSize(width: 4_096, height: 2_048)
        #expect(try AVIFCoder().decode(file(size)).size == size)
        expectCode(.corruptImage) { try AVIFCoder().decode(file(PixelSize(width: 64, height: 64))) }
    }

    @Test("Tiles that are far larger than their picture are an error before they are decoded", .capability("3.1"))
    func largeTiles() throws {
        /// The error of a picture of 256 × 256 with 16 tiles of a size, if any.
        func reason(_ width: Int, _ height: Int) throws -> String? {
            var tile = try HEIFTestStill.av1Picture(width, height)
            tile.isHidden = true
            let grid = HEIFTestStill.grid(rows: 4, columns: 4, 256, 256)
            let picture = HEIFTestStill.Item(
                type: "grid", data: grid, properties: [HEIFTestStill.size(256, 256)] + tile.properties.suffix(1),
                references: [("dimg", Array(2...17))])
            var file = HEIFTestStill(items: [picture] + Array(repeating: tile, count: 16))
            file.brand = "avif"
            do throws(ImageError) {
                #expect(try AVIFCoder().decode(file.data, options: DecodeOptions()).size.width == 256)
            } catch {
                return error.reason
            }
            return nil
        }
        #expect(try reason(64, 64) == nil)
        #expect(try reason(640, 512)?.contains("Decoding of color planes failed") == true)
    }
    #endif

    @Test("A file with very many boxes is over a limit")
    func boxes() {
        #expect(refusal(Build.repeated(Build.box("free"), 10_000)) == .limitExceeded)
    }

    @Test("A matrix that can't be undone is an error", arguments: [3, 10, 11, 13, 14, 255] as [UInt8])
    func matrices(matrix: UInt8) throws {
        var data = try AVIFCoder().encode(try RasterSamples.gradient(32, 32), as: .avif, options: EncodeOptions())
        let color = try #require(data.range(of: Data("nclx".utf8))).upperBound
        // Behind the primaries and the transfer, of two bytes each.
        data[color + 5] = matrix
        expectCode(.corruptImage) { try AVIFCoder().decode(data) }
    }
}
#endif
