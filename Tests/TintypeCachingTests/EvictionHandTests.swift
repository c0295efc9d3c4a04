import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages

@Suite("Disk cache: the hand that evicts", .timeLimited)
struct EvictionHandTests {
    private static let start: Int64 = 1_700_000_000_000_000

    /// Requests for images whose popularity follows Zipf's law, with their sizes in bytes.
    private func requests(_ count: Int, images: Int = 5_000, seed: UInt64 = 7) -> [(name: EntryName, size: Int)] {
        var generator = SeededRandom(seed: seed)
        var sums: [Double] = []
        for rank in 1...images { sums.append((sums.last ?? 0) + 1 / Double(rank)) }
        let names = (0..<images).map { _ in
            EntryName(source: .random(in: 0 ... .max, using: &generator), variant: 0)
        }
        let sizes = (0..<images).map { _ in Int.random(in: 1...60, using: &generator) * 4_096 }
        return (0..<count).map { _ in
            let place = Double.random(in: 0..<(sums.last ?? 1), using: &generator)
            var (low, high) = (0, images - 1)
            while low < high {
                let middle = (low + high) / 2
                if sums[middle] > place { high = middle } else { low = middle + 1 }
            }
            return (names[low], sizes[low])
        }
    }

    /// The hits of a cache that knows the order of all uses.
    private func exactHits(_ requests: [(name: EntryName, size: Int)], capacity: Int) -> Int {
        var lastUse: [EntryName: Int] = [:]
        var uses: [EntryName] = []
        var (oldest, bytes, hits) = (0, 0, 0)
        for (time, request) in requests.enumerated() {
            if lastUse.updateValue(time, forKey: request.name) == nil { bytes += request.size } else { hits += 1 }
            uses.append(request.name)
            while bytes > capacity {
                // The name's later uses are further on.
                if lastUse[uses[oldest]] == oldest {
                    lastUse[uses[oldest]] = nil
                    bytes -= requests[oldest].size
                }
                oldest += 1
            }
        }
        return hits
    }

    @Test(
        "One process never exceeds the capacity after a store, and hits as often as exact LRU",
        .capability("CDK-06"), arguments: [0.01, 0.05, 0.1], [0.1, 100])
    func exactness(share: Double, requestsPerSecond: Double) {
        let requests = requests(60_000)
        let footprint = Dictionary(requests.map { ($0.name, $0.size) }) { one, _ in one }.values.reduce(0, +)
        let capacity = Int(Double(footprint) * share)
        var generator = SeededRandom(seed: 1)
        var directory = SimulatedDirectory()
        var process = SimulatedProcess(capacity: capacity, using: &generator)
        var most = 0
        for (index, request) in requests.enumerated() {
            let time = Self.start + Int64(Double(index) / requestsPerSecond * 1e6)
            process.request(request.name, size: request.size, in: &directory, at: time)
            most = max(most, directory.usage.bytes)
        }
        #expect(most <= capacity)
        #expect(process.hand.sizes.total == directory.usage)
        let exact = exactHits(requests, capacity: capacity)
        let loss = Double(exact - process.hits) / Double(requests.count)
        #expect(loss < 0.003, "exact LRU has \(exact) hits")
        #expect(Double(process.listed) / Double(process.evicted) < 12)
    }

    @Test("A clock that goes back a day costs no hits")
    func clockSetBack() {
        let requests = requests(60_000)
        func hits(jump: Int64) -> Int {
            var generator = SeededRandom(seed: 1)
            var directory = SimulatedDirectory()
            var process = SimulatedProcess(capacity: 20_000_000, using: &generator)
            for (index, request) in requests.enumerated() {
                let time = Self.start + Int64(index) * 100_000 - (index > 30_000 ? jump : 0)
                process.request(request.name, size: request.size, in: &directory, at: time)
            }
            #expect(directory.usage.bytes <= 20_000_000)
            return process.hits
        }
        #expect(abs(hits(jump: 86_400_000_000) - hits(jump: 0)) < 10)
    }

    @Test("Two processes that store at the same time stay near the capacity")
    func twoProcesses() {
        let requests = requests(80_000)
        var generator = SeededRandom(seed: 3)
        var directory = SimulatedDirectory()
        let capacity = 300_000_000
        var processes = (0..<2).map { _ in SimulatedProcess(capacity: capacity, using: &generator) }
        var most = 0
        for (index, request) in requests.enumerated() {
            let process = Int.random(in: 0..<2, using: &generator)
            let time = Self.start + Int64(index) * 100_000
            processes[process].request(request.name, size: request.size, in: &directory, at: time)
            most = max(most, directory.usage.bytes)
        }
        #expect(directory.usage.entries > 2_000)
        #expect(most <= capacity / 100 * 107)
    }

    @Test("Processes of 20 requests hold the capacity, because each reads what the one before it saw")
    func shortProcesses() throws {
        let requests = requests(40_000)
        var generator = SeededRandom(seed: 4)
        var directory = SimulatedDirectory()
        var saved: Data?
        var most = 0
        for start in stride(from: 0, to: requests.count, by: 20) {
            var process = SimulatedProcess(capacity: 30_000_000, using: &generator)
            if let saved {
                process.hand.sizes = try #require(FolderSizes(saved))
            }
            for index in start..<start + 20 {
                let time = Self.start + Int64(index) * 100_000
                process.request(requests[index].name, size: requests[index].size, in: &directory, at: time)
                most = max(most, directory.usage.bytes)
            }
            saved = process.hand.sizes.encoded
        }
        #expect(most <= 30_000_000)
        #expect(try #require(saved).count < 4_096)
    }

    @Test("Among a few entries, the least recently used one goes first, also after the clock was set back")
    func fewEntries() {
        var generator = SeededRandom(seed: 5)
        var directory = SimulatedDirectory()
        var process = SimulatedProcess(capacity: 5 * 4_096, using: &generator)
        let names = (0..<40).map { _ in EntryName(source: .random(in: 0 ... .max, using: &generator), variant: 0) }
        for (index, name) in names.enumerated() {
            process.request(name, size: 4_096, in: &directory, at: Self.start + Int64(index) * 10_000_000)
        }
        #expect(Set(directory.folders.flatMap(\.keys)) == Set(names.suffix(5)))
        let later = (0..<2).map { _ in EntryName(source: .random(in: 0 ... .max, using: &generator), variant: 0) }
        for name in later { process.request(name, size: 4_096, in: &directory, at: Self.start - 86_400_000_000) }
        #expect(Set(directory.folders.flatMap(\.keys)) == Set(names.suffix(3) + later))
    }

    @Test("Sizes that are wrong come right, and entries that can't go end the search", .timeLimited)
    func wrongSizes() {
        var hand = EvictionHand()
        var wrong = FolderSizes()
        for folder in 0..<EntryName.folders { wrong[folder] = CacheUsage(entries: 1_000, bytes: 1 << 40) }
        hand.sizes = wrong
        let stuck = EvictionHand.Listed(name: EntryName(source: 1, variant: 0), size: 8_192, modified: 0)
        var (listed, tries) = (0, 0)
        while let step = hand.nextStep(toMeet: CacheUsage(), listed: &listed, now: 1) {
            switch step {
            case .list(let visit): hand.noteListing(visit.folder == 0 ? [stuck] : [], of: visit, now: 1)
            case .evict(let entry):
                tries += 1
                hand.noteFailedEviction(of: entry)
            }
        }
        #expect(tries == 1)
        #expect(hand.sizes.total == CacheUsage(entries: 1, bytes: 8_192))
    }

    @Test("What was stored while a folder was listed isn't forgotten")
    func storeDuringListing() {
        var hand = EvictionHand()
        let visit = hand.visit(3)
        _ = hand.noteStore(of: 4_096, replacing: 0, in: 3)
        hand.noteListing([], of: visit, now: 0)
        #expect(hand.sizes[3] == CacheUsage(entries: 1, bytes: 4_096))
    }

    @Test("A damaged file of sizes is none")
    func damagedSizes() {
        let whole = FolderSizes(evictionAge: 5).encoded
        #expect(FolderSizes(whole)?.evictionAge == 5)
        for count in [0, 7, 16, whole.count - 1] { #expect(FolderSizes(whole.prefix(count)) == nil) }
        var marked = whole
        marked[0] ^= 1
        #expect(FolderSizes(marked) == nil)
    }
}
