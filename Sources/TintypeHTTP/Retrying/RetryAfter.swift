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
    /// The text without spaces and tabs at its ends.
    var trimmed: String {
        guard let first = utf8.first, let last = utf8.last, Self.isSpace(first) || Self.isSpace(last) else {
            return self
        }
        var text = self[...]
        while let first = text.first, first == " " || first == "\t" { text.removeFirst() }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return String(text)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
}
