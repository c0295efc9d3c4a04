internal import ArgumentParser
internal import Tintype

/// A cache policy as the command line spells it.
enum CachePolicyArgument: String, ExpressibleByArgument, CaseIterable {
    case cacheFirst = "cache-first"
    case http
    case staleWhileRevalidate = "stale-while-revalidate"
    case revalidate
    case reload
    case cacheOnly = "cache-only"

    var policy: CachePolicy {
        switch self {
        case .cacheFirst: .cacheFirst
        case .http: .http
        case .staleWhileRevalidate: .staleWhileRevalidate
        case .revalidate: .revalidate
        case .reload: .reload
        case .cacheOnly: .cacheOnly
        }
    }
}
