/// The header fields of an HTTP message, by name. The case of names does not matter.
///
/// Repeated fields are one field whose values are joined with commas (RFC 9110, section 5.3).
public struct HTTPFields: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// Sorted by name, which makes small collections faster than a dictionary would.
    private var fields: [Field] = []

    private struct Field: Hashable {
        var name: String
        var value: String
    }

    /// Creates an empty collection of fields.
    public init() {}

    /// Creates a collection of fields from a dictionary.
    public init(_ fields: [String: String]) {
        for (name, value) in fields { self[name] = value }
    }

    public init(dictionaryLiteral elements: (String, String)...) {
        self.init(joining: elements.map { (name: $0, value: $1) })
    }

    /// Creates a collection from fields in their order, and joins the values of those that are repeated.
    package init(joining list: [(name: String, value: String)]) {
        // Many fields added one after another would move each other too often.
        fields = list.map { Field(name: $0.name, value: $0.value) }
        fields.sort { Self.order($0.name, $1.name) < 0 }
        let isUnique = zip(fields, fields.dropFirst()).allSatisfy { Self.order($0.name, $1.name) != 0 }
        guard !isUnique else { return }
        var joined: [Field] = []
        for field in fields {
            if let last = joined.last, Self.order(last.name, field.name) == 0 {
                joined[joined.count - 1] = Field(name: field.name, value: "\(last.value), \(field.value)")
            } else {
                joined.append(field)
            }
        }
        fields = joined
    }

    /// The value of a field; `nil` if there is none. Setting `nil` removes the field.
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

    /// True if there are no fields.
    public var isEmpty: Bool { fields.isEmpty }

    /// Adds a value to those of a field.
    public mutating func add(_ name: String, _ value: String) {
        self[name] = self[name].map { "\($0), \(value)" } ?? value
    }

    /// Replaces fields with those of a dictionary. An empty value removes a field.
    package mutating func merge(_ other: [String: String]) {
        for (name, value) in other { self[name] = value.isEmpty ? nil : value }
    }

    /// The index of a field, or the one at which it would be inserted.
    private func place(of name: String) -> (index: Int, exists: Bool) {
        var range = 0..<fields.count
        while !range.isEmpty {
            let middle = (range.lowerBound + range.upperBound) / 2
            let order = Self.order(fields[middle].name, name)
            if order == 0 { return (middle, true) }
            range = order < 0 ? middle + 1..<range.upperBound : range.lowerBound..<middle
        }
        return (range.lowerBound, false)
    }

    /// Compares two names without regard to the case of ASCII letters.
    /// - Returns: a negative number if the first is before the second, 0 if they are equal.
    private static func order(_ left: String, _ right: String) -> Int {
        var (left, right) = (left.utf8.makeIterator(), right.utf8.makeIterator())
        while true {
            switch (left.next(), right.next()) {
            case (nil, nil): return 0
            case (nil, _?): return -1
            case (_?, nil): return 1
            case (let one?, let other?):
                let difference = Int(lowercase(one)) - Int(lowercase(other))
                if difference != 0 { return difference }
            }
        }
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 { 0x41...0x5A ~= byte ? byte | 0x20 : byte }
}
