internal import FoundationEssentials
internal import Tintype

/// Draws a picture with iTerm2's inline images: <https://iterm2.com/documentation-images.html>.
enum InlineImage {
    /// The longest file, in bytes. iTerm2 and tmux drop a sequence of more than 1,048,576, and Base64 makes four bytes of three.
    static let longestFile = 780_000

    /// Returns the sequence that shows a picture in a place of the given size.
    static func sequence(_ pixels: PixelBuffer, cells: CellSize) throws(ImageError) -> String {
        let file = try file(pixels)
        let keys = "inline=1;size=\(file.count);width=\(cells.columns);height=\(cells.rows);preserveAspectRatio=1"
        return "\u{1B}]1337;File=\(keys);doNotMoveCursor=1:\(file.base64EncodedString())\u{7}"
    }

    /// Returns a file that is short enough: with all pixels if that is possible.
    private static func file(_ pixels: PixelBuffer) throws(ImageError) -> Data {
        var pixels = pixels
        while true {
            let image = Image(pixels: pixels)
            let png = try image.encoded(as: .png)
            if png.count <= longestFile { return png }
            var options = EncodeOptions()
            options.maximumBytes = .bytes(longestFile)
            // Not even the lowest quality may fit.
            if try isOpaque(pixels), let jpeg = try? image.encoded(as: .jpeg, options: options) { return jpeg }
            let (width, height) = (max(1, pixels.width / 2), max(1, pixels.height / 2))
            pixels = try image.transformed(ImageTransformers.resize(width: width, height: height, mode: .fill)).pixels
        }
    }

    private static func isOpaque(_ pixels: PixelBuffer) throws(ImageError) -> Bool {
        let rgba = try pixels.straightRGBA()
        return stride(from: 3, to: rgba.count, by: 4).allSatisfy { rgba[$0] == 255 }
    }
}
