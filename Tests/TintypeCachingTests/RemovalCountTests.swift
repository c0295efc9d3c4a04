import TestSupport
import Testing

@testable import TintypeCaching

@Suite("Counts of removals and replacements", .timeLimited)
struct RemovalCountTests {
    @Test("Sources that share a count don't hold up each other's replacements; an older image replaces no newer one")
    func sharedCount() {
        var count = RemovalCount()
        let before = count
        func begins(_ source: UInt64, _ number: Int) -> Bool {
            count.beginReplacement(of: source, by: number, since: before)
        }
        #expect(begins(1, 6))
        #expect(count.afterReplacement(by: 6, since: before) != nil)
        #expect(begins(2, 5))
        // The first one stores nothing then: nobody knows any longer which of them is newest.
        #expect(count.afterReplacement(by: 6, since: before) == nil)
        #expect(!begins(2, 4))
        #expect(begins(2, 7))
    }
    @Test("Newer bytes replace no image that the program has stored since they were asked for")
    func programsImage() {
        var count = RemovalCount()
        let before = count
        func begins(_ number: Int, since old: RemovalCount) -> Bool { count.beginReplacement(by: number, since: old) }
        #expect(begins(1, since: before))
        let first = count.afterReplacement(by: 1, since: before)
        count.endReplacement()
        count.beginReplacement()
        count.endReplacement()
        #expect(first.map { count.permitsStore(in: \.memory, since: $0) } == false)
        #expect(!begins(2, since: before))
        #expect(begins(3, since: count))
    }

    @Test("Newer bytes replace nothing that came after a removal of all that their source had in all layers")
    func wholeRemoval() {
        var count = RemovalCount()
        let before = count
        func removes(from layers: CacheLayers, isWhole: Bool) {
            count.beginRemoval(from: layers, isWhole: isWhole)
            count.endRemoval(from: layers, isWhole: isWhole)
        }
        func begins(_ number: Int, since old: RemovalCount) -> Bool { count.beginReplacement(by: number, since: old) }
        removes(from: .memory, isWhole: true)
        removes(from: .all, isWhole: false)
        #expect(begins(1, since: before))
        #expect(count.afterReplacement(by: 1, since: before) == nil)
        count.beginRemoval(from: .all, isWhole: true)
        let between = count
        #expect(!begins(2, since: before))
        count.endRemoval(from: .all, isWhole: true)
        #expect(!begins(2, since: between))
        #expect(begins(2, since: count))
    }

    @Test("Newer bytes of the same source, and of no other, keep an image of the program's from the disk")
    func storeBesideReplacement() {
        var count = RemovalCount()
        count.beginReplacement()
        let start = count
        let store = count.ofProgramsImage(since: start)
        func isPermitted(of source: UInt64) -> Bool { count.permitsStore(of: source, in: \.disk, since: store) }
        #expect(isPermitted(of: 1))
        let begins = count.beginReplacement(of: 1, by: 1, since: start)
        #expect(begins && !isPermitted(of: 1) && isPermitted(of: 2))
        count.endReplacement()
        #expect(!count.permitsStore(of: 1, in: \.disk, since: count.ofProgramsImage(since: start)))
        count.beginRemoval(from: .all, isWhole: false)
        #expect(!isPermitted(of: 2))
    }
}
