extension PixelColor {
    /// Creates a color from a hexadecimal string, as in CSS: `#rgb`, `#rgba`, `#rrggbb`, or `#rrggbbaa`. The `#` is optional.
    /// - Parameter hex: the string.
    /// - Throws: ``ImageError/Code/invalidRequest`` for any other string.
    public init(hex: String) throws(ImageError) {
        guard let digits = Self.digits(hex) else { throw Self.malformed(hex, "#rgb, #rgba, #rrggbb, or #rrggbbaa") }
        let values: [Int]
        switch digits.count {
        case 3, 4: values = digits.map { $0 * 17 }
        case 6, 8: values = stride(from: 0, to: digits.count, by: 2).map { digits[$0] * 16 + digits[$0 + 1] }
        default: throw Self.malformed(hex, "#rgb, #rgba, #rrggbb, or #rrggbbaa")
        }
        self.init(components: values)
    }

    /// Creates a color from a string with alpha first, as SDWebImage writes it: `#aarrggbb`.
    /// - Parameter hex: the string. The `#` is optional.
    /// - Throws: ``ImageError/Code/invalidRequest`` for any other string.
    public init(argbHex hex: String) throws(ImageError) {
        guard let digits = Self.digits(hex), digits.count == 8 else { throw Self.malformed(hex, "#aarrggbb") }
        let values = stride(from: 0, to: 8, by: 2).map { digits[$0] * 16 + digits[$0 + 1] }
        self.init(components: Array(values[1...]) + [values[0]])
    }

    /// The color as `#rrggbb`, or as `#rrggbbaa` if it is translucent. Components are limited to 0 to 1, and rounded to 8 bits.
    public var hex: String {
        let values = bytes
        return "#" + (values[3] == 255 ? values.dropLast() : values).map(Self.pair).joined()
    }

    /// The color with alpha first, as SDWebImage writes it: `#aarrggbb`.
    public var argbHex: String {
        let values = bytes
        return "#" + ([values[3]] + values.dropLast()).map(Self.pair).joined()
    }

    /// The components with 8 bits: red, green, blue, and alpha.
    package var bytes: [UInt8] {
        // The maximum of NaN and 0 is 0 in this order.
        [red, green, blue, alpha].map { UInt8(Swift.min(1, $0 > 0 ? $0 : 0) * 255 + 0.5) }
    }

    private init(components: [Int]) {
        let values = components.map { Float($0) / 255 }
        self.init(red: values[0], green: values[1], blue: values[2], alpha: values.count > 3 ? values[3] : 1)
    }

    private static func digits(_ hex: String) -> [Int]? {
        let text = hex.hasPrefix("#") ? hex.dropFirst() : hex[...]
        guard text.utf8.count <= 8 else { return nil }
        var digits: [Int] = []
        for character in text {
            guard let digit = character.hexDigitValue, character.isASCII else { return nil }
            digits.append(digit)
        }
        return digits
    }

    private static func pair(_ byte: UInt8) -> String { (byte < 16 ? "0" : "") + String(byte, radix: 16) }

    private static func malformed(_ hex: String, _ form: String) -> ImageError {
        ImageError(.invalidRequest, stage: .request, reason: "“\(hex.prefix(20))” isn't a color of the form \(form)")
    }
}
