internal import FoundationEssentials

/// The identity of a transfer: requests with equal keys share one, whatever they want of the caches.
struct DownloadKey: Hashable, Sendable {
    let url: String
    /// The significant header fields, by lowercase names.
    let headers: [String: String]
    /// The generation of the manager's loaders.
    private let loaders: Int
    private let digest: UInt64

    /// - Parameters:
    ///   - insignificant: The lowercase names of header fields that don't change the answer.
    ///   - loaders: The generation of the manager's loaders: a load doesn't join a transfer of loaders that were replaced before.
    init(url: URL, headers: [String: String], ignoring insignificant: Set<String> = [], loaders: Int = 0) {
        self.loaders = loaders
        self.url = url.absoluteString
        guard !headers.isEmpty else {
            self.headers = [:]
            digest = KeyedHash.hash(self.url)
            return
        }
        var fields: [String: String] = [:]
        for (name, value) in headers {
            let name = name.lowercased()
            if !insignificant.contains(name) { fields[name] = value }
        }
        self.headers = fields
        var digest = KeyedHash.hash(self.url)
        for (name, value) in fields.sorted(by: { $0.key < $1.key }) {
            digest = KeyedHash.combine(KeyedHash.combine(digest, KeyedHash.hash(name)), KeyedHash.hash(value))
        }
        self.digest = digest
    }

    static func == (one: DownloadKey, other: DownloadKey) -> Bool {
        one.digest == other.digest && one.url == other.url && one.headers == other.headers
            && one.loaders == other.loaders
    }

    func hash(into hasher: inout Hasher) { hasher.combine(digest) }
}
