internal import FoundationEssentials
internal import Tintype

/// Thumbnails with their names, shown in a single picture and on a single page.
struct ContactSheet: Sendable {
    struct Entry: Sendable {
        var name: String
        /// The thumbnail.
        var image: Image
        /// The size of the file, in bytes; 0 if the image has no file.
        var bytes = 0
        /// The loading times of the image, by the names of the passes.
        var times: [(pass: String, time: Duration)] = []

        var format: String { image.format?.rawValue ?? "" }
        /// The upright size in the file.
        var size: PixelSize { image.properties.sourceSize ?? image.size }

        /// `webp 320×320 · 16 frames · 24.1 kB`, or `240×180` without a file.
        var facts: String {
            guard bytes > 0 else { return "\(image.size.width)×\(image.size.height)" }
            let moving = image.animation.map { "\($0.frameCount) frames · " } ?? ""
            return "\(format) \(size.width)×\(size.height) · \(moving)\(ByteCount(bytes))"
        }
    }

    var title: String
    var subtitle: String
    var entries: [Entry]
    /// The number of images beyond the entries.
    var omitted = 0

    /// The largest number of columns.
    var columns = 5

    private static let largestCell = 400
    private static let background = SheetCanvas.Color(0x15181E)
    private static let card = SheetCanvas.Color(0x21262F)
    private static let light = SheetCanvas.Color(0xEEF1F5)
    private static let muted = SheetCanvas.Color(0x98A3B3)

    /// Returns the sheet as a picture.
    func picture() throws(ImageError) -> Image {
        let thumbnails = try self.thumbnails()
        let cell = thumbnails.reduce(PixelSize(width: 160, height: 120)) {
            PixelSize(width: max($0.width, $1.width), height: max($0.height, $1.height))
        }
        let margin = 28
        let gap = 16
        let inset = 12
        let caption = 52
        let header = 84
        let columns = max(1, min(columns, entries.count))
        let rows = (entries.count + columns - 1) / columns
        let card = (width: cell.width + 2 * inset, height: cell.height + 2 * inset + caption)
        let size = PixelSize(
            width: max(560, 2 * margin + columns * card.width + (columns - 1) * gap),
            height: margin + header + rows * (card.height + gap) - gap + margin)
        var canvas = try SheetCanvas(size, background: Self.background)

        canvas.write(title, x: Float(margin), y: Float(margin), unit: 4, weight: 3.4, Self.light)
        let subtitle = StrokeFont.fitted(subtitle, width: Float(size.width - 2 * margin) / 1.9)
        canvas.write(subtitle, x: Float(margin), y: Float(margin) + 44, unit: 1.9, weight: 1.6, Self.muted)

        for (index, (entry, pixels)) in zip(entries, thumbnails).enumerated() {
            let x = margin + index % columns * (card.width + gap)
            let y = margin + header + index / columns * (card.height + gap)
            canvas.fill(.init(x: x, y: y, width: card.width, height: card.height), Self.card, radius: 10)
            let frame = SheetCanvas.Box(x: x + inset, y: y + inset, width: cell.width, height: cell.height)
            let box = frame.centered(pixels.size)
            if entry.image.hasAlpha {
                canvas.chequer(box, .init(0xFFFFFF), .init(0xDDE1E6), radius: 5)
            }
            canvas.draw(pixels, in: box, radius: 5)
            let textX = Float(x + inset) + 1
            let textY = Float(y + inset + cell.height) + 15
            let room = Float(cell.width)
            canvas.write(
                StrokeFont.fitted(entry.name, width: room / 1.65), x: textX, y: textY, unit: 1.65, weight: 1.6,
                Self.light)
            canvas.write(
                StrokeFont.fitted(entry.facts, width: room / 1.45), x: textX, y: textY + 22, unit: 1.45, weight: 1.3,
                Self.muted)
        }
        return canvas.finish()
    }

    /// Returns the first frames, none of them larger than a cell.
    private func thumbnails() throws(ImageError) -> [PixelBuffer] {
        let largest = PixelSize(width: Self.largestCell, height: Self.largestCell)
        var result: [PixelBuffer] = []
        for entry in entries {
            result.append(try entry.image.pixels.resized(to: entry.image.size.scaled(into: largest)))
        }
        return result
    }
}
