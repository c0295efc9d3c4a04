internal import FoundationEssentials

extension URL {
    /// The last component of the path, without escapes.
    ///
    /// Foundation's `lastPathComponent` splits the path and resolves its escapes, which takes ten times as long, and each load asks.
    var fileName: String {
        let text = absoluteString
        // A `data:` URL of this length, which has no name.
        guard text.utf8.count < 1 << 16 else { return "" }
        let name = text.lastComponent
        return name.isEmpty || name.utf8.contains(UInt8(ascii: "%")) ? lastPathComponent : name
    }
}
