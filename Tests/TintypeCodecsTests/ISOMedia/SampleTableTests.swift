#if HEIF
import Foundation
import TestSupport
import Testing
import TintypeImages
import TintypeTesting

@testable import TintypeCodecs

@Suite("Sample tables", .timeLimited)
struct SampleTableTests {
    private func table(_ contents: Data, maximumCount: Int = 1_000) throws -> SampleTable {
        try contents.withUnsafeBytes { bytes in
            try SampleTable(MediaBox(type: "stbl", contents: bytes), maximumCount: maximumCount)
        }
    }

    /// For each sample in the order of showing, the sample that decoding starts with.
    /// - Parameter alone: the samples that need no other; `nil` for all.
    private func starts(_ table: SampleTable, alone: [Int]? = nil) throws -> [Int] {
        try (0..<table.count).map { rank in
            try table.decodingStart(forRank: rank) { sample in
                alone?.contains { table.samples[$0] == sample } ?? true
            }
        }
    }

    private func track(_ count: Int) -> TestMovie.Track {
        var track = TestMovie.Track()
        track.samples = (0..<count).map { Data(count: 10 + $0) }
        track.delays = (0..<count).map { 100 + $0 }
        return track
    }

    /// `stbl` with one sample in each of its chunks, and sizes in a box of the caller.
    private func contents(sizes: Data, count: Int, offsets: Data? = nil) -> Data {
        TestMovie.list("stts", [count, 10], fieldsPerEntry: 2) + sizes
            + TestMovie.list("stsc", [1, 1, 1], fieldsPerEntry: 3)
            + (offsets ?? TestMovie.list("stco", (0..<count).map { 1_000 * $0 }, fieldsPerEntry: 1))
    }

    @Test("Samples lie behind each other in their chunks", arguments: [1, 2, 3, 7, 100], [false, true])
    func chunks(perChunk: Int, has64BitOffsets: Bool) throws {
        var track = track(7)
        track.samplesPerChunk = perChunk
        track.has64BitOffsets = has64BitOffsets
        let table = try table(TestMovie.sampleTable(track, offset: 500))
        var offset = 500
        for (index, sample) in table.samples.enumerated() {
            #expect(sample.bytes == offset..<offset + 10 + index)
            offset += 10 + index
        }
        #expect(table.end == offset && table.samples.allSatisfy(\.isSync))
        #expect(table.durations == track.delays && table.order == Array(0..<7))
    }

    @Test("Offsets change the order of showing, negative ones too; durations are the times between")
    func order() throws {
        var track = track(4)
        track.delays = [10, 10, 10, 10]
        // Decoded 0 1 2 3, shown 0 2 1 3.
        track.offsets = [0, 10, -10, 0]
        track.syncSamples = [1, 4]
        let table = try table(TestMovie.sampleTable(track, offset: 0))
        #expect(table.order == [0, 2, 1, 3] && table.ranks == [0, 2, 1, 3])
        #expect(table.durations == [10, 10, 10, 10])
        #expect(table.samples.map(\.isSync) == [true, false, false, true])
        #expect(try starts(table) == [0, 0, 0, 3])
    }

    @Test("A sample that is listed as sync, but needs others, is passed over; the first counts always")
    func dependent() throws {
        var track = track(6)
        track.delays = Array(repeating: 10, count: 6)
        let unlisted = try table(TestMovie.sampleTable(track, offset: 0))
        #expect(try starts(unlisted, alone: [0, 3]) == [0, 0, 0, 3, 3, 3])
        #expect(try starts(unlisted, alone: []) == [0, 0, 0, 0, 0, 0])
        track.syncSamples = [1, 3, 5]
        let listed = try table(TestMovie.sampleTable(track, offset: 0))
        #expect(try starts(listed, alone: [0, 3, 4]) == [0, 0, 0, 0, 4, 4])
    }

    @Test("What is shown before a sync sample that it is decoded behind is decoded from the one before")
    func leading() throws {
        var track = track(4)
        track.delays = [10, 10, 10, 10]
        // The sync sample 2 is shown last; 3 and 4 are decoded behind it.
        track.offsets = [0, 20, -10, -10]
        track.syncSamples = [1, 2]
        let table = try table(TestMovie.sampleTable(track, offset: 0))
        #expect(table.order == [0, 2, 3, 1])
        #expect(try starts(table) == [0, 0, 0, 1])
    }

    @Test("Sizes of one value, and of 4, 8 and 16 bits")
    func sizes() throws {
        let one = TestMovie.box("stsz", TestMovie.numbers([0, 77, 3]))
        #expect(try table(contents(sizes: one, count: 3)).samples.map(\.bytes.count) == [77, 77, 77])
        let packed: [(Int, [UInt8], [Int])] = [
            (4, [0x12, 0x30], [1, 2, 3]), (8, [9, 200, 3], [9, 200, 3]), (16, [1, 0, 0, 5, 2, 1], [256, 5, 513]),
        ]
        for (bits, bytes, expected) in packed {
            let box = TestMovie.box("stz2", TestMovie.numbers([0, bits, 3]) + Data(bytes))
            #expect(try table(contents(sizes: box, count: 3)).samples.map(\.bytes.count) == expected)
        }
        let odd = TestMovie.box("stz2", TestMovie.numbers([0, 5, 3]) + Data(count: 8))
        expectCode(.corruptImage) { try table(contents(sizes: odd, count: 3)) }
    }

    @Test("A count that no memory could hold is over the limit, and a list that is too short is damage")
    func counts() throws {
        let endless = TestMovie.box("stsz", TestMovie.numbers([0, 1, 0xFFFF_FFFF]))
        expectCode(.limitExceeded) { try table(contents(sizes: endless, count: 1)) }
        let short = TestMovie.box("stsz", TestMovie.numbers([0, 0, 900, 1, 2]))
        expectCode(.corruptImage) { try table(contents(sizes: short, count: 1)) }
        // Fewer chunks than samples.
        let one = TestMovie.box("stsz", TestMovie.numbers([0, 5, 3]))
        let chunk = TestMovie.list("stco", [0], fieldsPerEntry: 1)
        expectCode(.corruptImage) { try table(contents(sizes: one, count: 3, offsets: chunk)) }
        // Offsets at the end of what numbers can say.
        let far = TestMovie.box(
            "co64", TestMovie.numbers([0, 3]) + Data(repeating: 0xFF, count: 8) + Data(count: 16))
        expectCode(.corruptImage) { try table(contents(sizes: one, count: 3, offsets: far)) }
    }

    @Test("Samples coded in several ways are refused")
    func descriptions() throws {
        let sizes = TestMovie.box("stsz", TestMovie.numbers([0, 5, 1]))
        let table = TestMovie.list("stts", [1, 10], fieldsPerEntry: 2) + sizes
        let chunks =
            TestMovie.list("stsc", [1, 1, 2], fieldsPerEntry: 3) + TestMovie.list("stco", [0], fieldsPerEntry: 1)
        expectCode(.formatNotEnabled) { try self.table(table + chunks) }
    }

    @Test("Random damage ends in a table or an error")
    func damage() throws {
        var track = track(20)
        track.offsets = (0..<20).map { $0 % 3 * 10 }
        track.syncSamples = [1, 8, 15]
        let contents = TestMovie.sampleTable(track, offset: 100)
        var generator = SeededRandom(seed: 5)
        var readable = 0
        for _ in 0..<2_000 {
            let damaged = contents.damaged(Int.random(in: 1...4, using: &generator), using: &generator)
            guard let table = try? table(damaged) else { continue }
            readable += 1
            #expect(table.durations.count == table.count && table.order.sorted() == Array(0..<table.count))
            for (rank, start) in try starts(table).enumerated() { #expect(start <= table.order[rank]) }
        }
        #expect(readable > 0 && readable < 2_000)
    }
}
#endif
