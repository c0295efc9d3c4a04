package import FoundationEssentials

/// The part of an HTTP response that decides how long its stored body may be used, and which requests may use it (RFC 9111).
///
/// It is stored with the body, on disk and in memory. It has the values of no header field of the request, only their digests.
package struct StoredResponse: Sendable, Hashable, Codable {
    /// The status of the response; `nil` if the loader doesn't speak HTTP.
    package let statusCode: Int?
    /// The header fields that matter to a cache, by lowercase names: `age`, `cache-control`, `date`, `expires`, `last-modified`, and
    /// `vary`.
    package private(set) var headers: [String: String] = [:]
    /// The time when the request was sent.
    package private(set) var requestTime: Date
    /// The time when the response came, or when the source last said that it is current.
    package private(set) var responseTime: Date
    /// The digests of the header fields that select the response, by lowercase names; empty for a field that was missing. No request has
    /// the digest of `*`.
    private(set) var selection: [String: String] = [:]
    /// The start of the names of credentials among those.
    private static let credential = "credential "
    /// True if a request without header fields selects the response, whatever cookies a loader adds.
    package var isForPlainRequests: Bool { selection.allSatisfy { $0.value.isEmpty && $0.key != "cookie" } }

    /// The directives in front of a response's directives after a redirect. Of several numbers, the smallest counts.
    package static let redirectDirectives = "max-age=0, stale-while-revalidate=0, "

    private static let fieldNames = ["age", "cache-control", "date", "expires", "last-modified", "vary"]
    /// The longest value that is kept, and the most names in `Vary`. Longer lists are hostile, and replaced with the most cautious value: they
    /// would take more memory than the image.
    private static let (maximumLength, mostVariations) = (1_024, 16)
    private static let cautiousValues = ["cache-control": "private, no-cache", "vary": "*"]

    /// - Parameters:
    ///   - statusCode: The status of the response.
    ///   - headers: The header fields of the response, by lowercase names. Those that don't matter are left out.
    ///   - request: The header fields of the request that can select a response.
    ///   - requestTime: The time when the request was sent.
    ///   - responseTime: The time when the response came.
    package init(
        statusCode: Int?, headers: [String: String], request: SelectingFields, requestTime: Date, responseTime: Date
    ) {
        self.statusCode = statusCode
        self.requestTime = requestTime
        self.responseTime = responseTime
        merge(headers)
        select(request)
    }

    private mutating func merge(_ fields: [String: String]) {
        for name in Self.fieldNames {
            guard let value = fields[name] else { continue }
            headers[name] = value.utf8.count <= Self.maximumLength ? value : Self.cautiousValues[name] ?? ""
        }
        if variesOn.count > Self.mostVariations { headers["vary"] = "*" }
    }

    private mutating func select(_ request: SelectingFields) {
        selection = [:]
        for name in variesOn { selection[name] = name == "*" ? name : request.sentDigest(of: name) }
        for (name, digest) in request.credentials { selection[Self.credential + name] = digest }
    }

    /// The names in `Vary`, in lowercase.
    private var variesOn: [String] {
        guard let vary = headers["vary"] else { return [] }
        return CacheControl.elements(of: vary).map { String(decoding: $0, as: UTF8.self).lowercased() }
    }

    /// Returns true if a request selects this response: it has the same credentials, and the same values of the fields in `Vary`, which isn't
    /// `*` (RFC 9111, section 4.1).
    package func isSelected(by request: SelectingFields) -> Bool {
        let credentials = selection.filter { $0.key.hasPrefix(Self.credential) }
        return credentials.count == request.credentials.count
            && request.credentials.allSatisfy { credentials[Self.credential + $0.key] == $0.value }
            && selection.allSatisfy { credentials[$0.key] != nil || request.digest(of: $0.key) == $0.value }
    }

    /// The same response after the source said that it is current (RFC 9111, section 3.2).
    package func renewed(
        by headers: [String: String], request: SelectingFields, requestTime: Date, responseTime: Date
    ) -> StoredResponse {
        var renewed = self
        // An age or date that isn't sent anew isn't the new message's.
        renewed.headers["age"] = nil
        renewed.headers["date"] = nil
        renewed.merge(headers)
        renewed.select(request)
        renewed.requestTime = requestTime
        renewed.responseTime = responseTime
        return renewed
    }

    // MARK: In a cache

    var encoded: Data {
        var writer = ByteWriter()
        writer.integer(Int64(statusCode ?? 0))
        writer.integer(requestTime.cacheTime)
        writer.integer(responseTime.cacheTime)
        for fields in [headers, selection] {
            writer.integer(UInt32(fields.count))
            for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
                writer.value(name.utf8)
                writer.value(value.utf8)
            }
        }
        return Data(writer.bytes)
    }

    /// Creates the response of ``encoded``; if bytes are missing, a response that no request selects, for without any, anybody could see the image.
    init(encoded: UnsafeRawBufferPointer) {
        var reader = ByteReader(encoded)
        let status = reader.integer(Int64.self)
        statusCode = status == 0 ? nil : Int(status)
        requestTime = Date(cacheTime: reader.integer())
        responseTime = Date(cacheTime: reader.integer())
        guard let headers = Self.fields(&reader), let selection = Self.fields(&reader) else {
            selection = ["*": "*"]
            return
        }
        (self.headers, self.selection) = (headers, selection)
    }

    private static func fields(_ reader: inout ByteReader) -> [String: String]? {
        var (fields, count) = ([String: String](), reader.integer(UInt32.self))
        while count > 0, let name = reader.string(), let value = reader.string() {
            fields[name] = value
            count -= 1
        }
        return count == 0 && reader.isComplete ? fields : nil
    }
}

/// The header fields of a request that can select among several responses of a URL.
package struct SelectingFields: Sendable {
    /// By lowercase names.
    private var fields: [String: String] = [:]
    /// The values that were sent in place of those; empty for a field that wasn't sent.
    package var sent: [String: String] = [:]
    /// The digests of the fields that identify a user, as far as the request has them.
    package private(set) var credentials: [String: String] = [:]

    /// - Parameters:
    ///   - headers: The header fields of the request.
    ///   - cookies: The cookies that a request for the URL gets. They aren't credentials.
    ///   - insignificant: The lowercase names of fields that don't change the answer.
    ///   - credentials: The lowercase names of fields that identify a user.
    package init(
        _ headers: [String: String], cookies: String? = nil, ignoring insignificant: Set<String> = [],
        credentials: Set<String> = []
    ) {
        for (name, value) in headers {
            let name = name.lowercased()
            guard !insignificant.contains(name) else { continue }
            fields[name] = value
            if credentials.contains(name) { self.credentials[name] = Self.digest(of: name, value) }
        }
        if let cookies, !insignificant.contains("cookie") {
            fields["cookie"] = fields["cookie"].map { "\($0); \(cookies)" } ?? cookies
        }
    }

    /// A digest of the value of a field, ignoring white space between list elements; empty without such a field.
    func digest(of name: String) -> String { Self.digest(of: name, fields[name]) }

    /// The digest of the value with which a field was sent.
    func sentDigest(of name: String) -> String {
        Self.digest(of: name, sent[name].map { $0.isEmpty ? nil : $0 } ?? fields[name])
    }

    private static func digest(of name: String, _ value: String?) -> String {
        guard let value else { return "" }
        var text = name + "\n"
        for element in CacheControl.elements(of: value) { text += String(decoding: element, as: UTF8.self) + "," }
        return XXH3.digest(text)
    }
}
