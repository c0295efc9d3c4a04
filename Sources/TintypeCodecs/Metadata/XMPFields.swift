internal import FoundationEssentials
internal import TintypeImages

extension ImageMetadata.Fields {
    /// The fields of an XMP packet (XMP, part 1, section 8, and part 2; CIPA DC-010 for those of Exif).
    init(xmp packet: Data) {
        self.init()
        let properties = XMPProperties(packet)
        func first(_ names: XMPProperties.Property...) -> String? {
            names.lazy.compactMap { properties[$0].first }.first
        }
        title = first(.title)
        description = first(.description)
        authors = properties[.creator]
        copyright = first(.rights)
        keywords = properties[.subject]
        software = first(.creatorTool)
        cameraMake = first(.make)
        cameraModel = first(.model)
        lensModel = first(.lensModel, .lens)
        exposureTime = first(.exposureTime).flatMap(Self.number)?.positive
        aperture = first(.aperture).flatMap(Self.number)?.positive
        focalLength = first(.focalLength).flatMap(Self.number)?.positive
        iso = Int(iso: first(.sensitivity, .speedRatings).flatMap(Self.number))
        rating = first(.rating).flatMap(Self.number).flatMap { (-1...5).contains($0) ? Int($0.rounded()) : nil }
        captureDate =
            [.dateOriginal, .dateCreated, .createDate].lazy
            .compactMap { properties[$0].first.flatMap { DateComponents(metadata: $0) } }.first
        guard let latitude = first(.latitude).flatMap({ Self.degrees($0, positive: "N", negative: "S") }),
            let longitude = first(.longitude).flatMap({ Self.degrees($0, positive: "E", negative: "W") })
        else { return }
        let isBelow = ["1", "3"].contains(first(.altitudeReference))
        let altitude = first(.altitude).flatMap(Self.number).map { isBelow ? -$0 : $0 }
        place = Place(latitude: latitude, longitude: longitude, altitude: altitude)
    }

    /// A decimal number, or a fraction such as `1/250`.
    private static func number(_ text: String) -> Double? {
        let parts = text.split(separator: "/", maxSplits: 1).map { Double($0) }
        guard let numerator = parts.first ?? nil else { return nil }
        guard parts.count == 2 else { return numerator.isFinite ? numerator : nil }
        guard let denominator = parts[1], denominator != 0 else { return nil }
        let value = numerator / denominator
        return value.isFinite ? value : nil
    }

    /// Degrees, minutes, and perhaps seconds, and a letter: `47,10.5N` or `47,10,30N`.
    private static func degrees(_ text: String, positive: Character, negative: Character) -> Double? {
        let sign: Double
        switch text.last {
        case positive: sign = 1
        case negative: sign = -1
        default: return nil
        }
        let parts = text.dropLast().split(separator: ",", maxSplits: 3).map { Double($0) ?? .nan }
        guard (1...3).contains(parts.count), parts.allSatisfy({ $0.isFinite && $0 >= 0 }) else { return nil }
        return sign * zip(parts, [1, 60, 3_600]).reduce(0) { $0 + $1.0 / $1.1 }
    }
}
