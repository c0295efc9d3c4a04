internal import FoundationEssentials

/// The use that HTTP allows of a stored response at a time: the rules of RFC 9111 for a private cache.
struct HTTPFreshness {
    /// The use that a load may make of a stored response.
    enum Use: Equatable {
        /// It is fresh.
        case use
        /// It is stale, but may be used.
        case useStale
        /// It is stale, but may be used while it is revalidated in the background (RFC 5861, section 3).
        case useAndRevalidate
        /// The source must be asked whether it is current.
        case revalidate
        /// It must not be used, not even if the source says that it is current.
        case fetch
    }

    private let response: StoredResponse
    private let cacheControl: CacheControl
    /// The freshness lifetime of the response, in seconds from its generation.
    let lifetime: Double
    /// The time since the response was generated or validated, in seconds; `.infinity` if the clock tells nonsense.
    let age: Double

    /// The statuses whose responses may be fresh by a guess (RFC 9110, section 15.1).
    private static let heuristicStatuses: Set<Int> = [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501]
    /// The longest lifetime that is guessed.
    private static let longestGuess = 7 * 86_400.0
    /// The correction of a clock that isn't worth asking the source.
    private static let clockTolerance = 60.0

    init(_ response: StoredResponse, now: Date) {
        self.response = response
        cacheControl = CacheControl(response.headers["cache-control"])
        let responseTime = response.responseTime
        let date = response.headers["date"].flatMap { HTTPDate.date($0, now: now) } ?? responseTime
        lifetime = Self.lifetime(of: response, cacheControl, date: date, now: now)

        // Section 4.2.3. The time of the request isn't later than the time of the response, unless the clock went back in between.
        let apparentAge = max(0, responseTime.timeIntervalSince(date))
        let delay = max(0, responseTime.timeIntervalSince(response.requestTime))
        let correctedAge = max(apparentAge, Self.age(response.headers["age"]) + delay)
        let residentTime = now.timeIntervalSince(responseTime)
        let isCredible = residentTime.isFinite && residentTime >= -Self.clockTolerance
        age = isCredible ? correctedAge + max(0, residentTime) : .infinity
    }

    /// The value of `Age`, the first value of a list; 0 if it is invalid (section 5.1).
    private static func age(_ field: String?) -> Double {
        guard let field, let first = CacheControl.elements(of: field).first else { return 0 }
        return CacheControl.deltaSeconds(first) ?? 0
    }

    /// The freshness lifetime (sections 4.2.1 and 4.2.2).
    private static func lifetime(
        of response: StoredResponse, _ cacheControl: CacheControl, date: Date, now: Date
    ) -> Double {
        if let maxAge = cacheControl.maxAge { return maxAge }
        if let expires = response.headers["expires"] {
            guard let expires = HTTPDate.date(expires, now: now) else { return 0 }
            return max(0, expires.timeIntervalSince(date))
        }
        guard let status = response.statusCode, heuristicStatuses.contains(status) || cacheControl.isPublic,
            let modified = response.headers["last-modified"].flatMap({ HTTPDate.date($0, now: now) })
        else { return 0 }
        return min(max(0, date.timeIntervalSince(modified) / 10), longestGuess)
    }

    var isFresh: Bool { lifetime > age && !cacheControl.noCache }
    /// True for a response that never changes while it is fresh, so that even a reload need not ask (RFC 8246).
    var isImmutable: Bool { cacheControl.immutable && isFresh }

    /// The use that a request may make of the response.
    /// - Parameter headers: The header fields of the request.
    func use(for headers: [String: String] = [:]) -> Use {
        let wanted = RequestDirectives(headers)
        guard Self.mayStore(response, for: headers) else { return .fetch }
        guard !cacheControl.noCache, !wanted.noCache else { return .revalidate }
        let lifetime = min(self.lifetime, wanted.cacheControl.maxAge ?? .infinity)
        if lifetime - age >= wanted.cacheControl.minFresh ?? 0, lifetime > age { return .use }
        guard !cacheControl.mustRevalidate, age < .infinity else { return .revalidate }
        let staleness = age - lifetime
        if let maxStale = wanted.cacheControl.maxStale, staleness <= maxStale { return .useStale }
        // A request that limits the age doesn't want an older answer.
        guard wanted.cacheControl.maxAge == nil, wanted.cacheControl.minFresh == nil else { return .revalidate }
        if let window = cacheControl.staleWhileRevalidate, window > 0, staleness <= window { return .useAndRevalidate }
        return .revalidate
    }

    /// True if the response may be used although it is stale and the source can't be asked (sections 4.2.4 and 5.2.2; RFC 5861, section 4).
    var mayBeUsedWithoutSource: Bool {
        guard !cacheControl.noCache, !cacheControl.noStore || cacheControl.mustUnderstand,
            !(cacheControl.mustRevalidate && !isFresh)
        else { return false }
        return cacheControl.staleIfError.map { age - lifetime <= $0 } ?? true
    }

    /// Returns true if the response to a request may be stored and used again (section 3).
    static func mayStore(_ response: StoredResponse, for headers: [String: String] = [:]) -> Bool {
        guard let status = response.statusCode else { return true }
        guard (200..<600).contains(status), status != 206, status != 304 else { return false }
        let cacheControl = CacheControl(response.headers["cache-control"])
        if cacheControl.mustUnderstand {
            guard heuristicStatuses.contains(status) else { return false }
        } else if cacheControl.noStore {
            return false
        }
        let wanted = RequestDirectives(headers)
        guard !wanted.cacheControl.noStore, !wanted.hasRange else { return false }
        return heuristicStatuses.contains(status) || cacheControl.maxAge != nil || cacheControl.isPublic
            || cacheControl.isPrivate || response.headers["expires"] != nil
    }
}

/// The wishes of a request for cached responses (RFC 9111, sections 5.2.1 and 5.4).
struct RequestDirectives {
    var cacheControl = CacheControl(nil)
    var noCache = false
    /// True if the request asks for a part.
    var hasRange = false

    init(_ headers: [String: String]) {
        guard !headers.isEmpty else { return }
        var pragma: String?
        var hasCacheControl = false
        for (name, value) in headers {
            switch name.lowercased() {
            case "cache-control":
                cacheControl = CacheControl(value)
                hasCacheControl = true
            case "pragma": pragma = value
            case "range": hasRange = true
            default: break
            }
        }
        noCache = cacheControl.noCache || (!hasCacheControl && pragma?.lowercased() == "no-cache")
    }
}
