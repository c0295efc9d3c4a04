/// The header fields of an HTTP message, by name. The case of names doesn't matter.
///
/// Repeated fields are a single field whose values are joined with commas (RFC 9110, section 5.3).
public struct HTTPFields: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// Sorted by name, which makes small collections faster than a dictionary would.
    private var fields: [Field] = []

    private struct Field: Hashable {
        let name: String
        let value: String
        let start: UInt64

        init(name: String, value: String, start: UInt64? = nil) {
            self.name = name
            self.value = value
            self.start = start ?? HTTPFields.start(of: name)
        }

        func hasName(of other: Field) -> Bool { start == other.start && HTTPFields.order(name, other.name) == 0 }

        static func == (one: Field, other: Field) -> Bool { one.hasName(of: other) && one.value == other.value }

        func hash(into hasher: inout Hasher) {
            hasher.combine(start)
            hasher.combine(value)
        }
    }

    package init() {}

    /// Creates a collection of fields from a dictionary.
    /// - Parameter fields: the names and values.
    public init(_ fields: [String: String]) {
        for (name, value) in fields { self[name] = value }
    }

    /// Creates fields from a literal. Values of repeated names are joined.
    /// - Parameter elements: names and values.
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init(joining: elements.map { (name: $0, value: $1) })
    }

    /// Creates a collection from fields in their order, and joins the values of those that are repeated.
    package init(joining list: [(name: String, value: String)]) {
        // Many fields added individually would move each other too often. Moving numbers takes less time than moving texts.
        let starts = list.map { Self.start(of: $0.name) }
        let order = list.indices.sorted {
            starts[$0] != starts[$1] ? starts[$0] < starts[$1] : Self.order(list[$0].name, list[$1].name) < 0
        }
        fields = order.map { Field(name: list[$0].name, value: list[$0].value, start: starts[$0]) }
        let isUnique = zip(fields, fields.dropFirst()).allSatisfy { !$0.hasName(of: $1) }
        guard !isUnique else { return }
        var joined: [Field] = []
        for field in fields {
            if let last = joined.last, last.hasName(of: field) {
                joined[joined.count - 1] = Field(name: field.name, value: "\(last.value), \(field.value)")
            } else {
                joined.append(field)
            }
        }
        fields = joined
    }

    /// The value of a field; `nil` if there is none. Setting `nil` removes the field.
    /// - Parameter name: the name of the field, in any case.
    public subscript(name: String) -> String? {
        get {
            let place = place(of: name)
            return place.exists ? fields[place.index].value : nil
        }
        set {
            let place = place(of: name)
            switch (newValue.map { Field(name: name, value: $0) }, place.exists) {
            case (let field?, true): fields[place.index] = field
            case (let field?, false): fields.insert(field, at: place.index)
            case (nil, true): fields.remove(at: place.index)
            case (nil, false): break
            }
        }
    }

    /// The fields, sorted by name. Names are spelled as they were set.
    public var all: [(name: String, value: String)] { fields.map { ($0.name, $0.value) } }

    /// The values by lowercase names.
    package var byLowercaseName: [String: String] {
        Dictionary(fields.map { ($0.name.lowercased(), $0.value) }) { "\($0), \($1)" }
    }

    /// True if it has no fields.
    package var isEmpty: Bool { fields.isEmpty }

    /// Adds a value to a field's values.
    /// - Parameters:
    ///   - name: the name of the field, in any case.
    ///   - value: the value.
    public mutating func add(_ name: String, _ value: String) {
        self[name] = self[name].map { "\($0), \(value)" } ?? value
    }

    /// Replaces fields with a dictionary's. An empty value removes a field.
    package mutating func merge(_ other: [String: String]) {
        for (name, value) in other { self[name] = value.isEmpty ? nil : value }
    }

    /// Returns true for a token of HTTP (RFC 9110, section 5.6.2), as names of fields and methods are.
    package static func isToken(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "!#$%&'*+-.^_`|~".utf8.contains(byte)
            }
    }

    /// The index of a field, or its insertion index.
    private func place(of name: String) -> (index: Int, exists: Bool) {
        let start = Self.start(of: name)
        var range = 0..<fields.count
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            let middleStart = fields[middle].start
            let order = middleStart == start ? Self.order(fields[middle].name, name) : middleStart < start ? -1 : 1
            if order == 0 { return (middle, true) }
            range = order < 0 ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return (range.lowerBound, false)
    }

    /// The first eight bytes of a name in lowercase, as a number that is ordered like the name. Numbers are compared much faster than
    /// texts, and a download compares dozens of names.
    private static func start(of name: String) -> UInt64 {
        name.withBytes { bytes in
            (0..<8).reduce(0) { $0 << 8 | ($1 < bytes.count ? UInt64(lowercase(bytes[$1])) : 0) }
        }
    }

    /// Compares two names without regard to the case of ASCII letters.
    /// - Returns: a negative number if the first is before the second, 0 if they are equal.
    private static func order(_ left: String, _ right: String) -> Int {
        left.withBytes { left in
            right.withBytes { right in
                for (one, other) in zip(left, right) {
                    let difference = Int(lowercase(one)) - Int(lowercase(other))
                    if difference != 0 { return difference }
                }
                return left.count - right.count
            }
        }
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 { 0x41...0x5A ~= byte ? byte | 0x20 : byte }
}

extension String {
    /// Runs `body` with the text in UTF-8, without a copy of the text if possible.
    fileprivate func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        if let result = utf8.withContiguousStorageIfAvailable(body) { return result }
        var copy = self
        return copy.withUTF8(body)
    }
}
