/// The header fields of an HTTP message, by name. The case of names does not matter.
///
/// Repeated fields are one field whose values are joined with commas (RFC 9110, section 5.3).
public struct HTTPFields: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// By lowercase name.
    private var fields: [String: Field] = [:]

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
        for (name, value) in elements { add(name, value) }
    }

    /// The value of a field; `nil` if there is none. Setting `nil` removes the field.
    public subscript(name: String) -> String? {
        get { fields[name.lowercased()]?.value }
        set { fields[name.lowercased()] = newValue.map { Field(name: name, value: $0) } }
    }

    /// The fields, sorted by name. Names are spelled as they were set.
    public var all: [(name: String, value: String)] {
        fields.sorted { $0.key < $1.key }.map { ($0.value.name, $0.value.value) }
    }

    /// The values by lowercase names.
    package var byLowercaseName: [String: String] { fields.mapValues(\.value) }

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
}
