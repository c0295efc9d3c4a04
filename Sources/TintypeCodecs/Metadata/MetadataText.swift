/// Texts in metadata.
enum MetadataText {
    /// The size of the longest text. Entries of Exif may name the same bytes many times over.
    private static let maximumBytes = 1 << 16

    /// Returns the text up to the first zero, without blanks around it; `nil` if nothing is left.
    ///
    /// Exif and IPTC-IIM say that texts are ASCII, or have an encoding that few writers state. They are UTF-8 if they can be, and else
    /// Latin-1.
    static func decoded(_ bytes: some Collection<UInt8>) -> String? {
        let bytes = bytes.prefix { $0 != 0 }
        guard bytes.count <= maximumBytes else { return nil }
        return trimmed(
            String(validating: bytes, as: UTF8.self) ?? String(decoding: bytes.map { UInt16($0) }, as: UTF16.self))
    }

    static func trimmed(_ text: some StringProtocol) -> String? {
        let blanks: (Character) -> Bool = { $0.isWhitespace || $0 == "\0" }
        guard let start = text.firstIndex(where: { !blanks($0) }), let end = text.lastIndex(where: { !blanks($0) })
        else { return nil }
        return String(text[start...end])
    }
}
