internal import ArgumentParser
package import TintypeLoading

/// A box for an image: `400x300`, or with an open side, `1600x` or `x900`.
package struct SizeArgument: ExpressibleByArgument, Equatable, Sendable {
    /// The box. An open side is longer than any image.
    package let box: PixelSize

    package static let openSide = 1 << 24
    package static let largestSide = 100_000

    package init?(argument: String) {
        let sides = argument.split(
            maxSplits: 1, omittingEmptySubsequences: false, whereSeparator: { "xX×".contains($0) })
        guard sides.count == 2, !(sides[0].isEmpty && sides[1].isEmpty) else { return nil }
        func side(_ text: Substring) -> Int? {
            if text.isEmpty { return Self.openSide }
            // `Int` alone would accept `+4`.
            guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let value = Int(text) else { return nil }
            return (1...Self.largestSide).contains(value) ? value : nil
        }
        guard let width = side(sides[0]), let height = side(sides[1]) else { return nil }
        box = PixelSize(width: width, height: height)
    }

    package init(_ box: PixelSize) { self.box = box }

    package var defaultValueDescription: String { box.description }
}

/// A quality: a whole number from 0 to 100, or a fraction such as `0.7`.
package struct QualityArgument: ExpressibleByArgument, Equatable, Sendable {
    /// From 0 to 1.
    package let fraction: Double

    package init?(argument: String) {
        if let percent = Int(argument) {
            guard (0...100).contains(percent) else { return nil }
            fraction = Double(percent) / 100
        } else if let value = Double(argument), (0...1).contains(value) {
            fraction = value
        } else {
            return nil
        }
    }
}
