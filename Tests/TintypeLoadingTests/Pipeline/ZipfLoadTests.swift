import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

/// A transformer that records what it made.
private struct Recording: ImageTransformer {
    let key: String
    let made: Lock<Int>

    func transform(_ image: Image) throws -> Image {
        made.withLock { $0 += 1 }
        return image
    }
}

@Suite("Many loads of few images", .timeLimited)
struct ZipfLoadTests {
    /// Numbers that are drawn with a probability in proportion to 1 / (number + 1).
    private struct Zipf {
        private let sums: [Double]

        init(count: Int) {
            var sum = 0.0
            sums = (0..<count).map { index in
                sum += 1 / Double(index + 1)
                return sum
            }
        }

        func draw(_ random: inout SeededRandom) -> Int {
            let wanted = Double.random(in: 0..<(sums.last ?? 1), using: &random)
            var (low, high) = (0, sums.count - 1)
            while low < high {
                let middle = (low + high) / 2
                if sums[middle] > wanted { high = middle } else { low = middle + 1 }
            }
            return low
        }
    }

    @Test(
        "Of 10,000 requests for 500 URLs in 4 variants, each URL is loaded once, and each variant made once",
        .capability("DLR-09", "TRF-01"))
    func zipf() async throws {
        let bench = ManagerBench()
        let made = [Lock(0), Lock(0)]
        var random = SeededRandom(seed: 11)
        let zipf = Zipf(count: 500)
        let wanted = (0..<10_000).map { _ in (url: zipf.draw(&random), variant: Int.random(in: 0..<4, using: &random)) }
        let requests = try wanted.map { number, variant in
            var request = ImageRequest(try #require(URL(string: "test:\(number)")))
            if variant % 2 == 1 { request.thumbnailSize = PixelSize(width: 4, height: 4) }
            if variant >= 2 { request.transformer = Recording(key: "made\(variant)", made: made[variant - 2]) }
            return request
        }
        await withTaskGroup(of: Int.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    var failures = 0
                    for index in stride(from: worker, to: requests.count, by: 8) {
                        if (try? await bench.manager.image(for: requests[index])) == nil { failures += 1 }
                    }
                    return failures
                }
            }
            for await failures in group { #expect(failures == 0) }
        }
        let urls = Set(wanted.map(\.url))
        let variants = Set(wanted.map { $0.url * 4 + $0.variant })
        #expect(bench.loader.calls.count == urls.count)
        for variant in 2..<4 {
            let count = variants.count { $0 % 4 == variant }
            #expect(made[variant - 2].withLock { $0 } == count)
        }
        let statistics = bench.manager.statistics
        #expect(statistics.loads == 10_000 && statistics.active == 0 && statistics.downloads == urls.count)
        // Each variant is decoded at most once, a transformed one from an image that isn't in memory.
        #expect(bench.coder.decodes <= variants.count)
        #expect(statistics.memoryHits >= 10_000 - variants.count * 8)
    }
}
