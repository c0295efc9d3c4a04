internal import FoundationEssentials

/// The use that a load makes of a cached image.
enum CacheDecision: Sendable {
    /// The image is the result. If it is ``StaleReason/revalidating``, the source is asked in the background.
    case use(Freshness)
    /// The source is asked whether the image is current.
    case revalidate
    /// The image is of no use.
    case fetch
    /// The image must not be used, and the source can't be asked.
    case fail
}

extension CachePolicy {
    /// Decides how a load uses a cached image.
    /// - Parameters:
    ///   - response: The response that brought the image; `nil` if the program stored it, or an older version of the library.
    ///   - isFile: True for a file, which may change at any time.
    ///   - headers: The header fields of the request.
    ///   - network: The connection, as the program reports it. Called only if it matters.
    func decision(
        for response: StoredResponse?, isFile: Bool, headers: [String: String], now: Date, network: () -> NetworkStatus
    ) -> CacheDecision {
        let freshness = response.flatMap { $0.statusCode == nil ? nil : HTTPFreshness($0, now: now) }
        switch self {
        case .cacheFirst, .cacheOnly: return .use(.cached)
        case .reload: return .fetch
        case .revalidate:
            if freshness?.isImmutable == true { return .use(.cached) }
            return network().staleReason.map { .use(.stale($0)) } ?? .revalidate
        case .staleWhileRevalidate:
            if freshness?.use(for: headers) == .use { return .use(.cached) }
            return .use(.stale(network().staleReason ?? .revalidating))
        case .http:
            guard let freshness else { return isFile ? .revalidate : .use(.cached) }
            let use = freshness.use(for: headers)
            switch use {
            case .use: return .use(.cached)
            case .useStale: return .use(.stale(.allowed))
            case .useAndRevalidate: return .use(.stale(network().staleReason ?? .revalidating))
            case .revalidate, .fetch:
                let status = network()
                if let reason = status.staleReason, use == .revalidate, freshness.mayBeUsedWithoutSource {
                    return .use(.stale(reason))
                }
                if status == .offline { return .fail }
                return use == .revalidate ? .revalidate : .fetch
            }
        }
    }
}

/// The state of the network connection, as it affects loads.
public enum NetworkStatus: Sendable, Hashable {
    /// There is a connection.
    case online
    /// Data is limited or expensive: only images that aren't cached are loaded, and cached images aren't revalidated.
    case lowData
    /// There is no connection: no source is asked.
    case offline

    /// The reason for using a stale image.
    var staleReason: StaleReason? {
        switch self {
        case .online: nil
        case .lowData: .lowData
        case .offline: .offline
        }
    }
}

/// The reason why a load ended with an image that may be out of date.
public enum StaleReason: Sendable {
    /// The source failed when it was asked for a newer image.
    case failed(ImageError)
    /// The image is being revalidated in the background, for later loads.
    case revalidating
    /// The request allows stale images, with `max-stale`.
    case allowed
    /// The program reports that data is limited: ``NetworkStatus/lowData``.
    case lowData
    /// The program reports that there is no connection: ``NetworkStatus/offline``.
    case offline
}
