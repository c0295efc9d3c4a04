#if SVG
internal import Glibc

/// Transformations of coordinates (CSS Transforms Module Level 1, sections 7 and 8).
enum SVGTransform {
    /// The largest factor by which a list of transformations makes anything longer.
    static func scale(_ text: ArraySlice<UInt8>) -> Double {
        var scale = 1.0
        for function in text.split(separator: UInt8(ascii: ")")) {
            guard let bracket = function.firstIndex(of: UInt8(ascii: "(")) else { continue }
            let letters = function[..<bracket].filter { (0x61...0x7A).contains($0 | 0x20) }.map { $0 | 0x20 }
            scale *= factor(String(decoding: letters, as: UTF8.self), SVGNumber.all(function[(bracket + 1)...]))
        }
        return min(max(scale, 0), 1e15)
    }

    /// The largest factor of the transformations of a declaration.
    static func scale(_ value: [CSSTokenizer.Token]) -> Double {
        var scale = 1.0
        for (index, token) in value.enumerated() {
            guard case .function(let name) = token else { continue }
            var numbers: [Double] = []
            for token in value[(index + 1)...] {
                switch token {
                case .number(let number), .part(let number): numbers.append(number)
                default: break
                }
                if token == .mark(UInt8(ascii: ")")) { break }
            }
            // The units of angles aren't kept.
            scale *= name.hasPrefix("skew") ? SVGNumber.longestUnit : factor(name, numbers)
        }
        return min(scale, 1e15)
    }

    private static func factor(_ name: String, _ numbers: [Double]) -> Double {
        switch name {
        case "translate", "translatex", "translatey", "rotate": return 1
        case "scale", "scalex", "scaley":
            let factors = numbers.map(abs)
            // A percentage is a number a hundred times as large: too much is safe. One side may keep its length.
            return name == "scale" ? factors.max() ?? 1 : max(1, factors.max() ?? 1)
        case "matrix" where numbers.count >= 4:
            return largestSingularValue(numbers[0], numbers[1], numbers[2], numbers[3])
        case "skewx", "skewy", "skew":
            let slopes = numbers.map { abs(tan($0 * .pi / 180)) }
            return 1 + slopes.reduce(0, +)
        default:
            return max(1, numbers.map(abs).max() ?? 1)
        }
    }

    private static func largestSingularValue(_ a: Double, _ b: Double, _ c: Double, _ d: Double) -> Double {
        let squares = a * a + b * b + c * c + d * d
        let determinant = a * d - b * c
        return ((squares + max(0, squares * squares - 4 * determinant * determinant).squareRoot()) / 2).squareRoot()
    }
}
#endif
