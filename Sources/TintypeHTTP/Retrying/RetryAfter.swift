internal import FoundationEssentials
internal import TintypeLoading

/// The field `Retry-After` (RFC 9110, section 10.2.3): seconds, or a date.
enum RetryAfter {
    /// Returns the delay that a server asks for; `nil` without a valid field.
    /// - Parameters:
    ///   - field: the value of the field.
    ///   - date: the value of the response's `Date`, which counts instead of this computer's clock.
    ///   - now: the time of this computer, for responses without a date.
    static func delay(_ field: String?, date: String?, now: Date) -> Duration? {
        guard let field = field?.trimmed, !field.isEmpty else { return nil }
        if field.utf8.allSatisfy({ 0x30...0x39 ~= $0 }) {
            // Beyond 64 bits, or any sensible limit, a number is simply too long.
            return .seconds(min(Int(field) ?? .max, Int(Duration.longestLimit.components.seconds)))
        }
        guard let end = HTTPDate.date(field, now: now) else { return nil }
        let start = date.flatMap { HTTPDate.date($0.trimmed, now: now) } ?? now
        let seconds = end.timeIntervalSince(start)
        return .seconds(min(max(0, seconds), Double(Duration.longestLimit.components.seconds)))
    }
}

extension String {
    /// True if there are spaces or tabs at its ends.
    var isPadded: Bool { Self.isSpace(utf8.first) || Self.isSpace(utf8.last) }

    /// The text without spaces and tabs at its ends.
    var trimmed: String {
        guard isPadded else { return self }
        let rest = utf8.drop { Self.isSpace($0) }
        let end = rest.lastIndex { !Self.isSpace($0) }
        return String(Substring(end.map { rest[...$0] } ?? rest.prefix(0)))
    }

    private static func isSpace(_ byte: UInt8?) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
