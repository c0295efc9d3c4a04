#if HTTP
import Foundation
import Testing
import TintypeLoading
import TintypeHTTP
import TintypeTesting

/// 5,000 bytes to be loaded.
let bytes = Data((0..<5_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })

/// The error of a load that must fail.
func failure(
    _ downloader: ImageDownloader, _ request: LoadRequest, sourceLocation: SourceLocation = #_sourceLocation
) async throws -> ImageError {
    do throws(ImageError) {
        let loaded = try await downloader.load(request)
        Issue.record("loaded \(loaded.data.count) bytes", sourceLocation: sourceLocation)
        return ImageError(.badResponse, stage: .load, reason: "it did not fail")
    } catch {
        return error
    }
}

/// Collects what a load reports.
final class Reports: Sendable {
    let all = Watched<[LoadProgress]>([])

    func request(
        _ url: URL, headers: [String: String] = [:], priority: WorkPriority = WorkPriority()
    ) -> LoadRequest {
        LoadRequest(url: url, headers: headers, priority: priority) { [all] report in all.update { $0.append(report) } }
    }

    func waitForBytes(_ count: Int) async throws {
        try await all.wait { ($0.last?.receivedBytes ?? 0) >= count }
    }
}

extension OriginResponse {
    /// Closes the connection without a word.
    static var vanishing: OriginResponse {
        var response = OriginResponse()
        response.sendsHead = false
        response.steps = [.close]
        return response
    }
}

extension NetworkGuard {
    /// The guard with a resolver of the test.
    func asking(_ resolver: any HostResolving) -> NetworkGuard {
        var copy = self
        copy.resolver = resolver
        return copy
    }
}

extension RetryPolicy {
    /// The policy with fixed numbers in place of random ones.
    func jittering(_ jitter: @escaping @Sendable () -> Double) -> RetryPolicy {
        var copy = self
        copy.jitter = jitter
        return copy
    }
}

extension ImageDownloader.Configuration {
    /// A configuration that continues transfers of which another downloader has kept the beginnings.
    static func continuing(_ partials: PartialDownloads) -> Self {
        var configuration = Self()
        configuration.partialDownloads = partials
        return configuration
    }
}
#endif
