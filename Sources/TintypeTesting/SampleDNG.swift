public import FoundationEssentials
public import TintypeLoading

/// A writer of small DNG files with uncompressed 16-bit samples of a Bayer sensor (Adobe, "Digital Negative Specification", 1.4; TIFF 6.0).
public struct SampleDNG {
    /// The picture that the sensor captures.
    public var picture: PixelBuffer
    /// The orientation that the file states.
    public var orientation = Orientation.up
    /// The camera's preview: a JPEG with its size.
    public var preview: (data: Data, size: PixelSize)?
    /// True for a file as most cameras write it: the first directory is the preview's, and refers to the sensor's, which comes behind the
    /// preview.
    package var startsWithPreview = false
    /// The size in the header, if it differs from the picture's.
    public var claimedSize: PixelSize?

    /// Creates a file of a picture.
    /// - Parameter picture: the pixels.
    public init(picture: PixelBuffer) { self.picture = picture }

    private struct Entry {
        var tag: Int
        var type: Int
        var count: Int
        var bytes: [UInt8]
    }

    private static func little(_ value: Int, _ bytes: Int) -> [UInt8] {
        (0..<bytes).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }

    private static func short(_ tag: Int, _ values: Int...) -> Entry {
        Entry(tag: tag, type: 3, count: values.count, bytes: values.flatMap { little($0, 2) })
    }

    private static func long(_ tag: Int, _ value: Int) -> Entry {
        Entry(tag: tag, type: 4, count: 1, bytes: little(value, 4))
    }

    private static func byte(_ tag: Int, _ values: UInt8...) -> Entry {
        Entry(tag: tag, type: 1, count: values.count, bytes: values)
    }

    private static func text(_ tag: Int, _ value: String) -> Entry {
        Entry(tag: tag, type: 2, count: value.utf8.count + 1, bytes: Array(value.utf8) + [0])
    }

    /// - Parameter type: 5 for unsigned fractions, 10 for signed fractions.
    private static func fractions(_ tag: Int, type: Int, _ values: [Double]) -> Entry {
        let bytes = values.flatMap { little(Int(($0 * 10_000).rounded()), 4) + little(10_000, 4) }
        return Entry(tag: tag, type: type, count: values.count, bytes: bytes)
    }

    /// The conversion from XYZ under D65 to linear sRGB (IEC 61966-2-1): the sensor's colors equal sRGB's.
    private static let matrix = [
        3.2405, -1.5371, -0.4985, -0.9693, 1.8760, 0.0416, 0.0556, -0.2040, 1.0572,
    ]

    /// The samples of a Bayer pattern: red and green in even rows, green and blue in odd rows.
    private var samples: Data {
        var bytes = Data(capacity: picture.width * picture.height * 2)
        for y in 0..<picture.height {
            for x in 0..<picture.width {
                let color = picture[x, y]
                let component = y % 2 == 0 ? (x % 2 == 0 ? color.x : color.y) : (x % 2 == 0 ? color.y : color.z)
                bytes.append(contentsOf: Self.little(Int(component) * 257, 2))
            }
        }
        return bytes
    }

    /// The contents of the file.
    public var data: Data {
        let size = claimedSize ?? picture.size
        let samples = samples
        func sensor(at offset: Int) -> [Entry] {
            [
                Self.long(254, 0), Self.long(256, size.width), Self.long(257, size.height), Self.short(258, 16),
                Self.short(259, 1), Self.short(262, 32_803), Self.text(271, "Tintype"), Self.text(272, "Test"),
                Self.long(273, offset), Self.short(274, orientation.rawValue), Self.short(277, 1),
                Self.long(278, size.height), Self.long(279, size.pixelCount * 2), Self.short(284, 1),
                Self.short(33_421, 2, 2), Self.byte(33_422, 0, 1, 1, 2), Self.byte(50_706, 1, 4, 0, 0),
                Self.text(50_708, "Tintype Test"), Self.long(50_717, 65_535),
                Self.fractions(50_721, type: 10, Self.matrix), Self.fractions(50_728, type: 5, [1, 1, 1]),
                Self.short(50_778, 21),
            ]
        }
        func reduced(_ preview: (data: Data, size: PixelSize), at offset: Int) -> [Entry] {
            [
                Self.long(254, 1), Self.long(256, preview.size.width), Self.long(257, preview.size.height),
                Self.short(258, 8, 8, 8), Self.short(259, 7), Self.short(262, 6), Self.long(273, offset),
                Self.short(277, 3), Self.long(278, preview.size.height), Self.long(279, preview.data.count),
                Self.short(284, 1),
            ]
        }
        if startsWithPreview, let preview {
            let shared: Set = [271, 272, 274, 50_706, 50_708, 50_721, 50_728, 50_778]
            func first(preview offset: Int, sensor: Int, _ general: [Entry]) -> Data {
                let entries = general + reduced(preview, at: offset) + [Self.long(330, sensor)]
                return Self.directory(entries.sorted { $0.tag < $1.tag }, at: 8, next: 0)
            }
            let general = sensor(at: 0).filter { shared.contains($0.tag) }
            let offset = 8 + first(preview: 0, sensor: 0, general).count
            let second = offset + preview.data.count + preview.data.count % 2
            let start = second + Self.directory(sensor(at: 0), at: second, next: 0).count
            var file = Data([0x49, 0x49, 42, 0] + Self.little(8, 4))
            file += first(preview: offset, sensor: second, general) + preview.data
            file += Data(count: preview.data.count % 2)
            return file + Self.directory(sensor(at: start), at: second, next: 0) + samples
        }
        // Lengths are known before offsets, because they do not depend on them.
        let first = 8 + Self.directory(sensor(at: 0), at: 8, next: 0).count
        let second = preview.map { Self.directory(reduced($0, at: 0), at: first, next: 0).count } ?? 0
        let previewStart = first + second
        let start = previewStart + (preview?.data.count ?? 0)
        var file = Data([0x49, 0x49, 42, 0] + Self.little(8, 4))
        file += Self.directory(sensor(at: start), at: 8, next: preview == nil ? 0 : first)
        if let preview {
            file += Self.directory(reduced(preview, at: previewStart), at: first, next: 0)
            file += preview.data
        }
        return file + samples
    }

    /// Returns a directory, followed by the values that do not fit into its entries.
    private static func directory(_ entries: [Entry], at offset: Int, next: Int) -> Data {
        var table = Data(little(entries.count, 2))
        var values = Data()
        let valuesStart = offset + 2 + entries.count * 12 + 4
        for entry in entries {
            table += little(entry.tag, 2) + little(entry.type, 2) + little(entry.count, 4)
            if entry.bytes.count <= 4 {
                table += entry.bytes + [UInt8](repeating: 0, count: 4 - entry.bytes.count)
            } else {
                table += little(valuesStart + values.count, 4)
                values += entry.bytes + (entry.bytes.count % 2 == 0 ? [] : [0])
            }
        }
        return table + little(next, 4) + values
    }
}
