internal import Tintype

/// Draws a picture with sixels: columns of six pixels in the same color of at most 256 (EK-VT3XX-TP, chapter 14).
enum SixelEncoder {
    /// Returns the sequence for a picture. Pixels that are more than half transparent are not drawn.
    static func sequence(_ pixels: PixelBuffer) throws(ImageError) -> String {
        let rgba = try pixels.straightRGBA()
        let (width, height) = (pixels.width, pixels.height)
        let quantizer = ColorQuantizer(rgba, maximum: 255)
        let indices =
            quantizer.isExact
            ? quantizer.indices(of: rgba)
            : ErrorDiffusion(palette: quantizer.palette).indices(of: rgba, width: width)
        // `1` keeps the background where nothing is drawn; pixels are square.
        var text = "\u{1B}P0;1q\"1;1;\(width);\(height)"
        for (index, color) in quantizer.palette.enumerated() {
            text += "#\(index);2;\(percent(color.x));\(percent(color.y));\(percent(color.z))"
        }
        for top in stride(from: 0, to: height, by: 6) {
            if top > 0 { text += "-" }
            text += band(
                indices, width: width, rows: top..<min(top + 6, height), colors: quantizer.palette.count)
        }
        return text + "\u{1B}\\"
    }

    private static func percent(_ component: UInt8) -> Int { (Int(component) * 100 + 127) / 255 }

    /// Draws six rows, color by color.
    private static func band(_ indices: [UInt8], width: Int, rows: Range<Int>, colors: Int) -> String {
        // For each color that is there, the bits of each column.
        var columns = [[UInt8]?](repeating: nil, count: colors)
        for (bit, y) in rows.enumerated() {
            for x in 0..<width {
                let index = Int(indices[y * width + x])
                guard index < colors else { continue }
                if columns[index] == nil { columns[index] = [UInt8](repeating: 0, count: width) }
                columns[index]?[x] |= 1 << bit
            }
        }
        var parts: [String] = []
        for (index, bits) in columns.enumerated() {
            guard let bits else { continue }
            parts.append("#\(index)" + runs(bits))
        }
        return parts.joined(separator: "$")
    }

    /// Writes columns, those that repeat as `!` and their number. Empty pieces at the end are left out.
    private static func runs(_ columns: [UInt8]) -> String {
        var text = ""
        var x = 0
        let end = (columns.lastIndex { $0 != 0 } ?? -1) + 1
        while x < end {
            let bits = columns[x]
            let next = columns[x..<end].firstIndex { $0 != bits } ?? end
            let character = String(UnicodeScalar(63 + bits))
            text += next - x > 3 ? "!\(next - x)\(character)" : String(repeating: character, count: next - x)
            x = next
        }
        return text
    }
}
