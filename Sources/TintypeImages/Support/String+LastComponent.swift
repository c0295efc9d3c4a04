extension String {
    /// The last component of a path or a URL, without query and fragment.
    package var lastComponent: String {
        var path = self
        // Each load asks, and a view of a string takes ten times as long as its bytes.
        return path.withUTF8 { bytes in
            let end = bytes.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? bytes.endIndex
            let start = bytes[..<end].lastIndex(of: UInt8(ascii: "/")).map { $0 + 1 } ?? 0
            return String(decoding: bytes[start..<end], as: UTF8.self)
        }
    }
}
