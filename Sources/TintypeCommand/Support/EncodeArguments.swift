internal import ArgumentParser
internal import TintypeLoading

/// A number of bytes: `50000`, `200k`, `1.5M`; k and M are 1,000 and 1,000,000.
struct ByteCountArgument: ExpressibleByArgument, Equatable, Sendable {
    let bytes: Int

    init?(argument: String) {
        let factors: [Character: Double] = ["k": 1_000, "K": 1_000, "m": 1_000_000, "M": 1_000_000]
        let factor = argument.last.flatMap { factors[$0] }
        let digits = factor == nil ? argument[...] : argument.dropLast()
        guard let bytes = Amount.value(digits, scale: factor ?? 1), bytes >= 1, bytes <= 1e12 else { return nil }
        self.bytes = Int(bytes)
    }
}

/// An opaque color: `white`, `black`, or red, green and blue in hexadecimal, `#ff8800`.
struct ColorArgument: ExpressibleByArgument, Equatable, Sendable {
    let color: PixelColor

    init?(argument: String) {
        switch argument.lowercased() {
        case "white": color = .white
        case "black": color = .black
        case let name:
            guard let color = try? PixelColor(hex: name), name.drop(while: { $0 == "#" }).count == 6 else { return nil }
            self.color = color
        }
    }
}
