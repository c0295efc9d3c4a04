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
}
