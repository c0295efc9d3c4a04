/// The number of pixels per point.
extension Image {
    /// Returns the number of pixels per point that a name specifies: 2 for `photo@2x.png`, 3 for `photo@3x.png`, otherwise 1.
    /// - Parameter name: a file name, a path or a URL. The last component counts, and `%40` stands for `@`.
    public static func scale(ofName name: String) -> Double {
        let name = name.lastComponent
        // The mark needs a name before it, and an extension after it.
        guard name.utf8.contains(UInt8(ascii: "x")), let dot = name.lastIndex(of: "."),
            dot < name.index(before: name.endIndex)
        else { return 1 }
        let stem = name[..<dot]
        for (ending, scale) in [("@2x", 2.0), ("@3x", 3.0), ("%402x", 2.0), ("%403x", 3.0)]
        where stem.hasSuffix(ending) && stem.utf8.count > ending.utf8.count { return scale }
        return 1
    }

    /// Returns a number of pixels per point if an image can have it; otherwise 1.
    package static func validScale(_ scale: Double) -> Double { scale >= 1 && scale.isFinite ? scale : 1 }

    /// Returns the image with the scale that a name specifies (``scale(ofName:)``); the same image if it specifies none.
    ///
    /// Loads do this with the URL if the request has no scale.
    /// - Parameter name: the name of a file, such as `icon@2x.png`.
    public func scaled(forName name: String) -> Image {
        let scale = Self.scale(ofName: name)
        return scale == 1 || scale == self.scale ? self : with { $0.scale = scale }
    }
}
