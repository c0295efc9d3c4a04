internal import FoundationEssentials
internal import TintypeImages

extension ImageMetadata.Fields {
    /// The fields of an Exif block (CIPA DC-008, Exif 3.0, section 4.6).
    init(exif block: Data) {
        self.init()
        // A program may have put a prefix in front of the block.
        block.exifBlock?.withUnsafeBytes { bytes in
            guard let reader = ExifReader(bytes), let main = reader.main else { return }
            readDescription(reader, main)
            // Some writers have no directory of Exif.
            for directory in [reader.child(ExifTag.exif, of: main), main].compactMap(\.self) {
                readCapture(reader, directory)
            }
            if let directory = reader.child(ExifTag.gps, of: main) { place = Place(reader, directory) }
        }
    }

    private mutating func readDescription(_ reader: ExifReader, _ main: ExifReader.Directory) {
        description = reader.text(main[0x010E])
        cameraMake = reader.text(main[0x010F])
        cameraModel = reader.text(main[0x0110])
        software = reader.text(main[0x0131])
        // Windows writes a rating from 0 to 5 here.
        rating = reader.number(main[0x4746]).flatMap { (0...5).contains($0) ? $0 : nil }
        // Several people are separated by semicolons.
        authors = (reader.text(main[0x013B]) ?? "").split(separator: ";").compactMap { MetadataText.trimmed($0) }
        // The photographer's copyright, and behind a zero that of the editor.
        if let entry = main[0x8298] {
            let parts = reader.bytes[entry.value].split(separator: 0, maxSplits: 2).prefix(2)
            let texts = parts.compactMap { MetadataText.decoded($0) }
            copyright = texts.isEmpty ? nil : texts.joined(separator: "\n")
        }
    }

    private mutating func readCapture(_ reader: ExifReader, _ directory: ExifReader.Directory) {
        // The times of the original, and of its digital form: the time, its fraction of a second, and the offset from UTC.
        for (time, fraction, offset) in [(0x9003, 0x9291, 0x9011), (0x9004, 0x9292, 0x9012)] where captureDate == nil {
            guard let time = reader.text(directory[time]) else { continue }
            let fraction = reader.text(directory[fraction]).map { "." + $0 } ?? ""
            captureDate = DateComponents(metadata: time + fraction + (reader.text(directory[offset]) ?? ""))
        }
        lensModel = lensModel ?? reader.text(directory[0xA434])
        exposureTime = exposureTime ?? reader.real(directory[0x829A])?.positive
        aperture = aperture ?? reader.real(directory[0x829D])?.positive
        focalLength = focalLength ?? reader.real(directory[0x920A])?.positive
        // 65,535 stands for all numbers for which two bytes are too few. They are the recommended exposure index, the standard output
        // sensitivity, or the ISO speed.
        let iso = reader.real(directory[0x8827])
        let larger = [0x8832, 0x8831, 0x8833].lazy.compactMap { reader.real(directory[$0]) }
        self.iso = self.iso ?? Int(iso: iso == nil || iso == 65_535 ? larger.first ?? iso : iso)
    }
}

extension ImageMetadata.Fields.Place {
    /// The place in the directory of Exif for it.
    fileprivate init?(_ reader: ExifReader, _ directory: ExifReader.Directory) {
        func degrees(_ tag: Int, positive: String, negative: String) -> Double? {
            let sign: Double
            switch reader.text(directory[tag])?.uppercased() {
            case positive: sign = 1
            case negative: sign = -1
            default: return nil
            }
            var sum = 0.0
            for (index, unit) in [1.0, 60, 3_600].enumerated() {
                guard let (part, denominator) = reader.fraction(directory[tag + 1], index) else { return nil }
                // Minutes and seconds that a device doesn't know are 0/0.
                if denominator == 0, part == 0, index > 0 { continue }
                guard denominator != 0 else { return nil }
                sum += part / denominator / unit
            }
            return sign * sum
        }
        guard let latitude = degrees(1, positive: "N", negative: "S"),
            let longitude = degrees(3, positive: "E", negative: "W")
        else { return nil }
        // 1 and 3 are below the level of the sea or the ellipsoid.
        let isBelow = [1, 3].contains(reader.real(directory[5]))
        let altitude = reader.real(directory[6]).map { isBelow ? -$0 : $0 }
        self.init(latitude: latitude, longitude: longitude, altitude: altitude)
    }
}

extension ExifReader {
    /// The text of an entry, whatever its type says; `nil` if it is blank.
    fileprivate func text(_ entry: Entry?) -> String? { entry.flatMap { MetadataText.decoded(bytes[$0.value]) } }

    /// The first number of an entry; `nil` if it isn't finite.
    fileprivate func real(_ entry: Entry?) -> Double? {
        guard let (numerator, denominator) = fraction(entry, 0), denominator != 0 else { return nil }
        let value = numerator / denominator
        return value.isFinite ? value : nil
    }

    /// A number of an entry as a fraction, which may have the denominator 0.
    fileprivate func fraction(_ entry: Entry?, _ index: Int) -> (Double, Double)? {
        guard let entry, let size = ExifType.size(entry.type), entry.value.count >= (index + 1) * size else {
            return nil
        }
        let place = entry.value.lowerBound + index * size
        switch entry.type {
        case ExifType.byte: return (Double(bytes[place]), 1)
        case ExifType.short: return short(place).map { (Double($0), 1) }
        case ExifType.long: return long(place).map { (Double($0), 1) }
        case ExifType.signedByte: return (Double(Int8(bitPattern: bytes[place])), 1)
        case ExifType.signedShort: return short(place).map { (Double(Int16(truncatingIfNeeded: $0)), 1) }
        case ExifType.signedLong: return long(place).map { (Double(Int32(truncatingIfNeeded: $0)), 1) }
        case ExifType.float: return long(place).map { (Double(Float(bitPattern: UInt32(truncatingIfNeeded: $0))), 1) }
        case ExifType.rational, ExifType.signedRational:
            guard let numerator = long(place), let denominator = long(place + 4) else { return nil }
            guard entry.type == ExifType.signedRational else { return (Double(numerator), Double(denominator)) }
            return (Double(Int32(truncatingIfNeeded: numerator)), Double(Int32(truncatingIfNeeded: denominator)))
        default: return nil
        }
    }
}
