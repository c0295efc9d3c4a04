#if TIFF
import Foundation
import TestSupport
import Testing
import TintypeImages

@testable import TintypeCodecs

@Suite("TIFF samples", .timeLimited)
struct TIFFSampleTests {
    let coder = TIFFCoder()

    private func grays(_ pixels: PixelBuffer) -> [UInt8] {
        (0..<pixels.size.pixelCount).map { pixels[$0 % pixels.width, $0 / pixels.width].x }
    }

    @Test("Gray with straight alpha is multiplied by it, in strips, planes, and tiles that are narrower than the image")
    func grayWithAlpha() throws {
        let size = PixelSize(width: 37, height: 20)
        let pixels = (0..<size.pixelCount).map { [($0 * 7) % 256, 255 - ($0 * 3) % 256] }
        for isPlanar in [false, true] {
            for tileSide in [nil, 16] {
                for photometric in [0, 1] {
                    var file = HandmadeTIFF(size.width, size.height)
                    file.extras = [2]
                    (file.isPlanar, file.tileSide, file.photometric) = (isPlanar, tileSide, photometric)
                    let image = try coder.decode(file.data(pixels))
                    #expect(image.hasAlpha)
                    let isRight = pixels.enumerated().allSatisfy { index, pixel in
                        let light = photometric == 1 ? pixel[0] : 255 - pixel[0]
                        let gray = UInt8((Double(light * pixel[1]) / 255).rounded())
                        return image.pixels[index % size.width, index / size.width]
                            == SIMD4(gray, gray, gray, UInt8(pixel[1]))
                    }
                    #expect(isRight, "planar \(isPlanar), tiles \(tileSide ?? 0), photometric \(photometric)")
                }
            }
        }
    }

    @Test("Premultiplied gray that counts from white is light within its alpha")
    func premultipliedInvertedGray() throws {
        var file = HandmadeTIFF(3, 1)
        file.extras = [1]
        file.photometric = 0
        let pixels = try coder.decode(file.data([[0, 128], [128, 128], [28, 128]])).pixels
        #expect(grays(pixels) == [128, 0, 100])
    }

    @Test("Samples that are not alpha are left out, and alpha is found behind them")
    func otherSamples() throws {
        var file = HandmadeTIFF(2, 1)
        file.bits = 16
        file.extras = [0, 0, 0]
        let bands = try coder.decode(file.data([[0x8080, 1, 2, 3], [0x4040, 0, 0, 0]]))
        #expect(!bands.hasAlpha && bands.pixels[0, 0] == [128, 128, 128, 255] && bands.pixels[1, 0].x == 64)
        file.extras = [0, 2]
        let late = try coder.decode(file.data([[0xC8C8, 7, 0x8080], [0xFFFF, 7, 0xFFFF]]))
        #expect(late.hasAlpha && late.pixels[0, 0] == [100, 100, 100, 128] && late.pixels[1, 0] == white)
        var color = HandmadeTIFF(1, 1)
        color.photometric = 2
        color.extras = [0, 2]
        #expect(try coder.decode(color.data([[200, 100, 0, 9, 128]])).pixels[0, 0] == [100, 50, 0, 128])
    }

    @Test("A file that does not state its color model counts from black", arguments: [8, 16])
    func noPhotometric(bits: Int) throws {
        var file = HandmadeTIFF(2, 1)
        file.photometric = nil
        file.bits = bits
        let white = 1 << bits - 1
        #expect(grays(try coder.decode(file.data([[0], [white]])).pixels) == [0, 255])
    }

    @Test("A pixel of many samples takes no more memory than one row of them")
    func manySamples() throws {
        var file = HandmadeTIFF(64, 64)
        file.extras = Array(repeating: 0, count: 99)
        let others = [Int](repeating: 7, count: 99)
        let data = file.data((0..<64 * 64).map { index -> [Int] in [index % 256] + others })
        var context = ProcessingContext()
        context.limits.maximumBytes = .bytes(64 * 64 * 4)
        let image = try coder.decode(data, options: DecodeOptions(), context: context)
        let ramp: [UInt8] = (0..<64 * 64).map { index in UInt8(index % 256) }
        #expect(grays(image.pixels) == ramp)
    }

    @Test("Strips of Deflate may have more data than rows, and a strip that is too short is damaged")
    func deflate() throws {
        var file = HandmadeTIFF(40, 30)
        file.compression = 8
        let values = (0..<40 * 40).map { UInt8($0 * 7 % 251) }
        func data(rowsPerStrip: Int, storedRows: Int, shortening: Int? = nil) throws -> Data {
            file.rowsPerStrip = rowsPerStrip
            let parts = try stride(from: 0, to: 30, by: rowsPerStrip).map { top -> [UInt8] in
                let rows = values[(top * 40)...].prefix(top == shortening ? 200 : storedRows * 40)
                return [UInt8](try #require(ZlibStream.pack(Data(rows))))
            }
            return file.data(parts: parts, samples: 1)
        }
        for (rowsPerStrip, storedRows) in [(8, 8), (8, 9), (32, 32), (128, 40)] {
            let image = try coder.decode(data(rowsPerStrip: rowsPerStrip, storedRows: storedRows))
            #expect(grays(image.pixels) == Array(values.prefix(40 * 30)))
        }
        for top in [8, 24] {
            expectCode(.corruptImage) {
                try coder.decode(data(rowsPerStrip: 8, storedRows: 8, shortening: top))
            }
        }
    }

    @Test("Strips of Deflate are unpacked at once up to 16 MB, and up to the limit of memory")
    func deflateLimits() throws {
        func memory(rowsPerStrip: Int, maximumBytes: ByteCount = .megabytes(512)) throws -> Int {
            var file = HandmadeTIFF(4_096, 4_097)
            (file.compression, file.rowsPerStrip) = (8, rowsPerStrip)
            var limits = DecodeLimits()
            limits.maximumBytes = maximumBytes
            return try file.data(parts: [[0], [0]], samples: 1).withUnsafeBytes { bytes in
                let file = try TIFFFile(bytes, page: 0, limits: limits)
                return TIFFDeflateStrips.memory(file, try #require(file.layout), limits: limits)
            }
        }
        let most = 4_096 * 4_096
        #expect(try memory(rowsPerStrip: 4_096) == most + TIFFDeflateStrips.slack)
        #expect(try memory(rowsPerStrip: 4_097) == 0)
        #expect(try memory(rowsPerStrip: 4_096, maximumBytes: .bytes(most)) == most + TIFFDeflateStrips.slack)
        #expect(try memory(rowsPerStrip: 4_096, maximumBytes: .bytes(most - 1)) == 0)
    }

    @Test(
        "Differences from the pixel on the left are added up, as a whole strip or row by row", arguments: [8, 16],
        [1, 2, 3, 4, 5])
    func differences(bits: Int, samples: Int) throws {
        var file = HandmadeTIFF(21, 10)
        (file.bits, file.rowsPerStrip, file.photometric) = (bits, 4, samples < 3 ? 1 : 2)
        file.extras = Array(repeating: 0, count: samples - (samples < 3 ? 1 : 3))
        let pixels = (0..<210).map { place in (0..<samples).map { (place * 7919 + $0 * 5003) % (1 << bits) } }
        let expected = try coder.decode(file.data(pixels))
        (file.compression, file.predictor) = (8, 2)
        let numbers = (0..<210).flatMap { place in
            pixels[place].indices.map { sample in
                let left = place % 21 == 0 ? 0 : pixels[place - 1][sample]
                return (pixels[place][sample] - left) & (1 << bits - 1)
            }
        }
        let bytes = numbers.flatMap { bits == 8 ? [UInt8($0)] : [UInt8($0 & 255), UInt8($0 >> 8)] }
        let rowBytes = 21 * samples * bits / 8
        // A second file has a longer last strip, which libtiff reads.
        for padding in [0, 5] {
            let parts = try stride(from: 0, to: 10, by: 4).map { top in
                let rows = Data(bytes[(top * rowBytes)...].prefix(4 * rowBytes)) + Data(count: padding)
                return [UInt8](try #require(ZlibStream.pack(rows)))
            }
            let image = try coder.decode(file.data(parts: parts, samples: samples))
            #expect(image.pixels == expected.pixels)
        }
    }

    @Test("A file that is cut says so, wherever its directory is", arguments: [false, true])
    func cuts(directoryIsFirst: Bool) throws {
        for (bits, rows, tile) in [(8, nil, nil), (8, 5, nil), (16, 7, nil), (8, nil, 16)] as [(Int, Int?, Int?)] {
            var file = HandmadeTIFF(40, 30)
            (file.bits, file.rowsPerStrip, file.tileSide) = (bits, rows, tile)
            file.directoryIsFirst = directoryIsFirst
            let data = file.data((0..<40 * 30).map { [$0 % 256] })
            #expect(throws: Never.self) { try coder.decode(data) }
            for count in stride(from: 8, to: data.count - 8, by: 23) {
                expectCode(.truncatedImage) { try coder.decode(Data(data.prefix(count))) }
            }
        }
    }

    @Test("The fields of a cut file are awaited, and no palette becomes gray", arguments: [1, 4, 8, 16])
    func cutFields(bits: Int) throws {
        var file = HandmadeTIFF(3, 2)
        (file.bits, file.photometric, file.palette) = (bits, 3, Array(repeating: 65_535, count: 3 << bits))
        // The palette is the last of the values.
        let data = file.data(Array(repeating: [0], count: 6))
        #expect(try coder.info(data).isComplete && coder.decode(data).pixels[0, 0] == [255, 255, 255, 255])
        for missing in [1, 5, 3 << bits, 6 << bits] where missing <= 6 << bits {
            let cut = Data(data.dropLast(missing))
            expectCode(.truncatedImage) { try coder.info(cut) }
            expectCode(.truncatedImage) { try coder.decode(cut) { $0.allowsPartialImage = true } }
        }
        (file.photometric, file.palette, file.profile) = (1, [], try ProfileSamples.wide())
        let profiled = file.data(Array(repeating: [0], count: 6))
        let cut = Data(profiled.dropLast(20))
        #expect(try coder.info(profiled).isComplete && coder.info(profiled).colorProfile != nil)
        #expect(try !coder.info(cut).isComplete && coder.info(cut).colorProfile == nil)
        #expect(try coder.decode(cut).pixels == coder.decode(file.data(Array(repeating: [0], count: 6))).pixels)
    }

    // MARK: Colors

    @Test("L*a*b* of 8, 16 and 32 bits, in both encodings, has the colors of LittleCMS")
    func lab() throws {
        var colors: [SIMD3<Double>] = [[100, 0, 0], [0, 0, 0], [50, 0, 0]]
        for l in stride(from: 0.0, through: 100, by: 12.5) {
            for a in stride(from: -120.0, through: 120, by: 24) {
                for b in stride(from: -120.0, through: 120, by: 24) { colors.append([l, a, b]) }
            }
        }
        func signed(_ value: Double, _ bits: Int) -> Int {
            Int((value * Double(1 << (bits - 8))).rounded()) & (1 << bits - 1)
        }
        func scaled(_ value: Double, _ most: Double) -> Int { Int((value / 100 * most).rounded()) }
        let encodings: [(photometric: Int, bits: Int, format: Int, (SIMD3<Double>) -> [Int])] = [
            (8, 8, 1, { [scaled($0.x, 255), signed($0.y, 8), signed($0.z, 8)] }),
            (8, 16, 1, { [scaled($0.x, 65_535), signed($0.y, 16), signed($0.z, 16)] }),
            (8, 16, 2, { [scaled($0.x, 65_535), signed($0.y, 16), signed($0.z, 16)] }),
            (9, 8, 1, { [scaled($0.x, 255), Int($0.y.rounded()) + 128, Int($0.z.rounded()) + 128] }),
            (
                9, 16, 1,
                { [scaled($0.x, 65_280), Int((($0.y + 128) * 256).rounded()), Int((($0.z + 128) * 256).rounded())] }
            ),
            (8, 32, 3, { [$0.x, $0.y, $0.z].map { Int(Float($0).bitPattern) } }),
        ]
        for (photometric, bits, format, encode) in encodings {
            // What the numbers say after they are rounded.
            let stated = colors.map { color in
                bits == 8 ? SIMD3((color.x / 100 * 255).rounded() / 2.55, color.y.rounded(), color.z.rounded()) : color
            }
            let expected = try ProfileSamples.convertedFromLab(stated)
            var file = HandmadeTIFF(colors.count, 1)
            (file.photometric, file.bits, file.sampleFormat) = (photometric, bits, format)
            let pixels = try coder.decode(file.data(colors.map(encode))).pixels
            var (sum, worst) = (0.0, 0.0)
            for (x, color) in expected.enumerated() {
                for component in 0..<3 {
                    let error = abs(Double(pixels[x, 0][component]) - color[component])
                    (sum, worst) = (sum + error, max(worst, error))
                }
            }
            #expect(
                sum / Double(colors.count * 3) <= 0.5 && worst <= 1.5,
                "photometric \(photometric), \(bits) bits: mean \(sum / Double(colors.count * 3)), worst \(worst)")
            #expect(pixels[0, 0] == white && pixels[1, 0] == [0, 0, 0, 255])
        }
    }

    @Test("A linear ramp of 16 bits keeps its dark tones: colors are converted before they are rounded")
    func linearRamp() throws {
        var file = HandmadeTIFF(1_000, 1)
        (file.bits, file.photometric, file.profile) = (16, 2, try ProfileSamples.linear())
        let numbers = (0..<1_000).map { $0 * 6_553 / 999 }
        let pixels = try coder.decode(file.data(numbers.map { [$0, $0, $0] })).pixels
        for (x, number) in numbers.enumerated() {
            let expected = TransferCurves.sRGBValue(Double(number) / 65_535) * 255
            #expect(abs(Double(pixels[x, 0].y) - expected) <= 0.6)
        }
        #expect(Set(grays(pixels)).count >= 85)
    }

    @Test("A profile that cannot be kept is applied, with 8 bits and with 16", arguments: [8, 16])
    func keptColorSpace(bits: Int) throws {
        let scale = bits == 8 ? 1 : 257
        var gray = HandmadeTIFF(1, 1)
        (gray.bits, gray.profile) = (bits, try ProfileSamples.linearGray())
        var inks = HandmadeTIFF(1, 1)
        (inks.bits, inks.photometric, inks.profile) = (bits, 5, try ProfileSamples.inks())
        for keeps in [false, true] {
            let light = try coder.decode(gray.data([[64 * scale]])) { $0.keepsColorSpace = keeps }
            #expect(light.colorSpace == .sRGB && abs(Int(light.pixels[0, 0].x) - 137) <= 1)
            let cyan = try coder.decode(inks.data([[128 * scale, 0, 0, 0]])) { $0.keepsColorSpace = keeps }
            let plain = try coder.decode(inks.data([[128 * scale, 0, 0, 0]]))
            // Half way in L*a*b*, not half the light.
            #expect(cyan.colorSpace == .sRGB && cyan.pixels == plain.pixels && cyan.pixels[0, 0].x > 140)
        }
        var palette = HandmadeTIFF(1, 1)
        (palette.bits, palette.photometric, palette.profile) = (bits, 2, try ProfileSamples.wide())
        let kept = try coder.decode(palette.data([[9 * scale, 8 * scale, 7 * scale]])) { $0.keepsColorSpace = true }
        #expect(kept.colorSpace.profile == palette.profile && kept.pixels[0, 0] == [9, 8, 7, 255])
    }

    @Test("Inks keep their transparency", arguments: [8, 16])
    func transparentInks(bits: Int) throws {
        let scale = bits == 8 ? 1 : 257
        var file = HandmadeTIFF(2, 1)
        (file.bits, file.photometric, file.extras) = (bits, 5, [2])
        let pixels = [[0, 255, 255, 0, 128], [0, 0, 0, 0, 255]].map { $0.map { $0 * scale } }
        let image = try coder.decode(file.data(pixels))
        #expect(image.hasAlpha && image.pixels[0, 0] == [128, 0, 0, 128] && image.pixels[1, 0] == white)
        file.extras = [1]
        let multiplied = [[0, 128, 128, 0, 128], [0, 0, 0, 0, 255]].map { $0.map { $0 * scale } }
        #expect(try coder.decode(file.data(multiplied)).pixels == image.pixels)
    }
}
#endif
