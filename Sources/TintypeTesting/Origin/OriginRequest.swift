#if HTTP
public import FoundationEssentials

/// A request as it came to an ``OriginServer``.
public struct OriginRequest: Sendable {
    public var method: String
    /// The target as it was sent: path and query, percent encoded.
    public var target: String
    public var headers: [(name: String, value: String)]
    public var body: Data
    /// The number of the connection it came over, counted from 1.
    public var connection: Int

    /// The path, percent encoded, without the query.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// The query without its question mark; `nil` if there is none.
    public var query: String? {
        target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
    }

    /// The value of the header field, whatever the case of its name; values of repeated fields are joined with commas.
    public func header(_ name: String) -> String? {
        let values = headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }
}
#endif
