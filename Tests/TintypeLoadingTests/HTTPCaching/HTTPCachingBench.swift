import FoundationEssentials

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

private let url = URL(string: "test:a")!

/// A manager whose clock the test moves, and whose source sends what the test says.
struct HTTPCachingBench {
    let bench: ManagerBench
    let now = Lock(Date(timeIntervalSince1970: 1_000_000_000))
    let network = Lock(NetworkStatus.online)
    let answer = Lock<Result<LoadedData, ImageError>>(
        .failure(ImageError(.connectionFailed, stage: .load, reason: "no")))

    init(policy: CachePolicy = .http) {
        var configuration = ImageManager.Configuration.still
        configuration.cachePolicy = policy
        configuration.failureLifetime = { _, _ in .zero }
        configuration.date = { [now] in now.withLock { $0 } }
        configuration.networkStatus = { [network] in network.withLock { $0 } }
        bench = ManagerBench(configuration: configuration) { [answer] _ in answer.withLock { $0 } }
    }

    func send(_ control: String?, size: Int = 8, status: Int = 200, vary: String? = nil, tag: String? = "\"1\"") {
        var loaded = LoadedData.dot(size: size, validators: tag.map { CacheValidators(entityTag: $0) })
        loaded.statusCode = status
        loaded.headers["cache-control"] = control
        loaded.headers["vary"] = vary
        answer.withLock { $0 = .success(loaded) }
    }

    func confirm(_ control: String? = nil) {
        var loaded = LoadedData.notModified(url: url, statusCode: 304)
        loaded.headers["cache-control"] = control
        answer.withLock { $0 = .success(loaded) }
    }

    func fail(status: Int? = nil) {
        let code: ImageError.Code = status == nil ? .connectionFailed : .badStatus
        answer.withLock { $0 = .failure(ImageError(code, stage: .load, reason: "no", statusCode: status)) }
    }

    func wait(_ seconds: Double) { now.withLock { $0 += seconds } }

    func request(_ headers: [String: String] = [:], policy: CachePolicy? = nil) -> ImageRequest {
        var request = ImageRequest(url, cachePolicy: policy, headers: headers)
        request.cache.waitsForStore = true
        return request
    }

    func load(_ headers: [String: String] = [:], policy: CachePolicy? = nil) async throws -> ImageResult {
        try await bench.manager.load(request(headers, policy: policy))
    }

    var loads: Int { bench.loader.calls.count }
    func forgetMemory() { bench.cache.change { $0.memory = [:] } }
}

extension Freshness {
    var name: String {
        switch self {
        case .cached: "cached"
        case .fresh: "fresh"
        case .notModified: "not modified"
        case .updated: "updated"
        case .stale(let reason):
            switch reason {
            case .failed(let error): "failed: \(error.code)"
            case .revalidating: "revalidating"
            case .allowed: "allowed"
            case .lowData: "low data"
            case .offline: "offline"
            }
        }
    }
}
