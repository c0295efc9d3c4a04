internal import CUnfilter
internal import TintypeImages

/// The samples that a PNG file has for each pixel (PNG, third edition, sections 6.1 and 11.2.1).
struct PNGSamples {
    /// Gray is 0, and RGB 2, each with 4 more for alpha; a palette is 3.
    let colorType: UInt8
    let bitDepth: Int
    /// The colors of the picture, and the sample for each; `nil` if the samples are the components of pixels.
    private let colors: PNGColors?
    private let numbers: [UInt8]
    /// The contents of `PLTE`: red, green and blue of each color; empty without a palette.
    let palette: [UInt8]
    /// The contents of `tRNS`: the alpha of the palette's first colors. All others are opaque.
    let alphas: [UInt8]

    /// Writes the components of pixels: all, or gray and alpha.
    /// - Parameter isGray: true if ``PixelBuffer/isGray`` is.
    init(_ format: PixelFormat, hasAlpha: Bool, isGray: Bool = false) {
        colorType = (isGray ? 0 : 2) + (hasAlpha ? 4 : 0)
        bitDepth = format.bitsPerComponent
        colors = nil
        (numbers, palette, alphas) = ([], [], [])
    }

    /// Writes the numbers of a picture's colors in as few bits as possible. Where all are among 2, 4 or 16 levels of gray, they need no
    /// palette.
    /// - Returns: `nil` for a picture of more than 256 colors, or of more than 16 grays, which take 8 bits anyway.
    init?(fewColorsOf pixels: PixelBuffer, hasAlpha: Bool, isGray: Bool) {
        let isGray = isGray && !hasAlpha
        guard let colors = PNGColors(of: pixels, hasAlpha: hasAlpha, most: isGray ? 16 : 256) else { return nil }
        let straight = colors.straight
        let places = Array(stride(from: 0, to: straight.count, by: 4))
        let bits = colors.count <= 2 ? 1 : colors.count <= 4 ? 2 : colors.count <= 16 ? 4 : 8
        let step = UInt8(255 / (1 << bits - 1))
        self.colors = colors
        bitDepth = bits
        if isGray, places.allSatisfy({ straight[$0] % step == 0 }) {
            colorType = 0
            numbers = places.map { straight[$0] / step }
            (palette, alphas) = ([], [])
            return
        }
        colorType = 3
        numbers = places.indices.map { UInt8($0) }
        palette = places.flatMap { straight[$0..<$0 + 3] }
        // An image with alpha stays so, even if all its pixels are opaque.
        let all = places.map { straight[$0 + 3] }
        let opaque = all.reversed().prefix { $0 == 255 }.count
        alphas = hasAlpha ? Array(all.prefix(max(1, all.count - opaque))) : []
    }

    /// True if samples are the numbers of colors, which no filter makes easier to compress.
    var areNumbers: Bool { colors != nil }
    /// True if alpha is among the samples.
    var haveAlpha: Bool { colorType & 4 != 0 }

    /// The samples of a pixel.
    private var count: Int { (colorType == 2 || colorType == 6 ? 3 : 1) + (haveAlpha ? 1 : 0) }
    private var bitsPerPixel: Int { count * bitDepth }
    /// From a byte of a row to the byte that a filter takes for its left neighbor.
    var filterStep: Int { max(1, bitsPerPixel / 8) }

    /// Returns the bytes of a row, without the filter's byte.
    func rowBytes(_ width: Int) -> Int { (width * bitsPerPixel + 7) / 8 }

    /// Converts pixels, as ``PNGPicture/forEachRow(_:)`` has them, to a row of the file.
    func pack(_ pixels: UnsafeRawPointer, to row: UnsafeMutablePointer<UInt8>, width: Int) {
        if let colors { return colors.pack(pixels, as: numbers, bits: bitDepth, to: row, count: width) }
        cunfilter_pack(row, pixels, width, bitDepth == 16 ? 1 : 0, Int32(count))
    }
}
