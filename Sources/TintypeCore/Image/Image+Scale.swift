/// Pixels per point.
extension Image {
    /// The pixels per point that a name tells: 2 for `photo@2x.png`, 3 for `photo@3x.png`, else 1.
    ///
    /// - Parameter name: of a file, a path or a URL, whose last part counts; `%40` stands for `@`.
    public static func scale(ofName name: String) -> Double {
        let name = FileName.last(of: name)
        // Something stands before the mark, and an ending after it.
        guard name.utf8.contains(UInt8(ascii: "x")), let dot = name.lastIndex(of: "."),
            dot < name.index(before: name.endIndex)
        else { return 1 }
        let stem = name[..<dot]
        for (ending, scale) in [("@2x", 2.0), ("@3x", 3.0), ("%402x", 2.0), ("%403x", 3.0)]
        where stem.hasSuffix(ending) && stem.utf8.count > ending.utf8.count { return scale }
        return 1
    }

    /// The image with other pixels per point, at least 1; all else stays, and so do the pixels of every frame.
    public func scaled(to scale: Double) -> Image {
        let scale = scale >= 1 ? scale : 1
        return scale == self.scale ? self : with { $0.scale = scale }
    }

    /// The image with the pixels per point that a name tells (``scale(ofName:)``); the image itself if it tells none.
    ///
    /// Loads do this by themselves, by the URL, where a request has no scale of its own.
    public func scaled(forName name: String) -> Image {
        let scale = Self.scale(ofName: name)
        return scale == 1 ? self : scaled(to: scale)
    }
}
