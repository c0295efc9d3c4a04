public import FoundationEssentials
internal import Glibc

/// A ThumbHash: 17 to 29 bytes that describe a blurred version of an image, with its proportions and its alpha (Wallace,
/// "ThumbHash").
///
/// Store it with the URL of an image, and show its picture until the image has loaded.
///
/// ```swift
/// let hash = try ThumbHash(image)  // when a picture is uploaded
/// let placeholder = try ThumbHash(base64: hash.base64).image()  // where it will be shown
/// ```
public struct ThumbHash: Sendable, Hashable {
    /// The bytes of the hash: 17 to 29.
    public let bytes: Data

    /// The hash in Base64.
    public var base64: String { bytes.base64EncodedString() }

    /// Creates a hash from its bytes.
    /// - Parameter bytes: the bytes of the hash.
    /// - Throws: ``ImageError/Code/corruptImage`` for bytes that aren't a ThumbHash.
    public init(bytes: Data) throws(ImageError) {
        guard let header = ThumbHashHeader(Array(bytes.prefix(6))) else {
            throw Self.malformed("it has \(bytes.count) bytes")
        }
        guard header.shortSide > 0 else { throw Self.malformed("a side has no components") }
        guard bytes.count == header.byteCount else {
            throw Self.malformed("it has \(bytes.count) bytes, but its header asks for \(header.byteCount)")
        }
        self.bytes = Data(bytes)
    }

    /// Creates a hash from Base64.
    /// - Parameter base64: the hash in Base64.
    /// - Throws: ``ImageError/Code/corruptImage`` for a string that isn't a ThumbHash.
    public init(base64: String) throws(ImageError) {
        guard base64.utf8.count <= 100, let bytes = Data(base64Encoded: base64) else {
            throw Self.malformed("the string isn't Base64")
        }
        try self.init(bytes: bytes)
    }

    private static func malformed(_ reason: String) -> ImageError {
        ImageError(.corruptImage, stage: .decode, reason: "the data isn't a ThumbHash: \(reason)")
    }

    // MARK: Encoding

    /// Creates the hash of an image, or of its first frame.
    ///
    /// An image with a side above 100 pixels is reduced to 100 pixels first.
    /// - Parameter image: the image to hash.
    /// - Throws: ``ImageError/Code/outOfMemory``, and ``ImageError/Code/cancelled``.
    public init(_ image: Image) throws(ImageError) {
        let context = ProcessingContext.current
        try context.checkCancellation()
        let small = image.size.scaled(into: PixelSize(width: 100, height: 100))
        let pixels = try image.pixels.resized(to: small, pool: context.pool)
        bytes = Data(ThumbHashEncoder(pixels).bytes)
    }

    // MARK: Decoding

    private var header: ThumbHashHeader {
        // The initializers have checked the length.
        ThumbHashHeader(Array(bytes.prefix(6))) ?? ThumbHashHeader()
    }

    /// True if the image has translucent pixels.
    package var hasAlpha: Bool { header.hasAlpha }

    /// The approximate width of the image divided by its height.
    public var aspectRatio: Double { header.aspectRatio }

    /// The average color of the image.
    public var averageColor: PixelColor {
        let header = header
        let color = header.color(luminance: header.luminance, header.yellowBlue, header.redGreen)
        return PixelColor(red: color.x, green: color.y, blue: color.z, alpha: header.alpha)
    }

    /// Returns the blurred picture, whose longer side has 32 pixels.
    /// - Throws: ``ImageError/Code/outOfMemory``
    public func image() throws(ImageError) -> Image {
        let header = header
        let ratio = header.aspectRatio
        let size =
            ratio > 1
            ? PixelSize(width: 32, height: Int((32 / ratio).rounded()))
            : PixelSize(width: Int((32 * ratio).rounded()), height: 32)
        let target = try ProcessingContext.current.buffer(size, format: .rgba8)
        let waves = ThumbHashWaves(header, Array(bytes.dropFirst(header.hasAlpha ? 6 : 5)))
        for y in 0..<size.height {
            for x in 0..<size.width {
                let straight = waves.color(x: x, y: y, size)
                let pixel = SIMD4<Float>(straight.x, straight.y, straight.z, straight.w).premultiplied * 255 + 0.5
                target.row(y).storeBytes(
                    of: SIMD4<UInt8>(truncatingIfNeeded: SIMD4<Int32>(pixel)), toByteOffset: x * 4,
                    as: SIMD4<UInt8>.self)
            }
        }
        var properties = Image.Properties()
        properties.hasAlpha = header.hasAlpha
        return Image(pixels: target.freeze(), properties: properties)
    }
}

/// The constants at the start of a ThumbHash: 24 and 16 bits, and 8 for alpha.
struct ThumbHashHeader {
    /// The average luminance, and the average differences of yellow to blue, and of red to green.
    var luminance: Float = 0
    var yellowBlue: Float = 0
    var redGreen: Float = 0
    var luminanceScale: Float = 0
    var yellowBlueScale: Float = 0
    var redGreenScale: Float = 0
    var hasAlpha = false
    var alpha: Float = 1
    var alphaScale: Float = 1
    var isLandscape = false
    /// The components of the luminance along the shorter side, as stored.
    var shortSide = 7

    init() {}

    /// Reads a header; `nil` if it isn't complete.
    init?(_ bytes: [UInt8]) {
        guard bytes.count >= 5 else { return nil }
        let first = Int(bytes[0]) | Int(bytes[1]) << 8 | Int(bytes[2]) << 16
        let second = Int(bytes[3]) | Int(bytes[4]) << 8
        luminance = Float(first & 63) / 63
        yellowBlue = Float(first >> 6 & 63) / 31.5 - 1
        redGreen = Float(first >> 12 & 63) / 31.5 - 1
        luminanceScale = Float(first >> 18 & 31) / 31
        hasAlpha = first >> 23 != 0
        shortSide = second & 7
        yellowBlueScale = Float(second >> 3 & 63) / 63
        redGreenScale = Float(second >> 9 & 63) / 63
        isLandscape = second >> 15 != 0
        guard hasAlpha else { return }
        guard bytes.count >= 6 else { return nil }
        alpha = Float(bytes[5] & 15) / 15
        alphaScale = Float(bytes[5] >> 4) / 15
    }

    /// The components of the luminance along the longer side. There are fewer if there is alpha.
    private var longSide: Int { hasAlpha ? 5 : 7 }

    var aspectRatio: Double {
        let ratio = Double(longSide) / Double(max(1, shortSide))
        return isLandscape ? ratio : 1 / ratio
    }

    /// The components of the luminance.
    var components: (x: Int, y: Int) {
        let (long, short) = (max(3, longSide), max(3, shortSide))
        return isLandscape ? (long, short) : (short, long)
    }

    /// The length of the whole hash.
    var byteCount: Int {
        var factors = ThumbHashWaves.indices(components).count + 2 * ThumbHashWaves.indices((3, 3)).count
        if hasAlpha { factors += ThumbHashWaves.indices((5, 5)).count }
        return (hasAlpha ? 6 : 5) + (factors + 1) / 2
    }

    /// Returns a color with components from 0 to 1.
    func color(luminance l: Float, _ p: Float, _ q: Float) -> SIMD3<Float> {
        let blue = l - 2 / 3 * p
        let red = (3 * l - blue + q) / 2
        return SIMD3(red, red - q, blue).clamped(lowerBound: .zero, upperBound: .one)
    }
}

/// The varying factors of a ThumbHash.
struct ThumbHashWaves {
    private let header: ThumbHashHeader
    private let luminance: [(x: Int, y: Int, factor: Float)]
    private let yellowBlue: [(x: Int, y: Int, factor: Float)]
    private let redGreen: [(x: Int, y: Int, factor: Float)]
    private let alpha: [(x: Int, y: Int, factor: Float)]

    /// Returns the components of a channel: a triangle of low frequencies without the constant.
    static func indices(_ components: (x: Int, y: Int)) -> [(x: Int, y: Int)] {
        (0..<components.y).flatMap { y in
            (0..<components.x).filter { x in
                x + y > 0 && x * components.y < components.x * (components.y - y)
            }.map { ($0, y) }
        }
    }

    /// Reads the factors, four bits each.
    init(_ header: ThumbHashHeader, _ bytes: [UInt8]) {
        var position = 0
        func read(_ components: (x: Int, y: Int), _ scale: Float) -> [(x: Int, y: Int, factor: Float)] {
            Self.indices(components).map { index in
                let byte = position / 2 < bytes.count ? bytes[position / 2] : 0
                let bits = position % 2 == 0 ? byte & 15 : byte >> 4
                position += 1
                return (index.x, index.y, (Float(bits) / 7.5 - 1) * scale)
            }
        }
        self.header = header
        luminance = read(header.components, header.luminanceScale)
        // A quarter more saturation makes up for the loss by quantization.
        yellowBlue = read((3, 3), header.yellowBlueScale * 1.25)
        redGreen = read((3, 3), header.redGreenScale * 1.25)
        alpha = header.hasAlpha ? read((5, 5), header.alphaScale) : []
    }

    /// Returns a straight color.
    func color(x: Int, y: Int, _ size: PixelSize) -> SIMD4<Float> {
        let across = .pi * (Float(x) + 0.5) / Float(size.width)
        let down = .pi * (Float(y) + 0.5) / Float(size.height)
        func sum(_ constant: Float, _ waves: [(x: Int, y: Int, factor: Float)]) -> Float {
            waves.reduce(constant) { $0 + $1.factor * 2 * cosf(across * Float($1.x)) * cosf(down * Float($1.y)) }
        }
        let color = header.color(
            luminance: sum(header.luminance, luminance), sum(header.yellowBlue, yellowBlue),
            sum(header.redGreen, redGreen))
        let alpha = header.hasAlpha ? min(max(sum(header.alpha, alpha), 0), 1) : 1
        return SIMD4(color.x, color.y, color.z, alpha)
    }
}
