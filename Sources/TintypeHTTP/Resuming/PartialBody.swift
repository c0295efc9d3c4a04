#if HTTP
internal import FoundationEssentials
internal import TintypeLoading

/// The start of a body whose transfer was interrupted.
struct PartialBody: Sendable {
    /// The bytes that arrived; a transfer that continues them appends the rest.
    var bytes: ArrivingBytes
    /// The strong validator of the response (RFC 9110, section 8.8.1), for `If-Range`.
    var validator: String
    /// The URL whose body it is, which may be the target of a redirect.
    var owner: URL
    /// The fields with which that URL was asked, also those of cookies and of closures.
    var fields = HTTPFields()
    /// The size of the whole body, if it is known.
    var total: Int?

    /// True if the bytes are the start of the body at a URL that is asked with these fields. Only that URL is asked for the rest, and only for
    /// the same user.
    func belongs(to url: URL, asked fields: HTTPFields) -> Bool {
        (owner == url || owner.representation == url.representation) && fields.withoutRange == self.fields.withoutRange
    }

    /// The validator, in the form that the image's entry stores.
    var validators: CacheValidators {
        validator.hasPrefix("\"") ? .init(entityTag: validator) : .init(lastModified: validator)
    }

    /// The value of `Range` for the rest.
    var range: String { "bytes=\(bytes.count)-" }
}

extension HTTPFields {
    /// The fields that are the same for a body and for its rest.
    fileprivate var withoutRange: HTTPFields {
        var fields = self
        for name in ["Priority", "Range", "If-Range", "Accept-Encoding"] { fields[name] = nil }
        return fields
    }
}

/// The identity of a request whose body was interrupted.
struct PartialBodyKey: Hashable, Sendable {
    let url: URL
    let headers: HTTPFields

    /// - Returns: `nil` for requests whose answer can't be continued.
    init?(_ request: DownloadRequest, for load: LoadRequest) {
        guard request.method == "GET", request.body == nil, load.validators?.isEmpty ?? true,
            request.headers["Range"] == nil, request.headers["If-Range"] == nil
        else { return nil }
        url = request.url
        var headers = request.headers
        headers["Priority"] = nil
        self.headers = headers
    }
}

/// The fields of responses that decide whether and how a body can be continued.
enum RangeRules {
    /// Returns the strong validator of a response; `nil` if it has none.
    ///
    /// A date is strong if it is at least a minute older than the response (RFC 9110, section 8.8.2.2).
    static func strongValidator(_ headers: HTTPFields) -> String? {
        if let tag = headers["ETag"]?.trimmed {
            return isStrongTag(tag) ? tag : nil
        }
        guard let modified = headers["Last-Modified"]?.trimmed, let changed = HTTPDate.date(modified),
            let date = headers["Date"].flatMap({ HTTPDate.date($0.trimmed) }),
            date.timeIntervalSince(changed) >= 60
        else { return nil }
        return modified
    }

    /// A quoted text without the mark of weak tags. Longer validators, and those in several fields, are not used.
    private static func isStrongTag(_ tag: String) -> Bool {
        tag.utf8.count >= 2 && tag.utf8.count <= 500 && tag.hasPrefix("\"") && tag.hasSuffix("\"")
            && tag.utf8.dropFirst().dropLast().allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "\"") }
    }

    /// Returns false if the server says that it sends no parts.
    static func allowsRanges(_ headers: HTTPFields) -> Bool {
        headers["Accept-Ranges"]?.trimmed.lowercased() != "none"
    }

    /// The part of a body that a response has (RFC 9110, section 14.4).
    struct ContentRange: Equatable {
        var first: Int
        var last: Int
        var total: Int?

        /// Parses a field such as `bytes 100-199/1000` or `bytes 100-199/*`.
        init?(_ field: String?) {
            guard let field = field?.trimmed, field.utf8.count <= 100, field.lowercased().hasPrefix("bytes ") else {
                return nil
            }
            let parts = field.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2 else { return nil }
            let bounds = parts[0].split(separator: "-", omittingEmptySubsequences: false)
            guard bounds.count == 2, let first = Self.number(bounds[0]), let last = Self.number(bounds[1]),
                first <= last, last < .max
            else { return nil }
            (self.first, self.last) = (first, last)
            if parts[1] == "*" { return }
            guard let total = Self.number(parts[1]), last < total else { return nil }
            self.total = total
        }

        private static func number(_ text: Substring) -> Int? {
            text.utf8.allSatisfy { 0x30...0x39 ~= $0 } ? Int(text) : nil
        }
    }

    /// Checks that a part continues a body.
    /// - Returns: the size of the whole body, and the end of the part.
    /// - Throws: ``ImageError/Code/badResponse``.
    static func checkPart(
        _ headers: HTTPFields, continues partial: PartialBody
    ) throws(ImageError) -> (total: Int, end: Int) {
        if headers["Content-Type"]?.trimmed.lowercased().hasPrefix("multipart/byteranges") == true {
            throw wrongPart("several parts at once")
        }
        guard let range = ContentRange(headers["Content-Range"]) else {
            throw wrongPart("a part without a valid range")
        }
        let start = partial.bytes.count
        guard range.first == start else { throw wrongPart("the part from byte \(range.first) instead of \(start)") }
        if let total = range.total, let known = partial.total, total != known {
            throw wrongPart("a part of \(total) bytes, after a part of \(known) bytes")
        }
        if let tag = headers["ETag"]?.trimmed, partial.validator.hasPrefix("\""), tag != partial.validator {
            throw wrongPart("a part of a different version")
        }
        if let modified = headers["Last-Modified"]?.trimmed, !partial.validator.hasPrefix("\""),
            modified != partial.validator
        {
            throw wrongPart("a part with a different date")
        }
        guard let total = range.total ?? partial.total else { throw wrongPart("a part of an unknown size") }
        guard range.last < total else { throw wrongPart("a part beyond the end") }
        if let length = headers["Content-Length"].flatMap({ Int($0) }), length != range.last - range.first + 1 {
            throw wrongPart("a part whose length differs from its range")
        }
        return (total, range.last + 1)
    }

    private static func wrongPart(_ what: String) -> ImageError {
        ImageError(
            .badResponse, stage: .load,
            reason: "the rest of an interrupted transfer was requested, but the server sent \(what)")
    }
}
#endif
