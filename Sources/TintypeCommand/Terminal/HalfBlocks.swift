internal import Tintype

/// Draws a picture with the character ▀, whose upper half has the color of a pixel, and whose lower half has the color of the pixel below.
struct HalfBlocks {
    /// False to use the 256 colors of xterm.
    var hasTrueColor = true

    /// Returns a line for each two rows of pixels. Pixels that are more than half transparent show the terminal's background.
    func lines(_ pixels: PixelBuffer) throws(ImageError) -> [String] {
        let rgba = try pixels.straightRGBA()
        return stride(from: 0, to: pixels.height, by: 2).map { y in
            line(rgba, width: pixels.width, y: y, height: pixels.height)
        }
    }

    private func line(_ rgba: [UInt8], width: Int, y: Int, height: Int) -> String {
        var line = ""
        var (foreground, background): (SIMD3<UInt8>?, SIMD3<UInt8>?)
        func color(_ x: Int, _ y: Int) -> SIMD3<UInt8>? {
            let place = (y * width + x) * 4
            guard y < height, ColorQuantizer.isOpaque(rgba[place + 3]) else { return nil }
            return SIMD3(rgba[place], rgba[place + 1], rgba[place + 2])
        }
        for x in 0..<width {
            let (upper, lower) = (color(x, y), color(x, y + 1))
            // A lower half alone is drawn by the opposite character, because the background can't be transparent above a color.
            let (glyph, ink, paper): (Character, SIMD3<UInt8>?, SIMD3<UInt8>?) =
                switch (upper, lower) {
                case (nil, nil): (" ", foreground, nil)
                case (nil, let lower): ("▄", lower, nil)
                case (let upper, let lower): ("▀", upper, lower)
                }
            if ink != foreground, let ink { line += "\u{1B}[38;\(code(ink))m" }
            if paper != background { line += paper.map { "\u{1B}[48;\(code($0))m" } ?? "\u{1B}[49m" }
            (foreground, background) = (ink, paper)
            line.append(glyph)
        }
        return line + "\u{1B}[0m"
    }

    private func code(_ color: SIMD3<UInt8>) -> String {
        hasTrueColor ? "2;\(color.x);\(color.y);\(color.z)" : "5;\(Self.index(color))"
    }

    /// Returns the nearest of xterm's fixed colors: a cube of 6 levels (16 to 231), and 24 grays (232 to 255).
    static func index(_ color: SIMD3<UInt8>) -> Int {
        func level(_ value: UInt8) -> Int { value < 48 ? 0 : value < 115 ? 1 : (Int(value) - 35) / 40 }
        func value(_ level: Int) -> Int { level == 0 ? 0 : 55 + level * 40 }
        func distance(_ red: Int, _ green: Int, _ blue: Int) -> Int {
            let (r, g, b) = (Int(color.x) - red, Int(color.y) - green, Int(color.z) - blue)
            return r * r + g * g + b * b
        }
        let (r, g, b) = (level(color.x), level(color.y), level(color.z))
        let mean = (Int(color.x) + Int(color.y) + Int(color.z)) / 3
        let gray = min(max((mean - 3) / 10, 0), 23)
        let shade = 8 + gray * 10
        let isGray = distance(shade, shade, shade) < distance(value(r), value(g), value(b))
        return isGray ? 232 + gray : 16 + 36 * r + 6 * g + b
    }
}
