import FoundationEssentials

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

/// A manager with doubles for all its parts.
struct ManagerBench {
    let cache = DictionaryCache()
    let coder: DotCoder
    let loader: GatedLoader
    let manager: ImageManager

    init(
        coder: DotCoder = DotCoder(), configuration: ImageManager.Configuration = .still,
        answer: (@Sendable (URL) -> Result<LoadedData, ImageError>)? = { .success(.dot($0.absoluteString)) }
    ) {
        self.coder = coder
        loader = GatedLoader(answer)
        manager = ImageManager(
            cache: cache, loader: loader, coders: ImageCoders([coder]), configuration: configuration)
    }
}

extension ImageManager.Configuration {
    /// The default, with a clock that stands still: on a slow machine, a failure is forgotten before the test asks for it. The budget is
    /// not that of other tests, whose decodes would let one end and begin once more.
    static var still: Self {
        var configuration = Self()
        configuration.budget = DecodeBudget(limit: .megabytes(100))
        let now = ContinuousClock.now
        configuration.now = { now }
        return configuration
    }
}

extension ManagerBench {
    /// The error of a load.
    /// - Parameter copy: The manager to load with, in place of ``manager``.
    func failure(_ request: ImageRequest, with copy: ImageManager? = nil) async -> ImageError? {
        do throws(ImageError) {
            _ = try await (copy ?? manager).image(for: request)
            return nil
        } catch {
            return error
        }
    }
}

extension Result {
    var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}

extension ImageManager {
    /// The numbers of callers and jobs that wait for images, for bytes that aren't decoded, and for fetches.
    var waiting: (images: Int, data: Int, fetches: Int) {
        shared.work.waiting.reduce(into: (0, 0, 0)) { sum, entry in
            switch entry.key {
            case .image(let key) where key.product == .image: sum.0 += entry.value
            case .image: sum.1 += entry.value
            case .fetch: sum.2 += entry.value
            case .stores: break
            }
        }
    }

    /// The number of callers that wait for the disk.
    var storeWaits: Int { shared.work.waiting.keys.count { if case .stores = $0 { true } else { false } } }

    /// The number of failures that are remembered.
    var failureCount: Int { shared.failures.withLock { $0.count } }
}
