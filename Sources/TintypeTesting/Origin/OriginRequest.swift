#if HTTP
public import FoundationEssentials
internal import TintypeLoading

/// A request that an ``OriginServer`` received.
public struct OriginRequest: Sendable {
    /// The method, such as `GET`.
    public var method: String
    /// The path and the query as they were sent, percent encoded.
    public var target: String
    /// The header fields, in the order of arrival.
    public var headers: [(name: String, value: String)]
    /// The body.
    public var body: Data
    /// The number of the connection, counted from 1.
    public var connection: Int

    /// The path, percent encoded, without the query.
    public var path: String { String(target.prefix { $0 != "?" }) }

    /// Returns a path as clients send it, with escapes for the characters that a URL can't have.
    static func encoded(_ path: String) -> String {
        let origin = "http://localhost"
        return URL(written: origin + path).map { String($0.absoluteString.dropFirst(origin.count)) } ?? path
    }

    /// The query without its question mark; `nil` for none.
    public var query: String? {
        target.firstIndex(of: "?").map { String(target[target.index(after: $0)...]) }
    }

    /// Returns the value of a header field; `nil` if there is none. Values of repeated fields are joined with commas.
    /// - Parameter name: the name, whose case does not matter.
    public func header(_ name: String) -> String? {
        let values = headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
        return values.isEmpty ? nil : values.joined(separator: ", ")
    }
}
#endif
