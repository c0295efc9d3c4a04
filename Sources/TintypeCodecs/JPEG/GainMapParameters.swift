/// The parameters of a gain map, in the terms of ISO 21496-1.
///
/// A display with a headroom between ``baseHeadroom`` and ``alternateHeadroom`` applies a part of the gain.
package struct GainMapParameters: Sendable, Equatable {
    /// The parameters of a component.
    package struct Channel: Sendable, Equatable {
        /// The binary logarithm of the gain for the value 0 of the map.
        package var minimum: Double
        /// The binary logarithm of the gain for the largest value of the map.
        package var maximum: Double
        /// The exponent of the values of the map, above 0.
        package var gamma: Double
        /// The number that is added to the linear values of the image before they are multiplied.
        package var baseOffset: Double
        /// The number that is subtracted afterwards.
        package var alternateOffset: Double
    }

    /// The binary logarithm of the ratio of the brightest to diffuse white of the image itself; 0 for standard range.
    package var baseHeadroom: Double
    /// The same for the image with the whole gain applied.
    package var alternateHeadroom: Double
    /// True if the gain applies to the color space of the image itself.
    package var usesBaseColorSpace: Bool
    /// A single value for all components, or separate values for red, green, and blue.
    package var channels: [Channel]

    init?(
        baseHeadroom: Double, alternateHeadroom: Double, usesBaseColorSpace: Bool, channels: [Channel]
    ) {
        self.baseHeadroom = baseHeadroom
        self.alternateHeadroom = alternateHeadroom
        self.usesBaseColorSpace = usesBaseColorSpace
        self.channels = channels
        let numbers = channels.flatMap { [$0.minimum, $0.maximum, $0.gamma, $0.baseOffset, $0.alternateOffset] }
        guard (numbers + [baseHeadroom, alternateHeadroom]).allSatisfy(\.isFinite),
            channels.allSatisfy({ $0.gamma > 0 && $0.minimum <= $0.maximum })
        else { return nil }
    }

    // MARK: ISO 21496-1

    /// Reads the binary form (annex C.2): fractions of 32-bit numbers. If all have the same denominator, versions of libultrahdr write it
    /// once, in front of the numerators, and set a flag that the standard reserves (`gainmapmetadata.cpp`).
    /// - Returns: `nil` if the version is a later version, or if numbers are missing or make no sense.
    init?(iso bytes: [UInt8]) {
        var reader = FractionReader(bytes: bytes[...])
        guard let minimumVersion = reader.number(2), minimumVersion == 0, reader.number(2) != nil,
            let flags = reader.number(1), flags & ~Self.knownFlags == 0
        else { return nil }
        if flags & Self.commonDenominator != 0 {
            guard let denominator = reader.number(4) else { return nil }
            reader.denominator = denominator
        }
        guard let base = reader.fraction(isSigned: false), let alternate = reader.fraction(isSigned: false)
        else { return nil }
        var channels: [Channel] = []
        for _ in 0..<(flags & 0x80 == 0 ? 1 : 3) {
            guard let minimum = reader.fraction(isSigned: true), let maximum = reader.fraction(isSigned: true),
                let gamma = reader.fraction(isSigned: false), let baseOffset = reader.fraction(isSigned: true),
                let alternateOffset = reader.fraction(isSigned: true)
            else { return nil }
            channels.append(
                Channel(
                    minimum: minimum, maximum: maximum, gamma: gamma, baseOffset: baseOffset,
                    alternateOffset: alternateOffset))
        }
        self.init(
            baseHeadroom: base, alternateHeadroom: alternate, usesBaseColorSpace: flags & 0x40 != 0,
            channels: channels)
    }

    private static let commonDenominator = 0x08
    /// The other bits are reserved, or say that the image itself has high dynamic range.
    private static let knownFlags = 0xC0 | commonDenominator

    /// The binary form, with fractions of 65,536ths.
    var iso: [UInt8] {
        func fraction(_ value: Double) -> [UInt8] {
            BigEndian.bytes(Int((min(max(value, -32_767), 32_767) * 65_536).rounded()), 4) + BigEndian.bytes(65_536, 4)
        }
        let flags = (channels.count == 3 ? 0x80 : 0) | (usesBaseColorSpace ? 0x40 : 0)
        let numbers =
            [baseHeadroom, alternateHeadroom]
            + channels.flatMap { [$0.minimum, $0.maximum, $0.gamma, $0.baseOffset, $0.alternateOffset] }
        // The smallest version that can read it, and that which wrote it.
        return BigEndian.bytes(0, 4) + BigEndian.bytes(flags, 1) + numbers.flatMap(fraction)
    }

    private struct FractionReader {
        var bytes: ArraySlice<UInt8>
        /// The denominator of all fractions; `nil` if each has its own.
        var denominator: Int?

        mutating func number(_ count: Int) -> Int? {
            guard bytes.count >= count else { return nil }
            defer { bytes = bytes.dropFirst(count) }
            return bytes.prefix(count).reduce(0) { $0 << 8 | Int($1) }
        }

        mutating func fraction(isSigned: Bool) -> Double? {
            guard let bits = number(4), let denominator = denominator ?? number(4), denominator > 0 else { return nil }
            return Double(isSigned ? Int(Int32(truncatingIfNeeded: bits)) : bits) / Double(denominator)
        }
    }

    // MARK: XMP

    /// Reads the properties of the namespace `hdrgm` (Adobe, “Gain Map”, version 1; “Ultra HDR Image Format”, version 1).
    /// - Returns: `nil` if required numbers are missing, or if numbers make no sense.
    init?(xmp: String) {
        func values(_ name: String, default value: Double? = nil) -> [Double]? {
            guard let texts = Self.texts(of: "hdrgm:" + name, in: xmp) else { return value.map { [$0] } }
            let numbers = texts.compactMap(Double.init)
            return numbers.count == texts.count && [1, 3].contains(numbers.count) ? numbers : nil
        }
        guard let maxima = values("GainMapMax"), let alternate = values("HDRCapacityMax")?.first,
            let minima = values("GainMapMin", default: 0), let gammas = values("Gamma", default: 1),
            let baseOffsets = values("OffsetSDR", default: 1.0 / 64), let base = values("HDRCapacityMin", default: 0),
            let alternateOffsets = values("OffsetHDR", default: 1.0 / 64),
            // The image itself has high dynamic range, which is defined, but not written by any program.
            Self.texts(of: "hdrgm:BaseRenditionIsHDR", in: xmp)?.first?.lowercased() != "true"
        else { return nil }
        let lists = [minima, maxima, gammas, baseOffsets, alternateOffsets]
        let channels = (0..<(lists.map(\.count).max() ?? 1)).map { index in
            let numbers = lists.map { $0.count == 1 ? $0[0] : $0[index] }
            return Channel(
                minimum: numbers[0], maximum: numbers[1], gamma: numbers[2], baseOffset: numbers[3],
                alternateOffset: numbers[4])
        }
        self.init(
            baseHeadroom: base[0], alternateHeadroom: alternate, usesBaseColorSpace: true, channels: channels)
    }

    /// The values of a property: of an attribute, or of an element or the items of its list. Not a parser of XML.
    private static func texts(of name: String, in xmp: String) -> [String]? {
        if let attribute = xmp.firstRange(of: name + "=") {
            let rest = xmp[attribute.upperBound...]
            guard let quote = rest.first, quote == "\"" || quote == "'" else { return nil }
            return [String(rest.dropFirst().prefix { $0 != quote })]
        }
        guard let start = xmp.firstRange(of: "<\(name)>"),
            let end = xmp[start.upperBound...].firstRange(of: "</\(name)>")
        else { return nil }
        let contents = xmp[start.upperBound..<end.lowerBound]
        let items = contents.split(separator: "<rdf:li>").dropFirst().map { String($0.prefix { $0 != "<" }) }
        return items.isEmpty ? [String(contents.filter { !$0.isWhitespace })] : Array(items)
    }
}
