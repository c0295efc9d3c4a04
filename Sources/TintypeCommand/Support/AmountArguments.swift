internal import ArgumentParser
internal import TintypeLoading

/// A number of bytes with its unit: `500MB`, `2GB`, `64kB`, `1000`. Units are decimal.
struct SizeLimitArgument: ExpressibleByArgument, Equatable, Sendable {
    let bytes: ByteCount

    init?(argument: String) {
        let units: [(String, Int)] = [("kb", 1_000), ("mb", 1_000_000), ("gb", 1_000_000_000), ("b", 1)]
        let text = argument.lowercased()
        let (unit, scale) = units.first { text.hasSuffix($0.0) } ?? ("", 1)
        guard let value = Amount.value(text.dropLast(unit.count), scale: Double(scale)), value < 9e18 else {
            return nil
        }
        bytes = ByteCount(Int(value))
    }
}

/// A time with its unit: `7d`, `12h`, `30m`, `90s`.
struct AgeArgument: ExpressibleByArgument, Equatable, Sendable {
    let duration: Duration

    init?(argument: String) {
        let units: [Character: Double] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
        guard let unit = argument.last, let scale = units[unit],
            let value = Amount.value(argument.dropLast(), scale: scale), value < 1e11
        else { return nil }
        duration = .seconds(value)
    }
}

enum Amount {
    /// Returns the value of digits with or without a fraction; `nil` for other text.
    static func value(_ text: some StringProtocol, scale: Double) -> Double? {
        // `Double` alone would take `inf`, `0x10` and `1e3`.
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == 0x2E }),
            let value = Double(text)
        else { return nil }
        return value * scale
    }
}
