package import FoundationEssentials

/// The encoding of a document in XML with 2 or 4 bytes a code unit, which its first bytes show (XML 1.0, appendix F.1): it begins with a
/// byte order mark or with `<`.
package struct XMLEncoding {
    private let bytesPerUnit: Int
    private let isLittleEndian: Bool

    /// - Returns: `nil` for UTF-8, and for any other encoding that has ASCII in single bytes.
    package init?(_ document: Data) {
        let head = Array(document.prefix(4))
        switch (head, head.prefix(2)) {
        case ([0x00, 0x00, 0xFE, 0xFF], _), ([0x00, 0x00, 0x00, 0x3C], _): (bytesPerUnit, isLittleEndian) = (4, false)
        case ([0xFF, 0xFE, 0x00, 0x00], _), ([0x3C, 0x00, 0x00, 0x00], _): (bytesPerUnit, isLittleEndian) = (4, true)
        case (_, [0xFE, 0xFF]), (_, [0x00, 0x3C]): (bytesPerUnit, isLittleEndian) = (2, false)
        case (_, [0xFF, 0xFE]), (_, [0x3C, 0x00]): (bytesPerUnit, isLittleEndian) = (2, true)
        default: return nil
        }
    }

    /// Returns the document in UTF-8, without its byte order mark, and without its declaration, which may name the encoding that it had.
    ///
    /// What isn't Unicode becomes U+FFFD. A code unit that is cut off at the end is left out.
    package func utf8(_ document: Data) -> [UInt8] {
        let text = document.withUnsafeBytes { bytes in
            bytesPerUnit == 2
                ? String(decoding: units(UInt16.self, of: bytes), as: UTF16.self)
                : String(decoding: units(UInt32.self, of: bytes), as: UTF32.self)
        }
        let utf8 = Array(text.utf8)
        let marked = utf8.starts(with: "\u{FEFF}".utf8) ? utf8.dropFirst(3) : utf8[...]
        guard marked.starts(with: "<?xml".utf8), let blank = marked.dropFirst(5).first, blank <= 0x20,
            let end = marked.firstRange(of: Array("?>".utf8))
        else { return Array(marked) }
        return Array(marked[end.upperBound...])
    }

    private func units<Unit: FixedWidthInteger>(_: Unit.Type, of bytes: UnsafeRawBufferPointer) -> [Unit] {
        (0..<bytes.count / bytesPerUnit).map { index in
            let unit = bytes.loadUnaligned(fromByteOffset: index * bytesPerUnit, as: Unit.self)
            return isLittleEndian ? Unit(littleEndian: unit) : Unit(bigEndian: unit)
        }
    }
}
