internal import Glibc

/// A BlurHash: a string of 6 to 166 characters that describes a blurred version of an image (Wolt, "BlurHash algorithm").
///
/// Store the string with the URL of an image, and show its picture until the image has loaded.
public struct BlurHash: Sendable, Hashable {
    /// The hash, in the base-83 characters of BlurHash.
    public let string: String
    /// The number of horizontal components, from 1 to 9.
    package let xComponents: Int
    /// The number of vertical components, from 1 to 9.
    package let yComponents: Int

    /// The digits after the number of components.
    private var digits: [Int] { Base83.digits(string) ?? [] }

    /// Creates a hash from a string.
    /// - Parameter string: the hash.
    /// - Throws: ``ImageError/Code/corruptImage`` for a string that isn't a BlurHash.
    public init(_ string: String) throws(ImageError) {
        func malformed(_ reason: String) -> ImageError {
            ImageError(.corruptImage, stage: .decode, reason: "the string isn't a BlurHash: \(reason)")
        }
        guard (6...166).contains(string.utf8.count) else {
            throw malformed("it has \(string.utf8.count) characters, not 6 to 166")
        }
        guard let digits = Base83.digits(string) else { throw malformed("a character isn't a digit of base 83") }
        let (rows, columns) = (digits[0] / 9 + 1, digits[0] % 9 + 1)
        guard rows <= 9, digits.count == 4 + 2 * rows * columns else {
            throw malformed(
                "it has \(digits.count) characters, but its first one stands for \(columns) × \(rows) components")
        }
        guard Base83.number(digits[2..<6]) < 1 << 24 else { throw malformed("its average color exceeds 24 bits") }
        guard stride(from: 6, to: digits.count, by: 2).allSatisfy({ Base83.number(digits[$0..<$0 + 2]) < 19 * 19 * 19 })
        else { throw malformed("a component exceeds its range") }
        self.string = string
        xComponents = columns
        yComponents = rows
    }

    // MARK: Encoding

    /// The longer side of the copy that is encoded.
    private static let longestSide = 128

    /// Creates the hash of an image, or of its first frame.
    ///
    /// An image with a side above 128 pixels is reduced to 128 pixels first, which hardly changes the hash. Translucent pixels
    /// are drawn over white.
    /// - Parameters:
    ///   - image: the image.
    ///   - xComponents: the number of horizontal components, from 1 to 9.
    ///   - yComponents: the number of vertical components, from 1 to 9.
    /// - Throws: ``ImageError/Code/encodeFailed`` for other numbers, ``ImageError/Code/outOfMemory``, and
    ///   ``ImageError/Code/cancelled``.
    public init(_ image: Image, xComponents: Int = 4, yComponents: Int = 3) throws(ImageError) {
        for (name, count) in [("xComponents", xComponents), ("yComponents", yComponents)] where !(1...9).contains(count)
        {
            throw ImageError(
                .encodeFailed, stage: .encode, reason: "\(name) of a BlurHash is \(count), but must be 1 to 9")
        }
        let light = try Self.light(of: image)
        var factors: [SIMD3<Double>] = []
        for y in 0..<yComponents {
            for x in 0..<xComponents { factors.append(light.factor(x, y)) }
        }
        var text = Base83.text(xComponents - 1 + (yComponents - 1) * 9, digits: 1)
        let largest = factors.dropFirst().reduce(0) { max($0, abs($1.x), abs($1.y), abs($1.z)) }
        let quantized = min(82, max(0, Int(largest * 166 - 0.5)))
        let maximum = factors.count > 1 ? Double(quantized + 1) / 166 : 1
        text += Base83.text(factors.count > 1 ? quantized : 0, digits: 1)
        let average = (0..<3).map { Int(min(max(LinearLight.encode(Float(factors[0][$0])), 0), 1) * 255 + 0.5) }
        text += Base83.text(average[0] << 16 | average[1] << 8 | average[2], digits: 4)
        for factor in factors.dropFirst() {
            let values = (0..<3).map { Self.quantized(factor[$0] / maximum) }
            text += Base83.text(values[0] * 361 + values[1] * 19 + values[2], digits: 2)
        }
        string = text
        self.xComponents = xComponents
        self.yComponents = yComponents
    }

    /// Returns the number from 0 to 18 for a value from -1 to 1.
    private static func quantized(_ value: Double) -> Int {
        let root = copysign(abs(value).squareRoot(), value)
        return Int(min(18, max(0, (root * 9 + 9.5).rounded(.down))))
    }

    private static func light(of image: Image) throws(ImageError) -> LightGrid {
        let context = ProcessingContext.current
        try context.checkCancellation()
        let small = image.size.scaled(into: PixelSize(width: longestSide, height: longestSide))
        return LightGrid(try image.pixels.resized(to: small, pool: context.pool))
    }

    // MARK: Decoding

    /// The average color of the image.
    public var averageColor: PixelColor {
        let number = Base83.number(digits[2..<6])
        return PixelColor(
            red: Float(number >> 16) / 255, green: Float(number >> 8 & 255) / 255, blue: Float(number & 255) / 255)
    }

    /// Returns the blurred picture.
    ///
    /// 32 pixels are enough for the longer side: the picture has few details, and can be enlarged smoothly.
    /// - Parameters:
    ///   - size: the size in pixels. A hash doesn't store the proportions of its image.
    ///   - punch: the contrast; 1 for the image's own.
    /// - Throws: ``ImageError/Code/transformFailed`` for a contrast that is negative or not finite,
    ///   ``ImageError/Code/limitExceeded`` for an empty size or a size above 4,096 pixels, ``ImageError/Code/outOfMemory``, and
    ///   ``ImageError/Code/cancelled``.
    public func image(size: PixelSize, punch: Double = 1) throws(ImageError) -> Image {
        try ParameterCheck("a BlurHash").check("punch", punch, in: 0...1_000)
        let context = ProcessingContext.current
        guard max(size.width, size.height) <= 4_096 else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "a BlurHash can't be drawn at \(size) pixels; the limit is 4096 per side"
            )
        }
        let target = try context.buffer(size, format: .rgba8)
        let factors = factors(punch: punch)
        let columns = CosineTable(samples: size.width, components: xComponents)
        let rows = CosineTable(samples: size.height, components: yComponents)
        for y in 0..<size.height {
            try context.checkCancellation(row: y)
            // The sums of a column of components, which all pixels of the row share.
            var shared = [SIMD3<Float>](repeating: .zero, count: xComponents)
            for j in 0..<yComponents {
                let cosine = rows[y, j]
                for i in 0..<xComponents { shared[i] += factors[j * xComponents + i] * cosine }
            }
            let row = target.row(y)
            for x in 0..<size.width {
                var light = SIMD3<Float>.zero
                for i in 0..<xComponents { light += shared[i] * columns[x, i] }
                var pixel = SIMD4<UInt8>(repeating: 255)
                for component in 0..<3 {
                    let value = LinearLight.encode(min(max(light[component], 0), 1))
                    pixel[component] = UInt8(min(value, 1) * 255 + 0.5)
                }
                row.storeBytes(of: pixel, toByteOffset: x * 4, as: SIMD4<UInt8>.self)
            }
        }
        var properties = Image.Properties()
        properties.hasAlpha = false
        return Image(pixels: target.freeze(), properties: properties)
    }

    /// The components of the picture, as light.
    private func factors(punch: Double) -> [SIMD3<Float>] {
        let digits = digits
        let maximum = Float(Double(digits[1] + 1) / 166 * punch)
        let average = averageColor
        var factors = [
            SIMD3(LinearLight.decode(average.red), LinearLight.decode(average.green), LinearLight.decode(average.blue))
        ]
        for index in stride(from: 6, to: digits.count, by: 2) {
            let number = Base83.number(digits[index..<index + 2])
            var factor = SIMD3<Float>(Float(number / 361), Float(number / 19 % 19), Float(number % 19))
            factor = (factor - 9) / 9
            let magnitude = factor.replacing(with: -factor, where: factor .< 0)
            factors.append(factor * magnitude * maximum)
        }
        return factors
    }
}

/// The light of an image's pixels, over white.
private struct LightGrid {
    let width: Int
    let height: Int
    private var pixels: [SIMD3<Double>] = []

    init(_ buffer: PixelBuffer) {
        width = buffer.width
        height = buffer.height
        pixels.reserveCapacity(width * height)
        for y in 0..<height {
            for x in 0..<width {
                let pixel = buffer.component(x: x, y: y)
                let color = (pixel + (1 - pixel.w)).clamped(lowerBound: .zero, upperBound: .one)
                pixels.append(
                    SIMD3(
                        Double(LinearLight.decode(color.x)), Double(LinearLight.decode(color.y)),
                        Double(LinearLight.decode(color.z))))
            }
        }
    }

    /// Returns a component of the cosine transform.
    func factor(_ i: Int, _ j: Int) -> SIMD3<Double> {
        let horizontal = Self.cosines(i, samples: width)
        let vertical = Self.cosines(j, samples: height)
        var sum = SIMD3<Double>.zero
        for y in 0..<height {
            for x in 0..<width {
                let weight: Double = horizontal[x] * vertical[y]
                sum += pixels[y * width + x] * weight
            }
        }
        let scale: Double = i == 0 && j == 0 ? 1 : 2
        return sum * (scale / Double(width * height))
    }

    private static func cosines(_ component: Int, samples: Int) -> [Double] {
        let step: Double = .pi * Double(component) / Double(samples)
        return (0..<samples).map { cos(step * Double($0)) }
    }
}

/// The cosines of each component at each sample.
private struct CosineTable {
    private let components: Int
    private let values: [Float]

    init(samples: Int, components: Int) {
        self.components = components
        var values: [Float] = []
        for sample in 0..<samples {
            let angle: Double = .pi * Double(sample) / Double(samples)
            for component in 0..<components { values.append(Float(cos(angle * Double(component)))) }
        }
        self.values = values
    }

    subscript(sample: Int, component: Int) -> Float { values[sample * components + component] }
}

/// Numbers in the base-83 digits of BlurHash.
private enum Base83 {
    private static let characters = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~".utf8)
    private static let values: [UInt8: Int] = Dictionary(
        uniqueKeysWithValues: characters.enumerated().map { ($0.element, $0.offset) })

    static func digits(_ string: String) -> [Int]? {
        var digits: [Int] = []
        for byte in string.utf8 {
            guard let digit = values[byte] else { return nil }
            digits.append(digit)
        }
        return digits
    }

    static func number(_ digits: ArraySlice<Int>) -> Int { digits.reduce(0) { $0 * 83 + $1 } }

    static func text(_ number: Int, digits: Int) -> String {
        var bytes: [UInt8] = []
        var rest = number
        for _ in 0..<digits {
            bytes.append(characters[rest % 83])
            rest /= 83
        }
        return String(decoding: bytes.reversed(), as: UTF8.self)
    }
}
