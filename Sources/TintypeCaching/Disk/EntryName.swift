/// The name of an entry's file: a 128-bit hash of the source, and a 64-bit hash of the variant, which is 0 for the original.
///
/// All variants of a source have the same prefix and are in the same folder, so that a folder tells them completely.
struct EntryName: Hashable, Comparable, Sendable {
    var source: UInt128
    var variant: UInt64

    /// The length of a name as text: 32 and 16 hexadecimal digits, and the hyphen between them.
    static let length = 49
    /// The folder of all entries.
    static let root = "entries"
    /// The number of folders of entries.
    static let folders = 256

    init(source: UInt128, variant: UInt64) { (self.source, self.variant) = (source, variant) }

    init(_ key: ImageKey) {
        self.init(source: key.source)
        if !key.variant.isOriginal { variant = max(1, XXH3.hash(key.variant.description)) }
    }

    /// The name of the original of a source.
    init(source: String) { self.init(source: XXH3.hash128(source), variant: 0) }

    /// The number of the folder: the first byte of the source's hash.
    var folder: Int { Int(source >> 120) }

    /// The order of the names as texts.
    static func < (one: EntryName, other: EntryName) -> Bool {
        (one.source, one.variant) < (other.source, other.variant)
    }

    // MARK: Text

    /// The path of a folder in the directory of the cache, such as `entries/0f`.
    static func folderPath(_ folder: Int) -> String { "\(root)/\(hexadecimal(UInt8(folder)))" }

    /// True for the names of folders of entries.
    static func isFolder(_ name: String) -> Bool { UInt8(name, radix: 16).map(hexadecimal) == name }

    /// The name of the file.
    var text: String { String(path.suffix(Self.length)) }

    /// The path of the file in the directory of the cache. Each lookup makes one, in one piece of memory.
    var path: String {
        String(unsafeUninitializedCapacity: 11 + Self.length) { path in
            _ = path.initialize(fromContentsOf: "entries/00/".utf8)
            Self.write(UInt8(folder), to: path, at: 8)
            Self.write(source, to: path, at: 11)
            path[43] = 45
            return Self.write(variant, to: path, at: 44)
        }
    }

    /// The path of the file until it is whole. It has a period, so that nobody takes it for an entry.
    func unfinishedPath(_ writer: WriterName) -> String { "\(Self.folderPath(folder))/.\(text).\(writer.text)" }

    /// The digits of a number, two for each byte.
    fileprivate static func hexadecimal<Value: FixedWidthInteger>(_ value: Value) -> String {
        String(unsafeUninitializedCapacity: Value.bitWidth / 4) { write(value, to: $0, at: 0) }
    }

    /// Returns where the digits end.
    @discardableResult private static func write<Value: FixedWidthInteger>(
        _ value: Value, to text: UnsafeMutableBufferPointer<UInt8>, at start: Int
    ) -> Int {
        for index in 0..<Value.bitWidth / 4 {
            let digit = UInt8(truncatingIfNeeded: value >> (Value.bitWidth - 4 - 4 * index)) & 15
            text[start + index] = digit < 10 ? 48 + digit : 87 + digit
        }
        return start + Value.bitWidth / 4
    }

    /// Reads a name; `nil` for any other text. Each store looks at some names, so that nothing is allocated.
    init?(_ text: UnsafePointer<CChar>) {
        guard let name = Self.prefix(of: text), text[Self.length] == 0 else { return nil }
        self = name
    }

    /// The name at the start of a text.
    fileprivate static func prefix(of text: UnsafePointer<CChar>) -> EntryName? {
        guard let high = number(text), let low = number(text + 16), text[32] == 45, let variant = number(text + 33)
        else { return nil }
        return EntryName(source: UInt128(high) << 64 | UInt128(low), variant: variant)
    }

    /// The number that 16 lower-case hexadecimal digits stand for. It reads no further than the end of the text.
    fileprivate static func number(_ digits: UnsafePointer<CChar>) -> UInt64? {
        var value: UInt64 = 0
        for index in 0..<16 {
            let digit = digits[index]
            switch digit {
            case 48...57: value = value << 4 | UInt64(digit - 48)
            case 97...102: value = value << 4 | UInt64(digit - 87)
            default: return nil
            }
        }
        return value
    }
}

/// The random name of a writer: the end of the names of the files that it is writing.
struct WriterName: Sendable {
    /// 16 hexadecimal digits.
    let text = EntryName.hexadecimal(UInt64.random(in: .min ... .max))

    /// Returns true for the name of a writer.
    static func isValid(_ text: UnsafePointer<CChar>) -> Bool { EntryName.number(text) != nil && text[16] == 0 }

    /// Returns true for the name of an unfinished file.
    static func isUnfinished(_ text: UnsafePointer<CChar>) -> Bool {
        text[0] == 46 && EntryName.prefix(of: text + 1) != nil && text[1 + EntryName.length] == 46
            && isValid(text + EntryName.length + 2)
    }
}
