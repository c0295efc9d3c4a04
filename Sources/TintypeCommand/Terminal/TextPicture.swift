internal import Tintype

/// Draws a picture with characters that are denser where it is brighter, for output that has no colors.
enum TextPicture {
    private static let shades = Array(" .:-=+*#%@")

    /// Returns one line for each two rows of pixels. Transparent pixels count as dark.
    static func lines(_ pixels: PixelBuffer) throws(ImageError) -> [String] {
        let (rgba, width, height) = (try pixels.straightRGBA(), pixels.width, pixels.height)
        /// The luma of BT.709, from 0 to 255.
        func brightness(_ x: Int, _ y: Int) -> Double {
            let place = (y * width + x) * 4
            let (red, green, blue) = (Double(rgba[place]), Double(rgba[place + 1]), Double(rgba[place + 2]))
            return (0.2126 * red + 0.7152 * green + 0.0722 * blue) * Double(rgba[place + 3]) / 255
        }
        return stride(from: 0, to: height, by: 2).map { y in
            let line = (0..<width).map { x in
                let mean = y + 1 < height ? (brightness(x, y) + brightness(x, y + 1)) / 2 : brightness(x, y)
                return shades[min(shades.count - 1, Int(mean / 256 * Double(shades.count)))]
            }
            return String(line)
        }
    }
}
