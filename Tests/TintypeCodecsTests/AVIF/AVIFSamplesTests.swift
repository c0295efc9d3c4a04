#if AVIF
import Foundation
import TestSupport
import Testing

@testable import TintypeCodecs
@testable import TintypeImages

/// Pictures of many frames, each of which takes time in a call of libavif that can't be canceled.
@Suite("AV1 frames of AVIF pictures", .timeLimited)
struct AVIFSamplesTests {
    private typealias Build = ByteBuilder

    /// A unit of a type, with its size.
    private func unit(_ type: UInt8, _ contents: Data = Data([0x80])) -> Data {
        Data([type << 3 | 2]) + [UInt8(contents.count)] + contents
    }

    private func code(_ parts: [Data]) -> ImageError.Code? {
        let bytes = Array(parts.joined())
        return bytes.withUnsafeBytes { bytes in
            var (start, places) = (0, [UnsafeRawBufferPointer]())
            for part in parts {
                places.append(UnsafeRawBufferPointer(rebasing: bytes[start..<start + part.count]))
                start += part.count
            }
            do throws(ImageError) { _ = try AVIFSamples.countFrames(places) } catch { return error.code }
            return nil
        }
    }

    @Test("A picture of more than 16 frames is over a limit, wherever its bytes lie", .capability("3.1"))
    func frames() {
        // A delimiter, a header of a sequence, and frames of all kinds, one of them with a layer's number.
        let start = unit(2, Data()) + unit(1, Data(repeating: 0xFF, count: 11))
        let layered = Data([3 << 3 | 6, 0x08, 1, 0x80])
        let frames = Build.repeated(unit(6, Data(repeating: 0x1A, count: 100)) + unit(3), 7) + layered
        for (more, isOver) in [(1, false), (2, true)] {
            let picture = start + frames + Build.repeated(unit(7), more) + unit(5, Data(count: 20))
            #expect((code([picture]) == .limitExceeded) == isOver)
            for split in 0..<picture.count {
                let parts = [picture.prefix(split), Data(), picture.suffix(from: split)]
                #expect((code(parts) == .limitExceeded) == isOver)
            }
        }
    }

    @Test("A picture of more than 10,000 units is over a limit", .capability("3.1"))
    func units() {
        #expect(code([Build.repeated(unit(5), 10_000)]) == nil)
        #expect(code([Build.repeated(unit(5), 10_001)]) == .limitExceeded)
    }

    @Test("A unit without a size, or with too large a one, lasts to the end")
    func endless() {
        let many = Build.repeated(unit(3), 20)
        #expect(code([Data([6 << 3])]) == nil)
        #expect(code([Data([6 << 3]) + many]) == nil)
        #expect(code([Data([6 << 3 | 2, 0xFF, 0xFF, 0x7F]) + many]) == nil)
        #expect(code([Data([6 << 3 | 2]) + Data(repeating: 0xFF, count: 9) + many]) == nil)
        #expect(code([]) == nil)
    }

    /// Checks the items of a file, and a sample of its tracks.
    private func code(ofFile data: Data, _ index: Int = 0) -> ImageError.Code? {
        Array(data).withUnsafeBytes { file in
            do throws(ImageError) {
                let description = try AVIFDescription(file, TopLevelBoxes(file), length: file.count)
                var samples = try AVIFSamples(file, description, limits: DecodeLimits())
                try samples.checkFrames(of: index)
            } catch {
                return error.code
            }
            return nil
        }
    }

    @Test("The frames of all items count, wherever these lie", .capability("3.1"))
    func items() {
        /// - Parameter method: 0 for bytes of the file, 1 for those of `idat`.
        func file(_ items: Int, frames: Int, method: Int) -> Data {
            let picture = Build.repeated(unit(6), frames)
            let start = Build.box("ftyp", Data("avifavifmif1".utf8)) + Build.box("mdat", picture)
            let offset = method == 0 ? start.count - picture.count : 0
            let places = (1...items).reduce(Data()) { places, item in
                places + Build.big(item, 2) + Build.big(method, 2) + Build.big(0, 2) + Build.big(1, 2)
                    + Build.big(offset) + Build.big(picture.count)
            }
            let iloc = Build.box("iloc", Build.big(1 << 24), Build.big(0x4400, 2), Build.big(items, 2), places)
            return start + Build.box("meta", Build.big(0), Build.box("idat", picture), iloc)
        }
        for method in [0, 1] {
            #expect(code(ofFile: file(1, frames: 16, method: method)) == nil)
            #expect(code(ofFile: file(1, frames: 17, method: method)) == .limitExceeded)
            #expect(code(ofFile: file(100, frames: 4, method: method)) == nil)
            #expect(code(ofFile: file(100, frames: 5, method: method)) == .limitExceeded)
        }
    }

    /// Checks a frame of a file with a track of two samples, the second of which has 17 frames.
    private func trackCode(_ index: Int, _ change: (inout [String: [Data]]) -> Void = { _ in }) -> ImageError.Code? {
        let (small, large) = (unit(6), Build.repeated(unit(3), 17))
        let start = Build.box("ftyp", Data("avisavismif1".utf8)) + Build.box("mdat", small + large)
        let offset = start.count - small.count - large.count
        var boxes = [
            "stsd": [Build.big(0) + Build.big(1) + Build.box("av01", Data(count: 78))],
            "stsz": [Build.big(0) + Build.big(0) + Build.big(2) + Build.big(small.count) + Build.big(large.count)],
            "stsc": [Build.big(0) + Build.big(1) + Build.big(1) + Build.big(2) + Build.big(1)],
            "stco": [Build.big(0) + Build.big(1) + Build.big(offset)],
        ]
        change(&boxes)
        let table = boxes.sorted { $0.key < $1.key }.reduce(Data()) { table, box in
            box.value.reduce(table) { $0 + Build.box(box.key, $1) }
        }
        let track = Build.box("trak", Build.box("mdia", Build.box("minf", Build.box("stbl", table))))
        return code(ofFile: start + Build.box("moov", track), index)
    }

    @Test("Samples of tracks are checked before they are decoded", .capability("3.1"))
    func tracks() {
        #expect(trackCode(0) == nil)
        #expect(trackCode(1) == .limitExceeded)
        // A track of something else isn't looked at.
        #expect(trackCode(1) { $0["stsd"] = [Build.big(0) + Build.big(1) + Build.box("hvc1", Data(count: 78))] } == nil)
    }

    @Test("A track whose samples can't be told is an error", arguments: ["stsz", "stsc", "stco"])
    func unclear(_ type: String) {
        #expect(trackCode(0) { $0[type]?.append(Data(count: 20)) } == .corruptImage)
        #expect(trackCode(0) { $0[type] = nil } == .corruptImage)
    }

    @Test("Chunks with more samples than a track states are an error: libavif would decode these")
    func moreSamples() {
        for count in [0, 1] {
            // Of one size, and of several.
            #expect(trackCode(0) { $0["stsz"] = [Build.big(0) + Build.big(3) + Build.big(count)] } == .corruptImage)
            let sizes = Build.repeated(Build.big(3), count)
            #expect(
                trackCode(0) { $0["stsz"] = [Build.big(0) + Build.big(0) + Build.big(count) + sizes] }
                    == .corruptImage)
        }
        #expect(trackCode(0) { $0["stsz"] = [Build.big(0) + Build.big(3) + Build.big(2)] } == nil)
        // A further chunk.
        #expect(
            trackCode(0) { $0["stco"] = [Build.big(0) + Build.big(2) + Build.big(8) + Build.big(8)] } == .corruptImage)
    }

    @Test(
        "Frames of which a small part is shown count whole toward the limit of an animation's pixels",
        .capability("3.1"))
    func croppedFrames() {
        func code(_ size: PixelSize, _ count: Int, stored: PixelSize) -> ImageError.Code? {
            let info = ImageInfo(
                format: .avif, size: size, frameCount: count, loopCount: 0,
                frameDurations: Array(repeating: .milliseconds(100), count: count), hasAlpha: false, bitsPerComponent: 8
            )
            do throws(ImageError) {
                _ = try FrameSetup(
                    info, for: .streaming, options: DecodeOptions(), context: ProcessingContext(), stored: stored,
                    bitmaps: 1)
            } catch {
                return error.code
            }
            return nil
        }
        let (small, large) = (PixelSize(width: 16, height: 16), PixelSize(width: 4_096, height: 4_096))
        #expect(code(small, 100, stored: large) == nil)
        #expect(code(small, 200, stored: large) == .limitExceeded)
        // Whole frames are decoded when they are due.
        #expect(code(large, 200, stored: large) == nil)
    }

    #if HEIF
    @Test("An item of more frames than any picture needs is over a limit", .capability("3.1"))
    func item() throws {
        let encoded = try AVIFCoder().encode(try RasterSamples.gradient(32, 32), as: .avif, options: EncodeOptions())
        // The contents of av1C and the picture of a file that has one item.
        let configuration = try #require(encoded.range(of: Data("av1C".utf8))).upperBound
        let picture = try #require(encoded.range(of: Data("mdat".utf8))).upperBound
        func file(_ more: Int) -> Data {
            encoded[configuration..<configuration + 4].withUnsafeBytes { configuration in
                (encoded[picture...] + Build.repeated(unit(3), more)).withUnsafeBytes {
                    AVIFSingleImage(
                        size: PixelSize(width: 32, height: 32), configuration: configuration, data: $0
                    ).file
                }
            }
        }
        #expect(try AVIFCoder().decode(file(10)).size == PixelSize(width: 32, height: 32))
        expectCode(.limitExceeded) { try AVIFCoder().decode(file(20)) }
        // The header can be read.
        #expect(try AVIFCoder().info(of: file(20), context: ProcessingContext()).size.width == 32)
    }
    #endif
}
#endif
