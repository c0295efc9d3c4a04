internal import FoundationEssentials
internal import TintypeImages

/// Reads XML from the beginning to the end, as far as XMP uses it: elements with attributes, and text.
///
/// Entities are never expanded but the five that XML defines, and a document with a type declaration, which XMP doesn't have, has no
/// tokens. At the first mistake, the tokens end.
struct XMLTokens {
    enum Token {
        /// The beginning of an element.
        case start(Name, [Attribute])
        /// The end of an element; of one without contents it follows the beginning.
        case end
        case text(Text)
    }

    /// A name as the document writes it, perhaps with a prefix.
    struct Name {
        let prefix: ArraySlice<UInt8>
        let local: ArraySlice<UInt8>
        /// The place of the name in the bytes.
        let start: Int

        init(_ name: ArraySlice<UInt8>) {
            start = name.startIndex
            let colon = name.firstIndex(of: UInt8(ascii: ":"))
            prefix = colon.map { name[..<$0] } ?? []
            local = colon.map { name[($0 + 1)...] } ?? name
        }
    }

    struct Attribute {
        let name: Name
        let value: Text

        /// The place of the attribute in the bytes, with the quotation marks.
        var place: Range<Int> { name.start..<value.place.upperBound + 1 }
    }

    /// Text, in which references may stand for characters.
    struct Text {
        fileprivate let bytes: ArraySlice<UInt8>
        fileprivate let hasReferences: Bool

        /// The place of the text in the bytes.
        var place: Range<Int> { bytes.startIndex..<bytes.endIndex }

        var isBlank: Bool { bytes.allSatisfy { $0 <= 0x20 } }

        /// The text with the characters in place of their references. What isn't such a reference stays as it is.
        var decoded: ArraySlice<UInt8> {
            guard hasReferences, bytes.contains(UInt8(ascii: "&")) else { return bytes }
            var result: [UInt8] = []
            var rest = bytes
            while let start = rest.firstIndex(of: UInt8(ascii: "&")) {
                result += rest[..<start]
                rest = rest[start...]
                let reference = rest.prefix(Self.longestReference)
                if let end = reference.firstIndex(of: UInt8(ascii: ";")),
                    let character = Self.character(String(decoding: rest[(start + 1)..<end], as: UTF8.self))
                {
                    result += String(character).utf8
                    rest = rest[(end + 1)...]
                } else {
                    result.append(UInt8(ascii: "&"))
                    rest = rest.dropFirst()
                }
            }
            return (result + rest)[...]
        }

        /// `&#x10FFFF;`
        private static let longestReference = 10

        private static func character(_ name: String) -> Unicode.Scalar? {
            switch name {
            case "lt": return "<"
            case "gt": return ">"
            case "amp": return "&"
            case "quot": return "\""
            case "apos": return "'"
            default:
                guard name.hasPrefix("#") else { return nil }
                let digits = name.dropFirst()
                let number =
                    digits.hasPrefix("x") ? UInt32(digits.dropFirst(), radix: 16) : UInt32(digits, radix: 10)
                return number.flatMap(Unicode.Scalar.init)
            }
        }
    }

    /// The document in UTF-8.
    let bytes: [UInt8]
    /// The place behind the last token.
    private(set) var offset = 0
    /// True if the tokens have ended at a mistake.
    private(set) var isBroken = false
    /// True if the element that has begun has no contents.
    private var isAtEnd = false

    /// - Parameter document: The document in UTF-8, or in an encoding that its first bytes show.
    init(_ document: Data) { bytes = XMLEncoding(document)?.utf8(document) ?? [UInt8](document) }

    /// Returns the next token; `nil` at the end.
    mutating func next() -> Token? {
        if isAtEnd {
            isAtEnd = false
            return .end
        }
        while offset < bytes.count {
            guard bytes[offset] == UInt8(ascii: "<") else {
                let end = bytes[offset...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count
                defer { offset = end }
                return .text(Text(bytes: bytes[offset..<end], hasReferences: true))
            }
            if begins("<!--") {
                guard skip(behind: "-->") != nil else { return mistake() }
            } else if begins("<?") {
                guard skip(behind: "?>") != nil else { return mistake() }
            } else if begins("<![CDATA[") {
                let start = offset + 9
                guard let end = skip(behind: "]]>") else { return mistake() }
                return .text(Text(bytes: bytes[min(start, end)..<end], hasReferences: false))
            } else if begins("</") {
                guard skip(behind: ">") != nil else { return mistake() }
                return .end
            } else if begins("<!") {
                return mistake()
            } else {
                guard let token = start() else { return mistake() }
                return token
            }
        }
        return nil
    }

    private mutating func mistake() -> Token? {
        (offset, isBroken) = (bytes.count, true)
        return nil
    }

    private mutating func start() -> Token? {
        offset += 1
        guard let name = name() else { return nil }
        var attributes: [Attribute] = []
        while true {
            skipBlanks()
            guard offset < bytes.count else { return nil }
            if bytes[offset] == UInt8(ascii: ">") {
                offset += 1
                return .start(name, attributes)
            }
            if begins("/>") {
                offset += 2
                isAtEnd = true
                return .start(name, attributes)
            }
            guard let name = self.name() else { return nil }
            skipBlanks()
            guard begins("=") else { return nil }
            offset += 1
            skipBlanks()
            guard offset < bytes.count, [UInt8(ascii: "\""), UInt8(ascii: "'")].contains(bytes[offset]),
                let end = bytes[(offset + 1)...].firstIndex(of: bytes[offset])
            else { return nil }
            guard attributes.count < Self.mostAttributes else { return nil }
            attributes.append(
                Attribute(name: name, value: Text(bytes: bytes[(offset + 1)..<end], hasReferences: true)))
            offset = end + 1
        }
    }

    private static let mostAttributes = 1_000

    private mutating func name() -> Name? {
        let name = bytes[offset...].prefix { $0 > 0x20 && !"/>=<\"'".utf8.contains($0) }
        guard !name.isEmpty else { return nil }
        offset = name.endIndex
        return Name(name)
    }

    private mutating func skipBlanks() { while offset < bytes.count, bytes[offset] <= 0x20 { offset += 1 } }

    private func begins(_ text: String) -> Bool { bytes[offset...].starts(with: text.utf8) }

    /// Goes behind a text, and returns where it begins; `nil` if it doesn't come.
    private mutating func skip(behind text: String) -> Int? {
        let wanted = Array(text.utf8)
        var place = offset
        while let start = bytes[place...].firstIndex(of: wanted[0]) {
            if bytes[start...].starts(with: wanted) {
                offset = start + wanted.count
                return start
            }
            place = start + 1
        }
        return nil
    }
}
