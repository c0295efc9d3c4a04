import Foundation
import Tintype
import TintypeTesting

/// A program that loads images as a server or a desktop program does over months, with ever new URLs.
struct LongRunningProgram {
    private static let workers = 24
    /// The length of the rounds after which the program is idle for a moment, in seconds.
    private static let round = 5.0

    private let manager: ImageManager
    private let cache: ImageCache
    private let prefetcher: ImagePrefetcher
    private let base: URL
    private let names: [String]
    private let counter = Watched(0)

    init(base: URL, folder: String) throws {
        self.base = base
        names = try MisbehavingOrigin.names()
        cache = try ImageCache(
            memory: .init(capacity: .megabytes(16)),
            disk: .init(directory: folder + "/cache", capacity: .megabytes(24)))
        let downloader = ImageDownloader(
            .init(
                maximumConcurrentDownloads: 16, timeout: .milliseconds(500),
                retry: RetryPolicy(maximumAttempts: 3, baseDelay: .milliseconds(10), retriesPerMinute: 1_000_000),
                circuitBreaker: CircuitBreakerPolicy(failureThreshold: 20, pause: .milliseconds(100)),
                maximumDownloadsPerHost: 12, cookies: SessionCookies()))
        manager = ImageManager(cache: cache, loader: downloader)
        prefetcher = ImagePrefetcher(manager: manager)
    }

    /// Loads images in rounds.
    func run(for seconds: Double) async -> SoakReport {
        var report = SoakReport()
        let end = Date().addingTimeInterval(seconds)
        while Date() < end {
            let roundEnd = Date().addingTimeInterval(Self.round)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<Self.workers {
                    group.addTask { while Date() < roundEnd { await act() } }
                }
            }
            await cache.flush()
            let holdings = Holdings.now
            report.idle.append(holdings)
            report.statistics = manager.statistics
            let loads = report.statistics.loads
            print(
                "\(loads) loads; resident \(holdings.resident) KB, "
                    + "descriptors \(holdings.descriptors), threads \(holdings.threads)")
            fflush(nil)
        }
        return report
    }

    /// Returns the URL of an image: mostly of one that was asked for lately, and of a new one from time to time.
    private func url() -> URL {
        let newest = counter.update { counter in
            counter += 1
            return counter / 8
        }
        let number = max(0, newest - Int.random(in: 0..<200) * Int.random(in: 0..<2))
        return base.appending(path: "\(number)/\(names[number % names.count])")
    }

    private func request() -> ImageRequest {
        var request = ImageRequest(url())
        switch Int.random(in: 0..<6) {
        case 0..<3: request.thumbnailSize = PixelSize(width: 40 * Int.random(in: 1...4), height: 120)
        case 3: request.transformer = .resize(width: 64, height: 64, mode: .aspectFill).rounded(radius: 8)
        case 4: request.isProgressive = true
        default: break
        }
        request.priority = [.low, .normal, .high].randomElement() ?? .normal
        request.cachePolicy =
            [.cacheFirst, .cacheFirst, .http, .revalidate, .reload, .staleWhileRevalidate].randomElement() ?? .http
        request.cache.storesVariant = Int.random(in: 0..<4) == 0
        request.retriesFailed = Bool.random()
        return request
    }

    /// Does one of the things that programs do with images.
    private func act() async {
        switch Int.random(in: 0..<200) {
        case 0..<120: _ = try? await manager.image(for: request())
        case 120..<160: await cancelSoon()
        case 160..<175: await follow()
        case 175..<185: await prefetch()
        case 185..<195: await play()
        case 195..<199: try? await manager.removeAll(of: url())
        default: if Int.random(in: 0..<50) == 0 { try? await cache.removeAll(from: .all) }
        }
    }

    private func cancelSoon() async {
        let task = manager.task(for: request())
        try? await Task.sleep(for: .microseconds(Int.random(in: 0..<10_000)))
        task.cancel()
        _ = try? await task.image
    }

    private func follow() async {
        let task = manager.task(for: request())
        for await _ in task.events where Int.random(in: 0..<8) == 0 { task.priority = .high }
    }

    private func prefetch() async {
        let prefetch = prefetcher.prefetch((0..<10).map { _ in url() })
        for await progress in prefetch.progress where progress.finished > 5 { prefetch.cancel() }
    }

    private func play() async {
        guard let animated = try? await manager.image(for: url()).animation else { return }
        let player = AnimatedImagePlayer(animated)
        player.rate = 20
        player.loopCount = 1
        player.play()
        var shown = 0
        for await _ in player.frames {
            shown += 1
            if shown > 5 { break }
        }
    }
}
