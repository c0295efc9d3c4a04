import Foundation

/// Small raster files that cost much where cost follows what a file claims.
enum HostileRasters {
    private typealias Build = ByteBuilder

    /// A GIF whose frames are one pixel each.
    static func gif(side: Int, frames: Int) -> Data {
        let screen = Build.little(side, 2) + Build.little(side, 2)
        let header = Data("GIF89a".utf8) + screen + Data([0x80, 0, 0, 255, 0, 0, 0, 0, 255])
        // A delay of a tenth of a second; then codes of three bits: clear, 0, end.
        var frame = Data([0x21, 0xF9, 4, 0, 10, 0, 0, 0, 0x2C, 0, 0, 0, 0, 1, 0, 1, 0, 0])
        frame += Data([2, 2, 0x44, 0x01, 0])
        return header + Build.repeated(frame, frames) + Data([0x3B])
    }

    /// An animated PNG whose frames are one pixel each, but for the default image, which is not part of the animation.
    static func apng(side: Int, frames: Int) -> Data {
        var file = png(side, side, end: false) { Build.chunk("acTL", Build.big(frames) + Build.big(0)) }
        let pixel = Build.deflatedZeros(2)
        for index in 0..<frames {
            let control = [2 * index, 1, 1, 0, 0].map { Build.big($0) }.reduce(Data(), +) + Data([0, 1, 0, 10, 0, 0])
            file += Build.chunk("fcTL", control) + Build.chunk("fdAT", Build.big(2 * index + 1) + pixel)
        }
        return file + Build.chunk("IEND", Data())
    }

    /// A black PNG of one bit for each pixel.
    static func png(_ width: Int, _ height: Int, end: Bool = true, before: () -> Data = { Data() }) -> Data {
        let header = Build.big(width) + Build.big(height) + Data([1, 0, 0, 0, 0])
        let pixels = Build.deflatedZeros((1 + (width + 7) / 8) * height)
        return Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) + Build.chunk("IHDR", header) + before()
            + Build.chunk("IDAT", pixels) + (end ? Build.chunk("IEND", Data()) : Data())
    }

    /// A WebP animation whose frames are one pixel each.
    static func webp(side: Int, frames: Int) -> Data {
        // One lossless pixel: five codes with one symbol each, which take no bits.
        let pixel = Build.riff("VP8L", Data([0x2F, 0, 0, 0, 0, 0x88, 0x88, 0x08]))
        let place = Build.little(0, 6) + Build.little(0, 6) + Build.little(100, 3) + Data([0])
        var contents = Data("WEBP".utf8)
        contents += Build.riff(
            "VP8X", Data([0x02, 0, 0, 0]) + Build.little(side - 1, 3) + Build.little(side - 1, 3))
        contents += Build.riff("ANIM", Build.little(0, 6))
        contents += Build.repeated(Build.riff("ANMF", place + pixel), frames)
        return Build.riff("RIFF", contents)
    }

    /// An AVIF sequence that shows one picture of 16 × 16 pixels again and again.
    static func avif(frames: Int) -> Data {
        let sample = Data([
            0x12, 0x00, 0x0A, 0x09, 0x18, 0x0C, 0xFF, 0xD8, 0x20, 0x21, 0xA0, 0xD0, 0x80, 0x32, 0x13, 0x12, 0x40,
            0x01, 0x04, 0x10, 0x44, 0x00, 0x00, 0x57, 0xB7, 0x03, 0xC1, 0xDD, 0xC8, 0x22, 0x83, 0x5D, 0x51, 0xE0,
        ])
        let type = Build.box("ftyp", Data("avis".utf8), Build.big(0), Data("avismsf1iso8MA1B".utf8))
        func movie(_ offset: Int) -> Data {
            let size = Build.big(16, 2) + Build.big(16, 2)
            let entry = Build.box(
                "av01",
                Build.big(0, 6) + Build.big(1, 2) + Data(count: 16) + size + Build.big(0x48_0000)
                    + Build.big(0x48_0000) + Build.big(0) + Build.big(1, 2) + Data(count: 32) + Build.big(0x18, 2)
                    + Build.big(0xFFFF, 2), Build.box("av1C", Data([0x81, 0x00, 0x0C, 0x00])))
            let table = Build.box(
                "stbl", Build.box("stsd", Build.big(0), Build.big(1), entry),
                // One run for each frame, of different durations.
                Build.box(
                    "stts", Build.big(0), Build.big(frames),
                    (0..<frames).reduce(into: Data()) { $0 += Build.big(1) + Build.big(100 + $1 % 2) }),
                Build.box("stsc", Build.big(0), Build.big(1), Build.big(1), Build.big(1), Build.big(1)),
                Build.box("stsz", Build.big(0), Build.big(sample.count), Build.big(frames)),
                Build.box("stco", Build.big(0), Build.big(frames), Build.repeated(Build.big(offset), frames)))
            let matrix = [1 << 16, 0, 0, 0, 1 << 16, 0, 0, 0, 1 << 30].map { Build.big($0) }.reduce(Data(), +)
            let header = Build.box(
                "tkhd", Build.big(3), Build.big(0, 8), Build.big(1), Build.big(0), Build.big(frames * 100),
                Data(count: 16), matrix, Build.big(16 << 16), Build.big(16 << 16))
            let reference = Build.box(
                "dinf", Build.box("dref", Build.big(0), Build.big(1), Build.box("url ", Build.big(1))))
            let media = Build.box(
                "mdia",
                Build.box(
                    "mdhd", Build.big(0), Build.big(0, 8), Build.big(1_000), Build.big(frames * 100), Build.big(0)),
                Build.box("hdlr", Build.big(0, 8), Data("pict".utf8), Data(count: 13)),
                Build.box("minf", Build.box("vmhd", Build.big(1), Build.big(0, 8)), reference, table))
            let movieHeader = Build.box(
                "mvhd", Build.big(0), Build.big(0, 8), Build.big(1_000), Build.big(frames * 100), Build.big(1 << 16),
                Data(count: 12), matrix, Data(count: 24), Build.big(2))
            return Build.box("moov", movieHeader, Build.box("trak", header, media))
        }
        let offset = type.count + movie(0).count + 8
        return type + movie(offset) + Build.box("mdat", sample)
    }

    /// A TIFF file of black pixels with many samples each, in strips of Deflate.
    static func tiff(side: Int, samples: Int, rowsPerStrip: Int) -> Data {
        let strips = (side + rowsPerStrip - 1) / rowsPerStrip
        let strip = Build.deflatedZeros(side * rowsPerStrip * samples)
        // All strips are the same bytes.
        let start = 8 + strip.count + strip.count % 2
        var values = Data()
        var entries = Data()
        let valuesStart = start + 2 + 11 * 12 + 4
        func entry(_ tag: Int, _ type: Int, _ numbers: [Int]) {
            let size = type == 3 ? 2 : 4
            let bytes = numbers.reduce(into: Data()) { $0 += Build.little($1, size) }
            entries += Build.little(tag, 2) + Build.little(type, 2) + Build.little(numbers.count, 4)
            if bytes.count <= 4 {
                entries += bytes + Data(count: 4 - bytes.count)
            } else {
                entries += Build.little(valuesStart + values.count, 4)
                values += bytes
            }
        }
        entry(256, 4, [side])
        entry(257, 4, [side])
        entry(258, 3, Array(repeating: 8, count: samples))
        entry(259, 3, [8])
        entry(262, 3, [2])
        entry(273, 4, Array(repeating: 8, count: strips))
        entry(277, 3, [samples])
        entry(278, 4, [rowsPerStrip])
        entry(279, 4, Array(repeating: strip.count, count: strips))
        entry(284, 3, [1])
        entry(338, 3, Array(repeating: 0, count: samples - 3))
        return Data("II*\0".utf8) + Build.little(start, 4) + strip + Data(count: strip.count % 2) + Build.little(11, 2)
            + entries + Build.little(0, 4) + values
    }
}
