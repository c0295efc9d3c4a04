internal import CXXHash
internal import Glibc

/// The name of an entry's file: a 128-bit hash of the source, and a 64-bit hash of the variant, which is 0 for the original.
///
/// All variants of a source have the same start and are in the same folder, so that a folder tells them completely.
struct EntryName: Hashable, Sendable {
    var sourceHigh: UInt64
    var sourceLow: UInt64
    var variant: UInt64

    /// The length of a name as text: 32 and 16 hexadecimal digits, and the hyphen between them.
    static let length = 49
    /// The folder of all entries.
    static let root = "entries"
    /// The number of folders of entries.
    static let folders = 256

    init(sourceHigh: UInt64, sourceLow: UInt64, variant: UInt64) {
        self.sourceHigh = sourceHigh
        self.sourceLow = sourceLow
        self.variant = variant
    }

    init(_ key: ImageKey) {
        self.init(source: key.source)
        guard !key.variant.isOriginal else { return }
        var text = key.variant.description
        variant = max(1, text.withUTF8 { tintype_xxh3($0.baseAddress, $0.count) })
    }

    /// The name of the original of a source.
    init(source: String) {
        var source = source
        let hash = source.withUTF8 { tintype_xxh3_128($0.baseAddress, $0.count, 0) }
        self.init(sourceHigh: hash.high64, sourceLow: hash.low64, variant: 0)
    }

    /// The number of the folder: the first byte of the source's hash.
    var folder: Int { Int(sourceHigh >> 56) }

    /// True for names of the same source.
    func belongs(toSourceOf other: EntryName) -> Bool {
        sourceHigh == other.sourceHigh && sourceLow == other.sourceLow
    }

    func hash(into hasher: inout Hasher) { hasher.combine(sourceLow ^ variant) }

    // MARK: Text

    /// The path of a folder in the directory of the cache, such as `entries/0f`.
    static func folderPath(_ folder: Int) -> String { "\(root)/\(hexadecimal(UInt64(folder), digits: 2))" }

    /// True for the names of folders of entries.
    static func isFolder(_ name: String) -> Bool {
        UInt8(name, radix: 16).map { folderPath(Int($0)) == "\(root)/\(name)" } ?? false
    }

    /// The name of the file.
    var text: String { withPath { String(cString: $0 + 11) } }

    /// The path of the file in the directory of the cache.
    var path: String { withPath { String(cString: $0) } }

    /// Calls a closure with the path of the file. Every hit makes a name, so it is written into memory on the stack.
    /// - Parameter writer: the writer of an unfinished file, if it is unfinished.
    @inline(__always)
    func withPath<Result: ~Copyable, Failure: Error>(
        writer: WriterName? = nil, _ body: (UnsafePointer<CChar>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // Zeros follow the text.
        var path = InlineArray<96, CChar>(repeating: 0)
        var count = 0
        func write(_ value: UInt64, digits: Int) {
            for digit in (0..<digits).reversed() {
                let nibble = CChar(truncatingIfNeeded: value >> UInt64(4 * digit) & 15)
                write(nibble < 10 ? 48 + nibble : 87 + nibble)
            }
        }
        func write(_ character: CChar) {
            path[count] = character
            count += 1
        }
        for character in Self.root.utf8 { write(CChar(character)) }
        write(47)  // A slash.
        write(UInt64(folder), digits: 2)
        write(47)
        if writer != nil { write(46) }  // A period, so that the file isn't taken for an entry.
        write(sourceHigh, digits: 16)
        write(sourceLow, digits: 16)
        write(45)  // A hyphen.
        write(variant, digits: 16)
        if let writer {
            write(46)  // A period.
            write(writer.high, digits: 16)
            write(writer.low, digits: 16)
        }
        return try withUnsafePointer(to: path) { path throws(Failure) in
            try body(UnsafeRawPointer(path).assumingMemoryBound(to: CChar.self))
        }
    }

    static func hexadecimal(_ value: UInt64, digits: Int) -> String {
        let text = String(value, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }

    /// Reads a name; `nil` for any other text.
    init?(_ text: String) {
        guard let name = text.withCString({ EntryName(cString: $0) }) else { return nil }
        self = name
    }

    /// Reads a name; `nil` for any other text. Each store looks at some names, so that nothing is allocated.
    init?(cString text: UnsafePointer<CChar>) {
        guard let name = Self.prefix(of: text), text[Self.length] == 0 else { return nil }
        self = name
    }

    /// The name that a text starts with.
    fileprivate static func prefix(of text: UnsafePointer<CChar>) -> EntryName? {
        guard let high = number(text), let low = number(text + 16), text[32] == 45, let variant = number(text + 33)
        else { return nil }
        return EntryName(sourceHigh: high, sourceLow: low, variant: variant)
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
struct WriterName: Hashable, Sendable, CustomStringConvertible {
    let high: UInt64
    let low: UInt64

    init() {
        high = .random(in: .min ... .max)
        low = .random(in: .min ... .max)
    }

    /// Reads a name; `nil` for any other text.
    init?(_ text: some StringProtocol) {
        guard let name = String(text).withCString({ WriterName(cString: $0) }) else { return nil }
        self = name
    }

    private init?(cString text: UnsafePointer<CChar>) {
        guard let high = EntryName.number(text), let low = EntryName.number(text + 16), text[32] == 0
        else { return nil }
        (self.high, self.low) = (high, low)
    }

    /// 32 hexadecimal digits.
    var description: String {
        EntryName.hexadecimal(high, digits: 16) + EntryName.hexadecimal(low, digits: 16)
    }

    /// Returns true for the name of an unfinished file.
    static func isUnfinished(_ text: UnsafePointer<CChar>) -> Bool {
        text[0] == 46 && EntryName.prefix(of: text + 1) != nil && text[1 + EntryName.length] == 46
            && WriterName(cString: text + EntryName.length + 2) != nil
    }
}
