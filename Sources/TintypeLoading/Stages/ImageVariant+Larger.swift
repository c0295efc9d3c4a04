/// The relation between thumbnails: which of them can be made from others.
extension ImageVariant {
    /// The box of a thumbnail; `nil` if the variant isn't a thumbnail, or was transformed.
    var box: PixelSize? { Thumbnail(self)?.box }

    /// Returns true if this thumbnail can be made from another instead of the original: from a thumbnail of the same kind whose box
    /// is at least as large in both directions.
    func canBeMade(of other: ImageVariant) -> Bool {
        guard let small = Thumbnail(self), let large = Thumbnail(other) else { return false }
        return small.isFitted == large.isFitted && small.box.width <= large.box.width
            && small.box.height <= large.box.height
            // An enlarged thumbnail contains no more detail than its source, and does not reveal the source's size.
            && !large.isUpscaled && (small.rest == large.rest || small.rest == large.rest + ["firstFrame"])
    }

    /// The parts of a thumbnail's canonical spelling.
    private struct Thumbnail {
        var isFitted: Bool
        var box: PixelSize
        var isUpscaled: Bool
        /// All other parts that affect pixels.
        var rest: [Substring]

        init?(_ variant: ImageVariant) {
            var parts = variant.description.split(separator: ";", omittingEmptySubsequences: false)
            guard let size = parts.first.flatMap({ Self.size($0) }) else { return nil }
            (isFitted, box, isUpscaled) = size
            parts.removeFirst()
            // The scale changes no pixel. Components in a color space that the file may not contain are of no use.
            rest = parts.filter { !$0.hasPrefix("scale=") }
            let excluded = ["transform", "bytes=", "sourceColor", "coder", "encode=", "encoded="]
            guard !rest.contains(where: { part in excluded.contains { part.hasPrefix($0) } }) else { return nil }
        }

        /// Parses `fit=400x300` and `stretch=400x300^`.
        private static func size(_ part: Substring) -> (isFitted: Bool, box: PixelSize, isUpscaled: Bool)? {
            let words = part.split(separator: "=")
            guard words.count == 2, words[0] == "fit" || words[0] == "stretch" else { return nil }
            let isUpscaled = words[1].hasSuffix("^")
            let sides = (isUpscaled ? words[1].dropLast() : words[1]).split(separator: "x").map { Int($0) }
            guard sides.count == 2, let width = sides[0], let height = sides[1], width > 0, height > 0
            else { return nil }
            return (words[0] == "fit", PixelSize(width: width, height: height), isUpscaled)
        }
    }
}
