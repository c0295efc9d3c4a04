import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TintypeCore

@Suite("Disk cache: files that have to go", .timeLimited)
struct DoomedFilesTests {
    private func files(_ ids: Range<Int64>) -> [StoredFile] { ids.map { StoredFile(id: $0, size: 1, hash: 1) } }

    @Test("each is given out once, and somebody is sent for them once")
    func order() {
        var doomed = DoomedFiles()
        // The macro cannot call what changes something.
        var sent = [doomed.schedule()]
        var isAdded = [doomed.add(files(0..<100))]
        sent += [doomed.schedule(), doomed.schedule()]
        #expect(sent == [false, true, false])

        var taken = doomed.take(limit: 64).map(\.id)
        #expect(taken.count == 64)
        isAdded.append(doomed.add(files(100..<110)))
        sent = [doomed.schedule()]
        #expect(sent == [false], "who is under way takes them too")
        taken += doomed.take(limit: 64).map(\.id)
        let rest = doomed.take(limit: 64)
        #expect(rest.isEmpty)
        #expect(taken.sorted() == Array(0..<110))

        sent = [doomed.schedule()]
        isAdded.append(doomed.add(files(0..<1)))
        sent.append(doomed.schedule())
        #expect(sent == [false, true])
        #expect(isAdded == [true, true, true])
    }

    @Test("no more wait than are allowed")
    func bound() {
        var doomed = DoomedFiles()
        let isAdded = [doomed.add(files(0..<Int64(DoomedFiles.maximum))), doomed.add(files(0..<1))]
        #expect(isAdded == [true, false])
    }

    @Test("after a flush there are as many files as entries, however many were evicted and replaced")
    func eviction() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/cache"
        let cache = DiskCache.temporary(path, maximumCount: 2_000)
        for round in 0..<3 {
            for number in 0..<1_000 {
                let isReplaced = number.isMultiple(of: 2)
                try await cache.put(someBytes(8), ImageKey(source: isReplaced ? "\(number)" : "\(round), \(number)"))
            }
        }
        cache.configuration.maximumCount = 300
        try await cache.put(someBytes(8), "last")
        await cache.flush()
        let entries = await cache.usage().entries
        #expect((1...300).contains(entries))
        let data = path + "/data"
        let files = try FileManager.default.contentsOfDirectory(atPath: data).map {
            try FileManager.default.contentsOfDirectory(atPath: "\(data)/\($0)").count
        }
        #expect(files.reduce(0, +) == entries)
    }
}
