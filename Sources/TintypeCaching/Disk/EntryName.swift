/// The name of an entry's file: a 128-bit hash of the source, and a 64-bit hash of the variant, which is 0 for the original.
///
/// All variants of a source have the same prefix and are in the same folder, so that a folder tells them completely.
struct EntryName: Hashable, Sendable {
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

    // MARK: Text

    /// The path of a folder in the directory of the cache, such as `entries/0f`.
    static func folderPath(_ folder: Int) -> String { "\(root)/\(hexadecimal(UInt8(folder)))" }

    /// True for the names of folders of entries.
    static func isFolder(_ name: String) -> Bool { UInt8(name, radix: 16).map(hexadecimal) == name }

    /// The name of the file.
    var text: String { withPath { String(cString: $0 + 11) } }

    /// The path of the file in the directory of the cache.
    var path: String { withPath { String(cString: $0) } }

    /// Calls a closure with the path of the file. Every hit makes one, so it is written into memory on the stack.
    /// - Parameter writer: the writer of an unfinished file, if it is one.
    @inline(__always)
    func withPath<Result, Failure: Error>(
        writer: WriterName? = nil, _ body: (UnsafePointer<CChar>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // Zeros follow the text.
        var path = InlineArray<96, CChar>(repeating: 0)
        var count = 0
        func write(_ text: StaticString) {
            for index in 0..<text.utf8CodeUnitCount {
                path[count] = CChar(text.utf8Start[index])
                count += 1
            }
        }
        func write(_ value: UInt64, digits: Int = 16) {
            for digit in (0..<digits).reversed() {
                let nibble = CChar(truncatingIfNeeded: value >> UInt64(4 * digit) & 15)
                path[count] = nibble < 10 ? 48 + nibble : 87 + nibble
                count += 1
            }
        }
        write("entries/")
        write(UInt64(folder), digits: 2)
        // A period, so that nobody takes an unfinished file for an entry.
        write(writer == nil ? "/" : "/.")
        write(UInt64(source >> 64))
        write(UInt64(truncatingIfNeeded: source))
        write("-")
        write(variant)
        if let writer {
            write(".")
            write(writer.number)
        }
        return try withUnsafePointer(to: path) { path throws(Failure) in
            try body(UnsafeRawPointer(path).assumingMemoryBound(to: CChar.self))
        }
    }

    fileprivate static func hexadecimal<Value: FixedWidthInteger>(_ value: Value) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: Value.bitWidth / 4 - text.utf8.count) + text
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
struct WriterName: Sendable, CustomStringConvertible {
    let number = UInt64.random(in: .min ... .max)

    /// 16 hexadecimal digits.
    var description: String { EntryName.hexadecimal(number) }

    /// Returns true for the name of a writer.
    static func isValid(_ text: UnsafePointer<CChar>) -> Bool { EntryName.number(text) != nil && text[16] == 0 }

    /// Returns true for the name of an unfinished file.
    static func isUnfinished(_ text: UnsafePointer<CChar>) -> Bool {
        text[0] == 46 && EntryName.prefix(of: text + 1) != nil && text[1 + EntryName.length] == 46
            && isValid(text + EntryName.length + 2)
    }
}
