import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeImages

/// A machine that expectations can change.
private final class Machine {
    private(set) var state = DecodeBudgetState(limit: 100)

    /// Asks, and gives the number under which one waits; `nil` if one does not.
    func ask(_ bytes: Int, _ priority: ImagePriority = .normal) -> Int? {
        if case .wait(let id) = state.request(bytes, priority: priority) { return id }
        return nil
    }

    func reserve(_ bytes: Int, priority: ImagePriority) -> Bool { state.reserve(bytes, priority: priority) }
    func reservePreview(_ bytes: Int) -> Bool { state.reservePreview(bytes) }
    func release(_ bytes: Int, isPreview: Bool = false) -> [Int] { state.release(bytes, isPreview: isPreview) }
    func leave(_ id: Int) -> (wasWaiting: Bool, admitted: [Int]) { state.leave(id) }
    func move(_ id: Int, to priority: ImagePriority) -> [Int] { state.move(id, to: priority) }
    func setLimit(_ limit: Int) -> [Int] { state.setLimit(limit) }
}

@Suite("The decisions of the decode budget", .timeLimited)
struct DecodeBudgetStateTests {
    private let machine = Machine()
    private var state: DecodeBudgetState { machine.state }

    @Test("The newest of equals is first if the budget is made so, and overtakes those that wait")
    func newestFirst() {
        var state = DecodeBudgetState(limit: 100, newestFirst: true)
        #expect(state.request(60, priority: .normal) == .granted)
        #expect(state.request(90, priority: .normal) == .wait(1))
        #expect(state.request(80, priority: .normal) == .wait(2))
        #expect(state.request(70, priority: .high) == .wait(3))
        let (newer, lower) = (state.reserve(10, priority: .high), state.reserve(10, priority: .normal))
        #expect(newer && !lower, "the newer one overtakes the one that waits, a lower priority does not")
        #expect(state.release(10, isPreview: false) == [])
        #expect(state.release(60, isPreview: false) == [3])
        #expect(state.release(70, isPreview: false) == [2])
        #expect(state.release(80, isPreview: false) == [1])
    }

    @Test("What fits begins at once, what does not waits until enough is given back", .capability("3.1"))
    func room() {
        #expect(machine.ask(60) == nil && machine.ask(40) == nil)
        let first = machine.ask(30)
        let second = machine.ask(30)
        #expect(first != nil && second != nil && state.waiting == 2 && state.reservedBytes == 100)
        #expect(machine.release(60) == [first, second].compactMap { $0 })
        #expect(state.reservedBytes == 100 && state.waiting == 0 && state.peakBytes == 100)
    }

    @Test("The most urgent is next, and of those the first that came")
    func order() {
        #expect(machine.ask(100) == nil)
        let waiting = [ImagePriority.low, .normal, .veryHigh, .normal, .veryHigh].map { machine.ask(100, $0) }
        var order: [Int?] = []
        for _ in waiting { order.append(machine.release(100).first) }
        #expect(order == [2, 4, 1, 3, 0].map { waiting[$0] })
    }

    @Test("A small image does not pass a large one that is as urgent, and may pass one that is less")
    func starvation() {
        #expect(machine.ask(60) == nil)
        let large = machine.ask(70)
        #expect(large != nil)
        let small = machine.ask(10)
        #expect(small != nil, "or the large one might wait for ever")
        #expect(machine.ask(10, .high) == nil)
        #expect(!machine.reserve(10, priority: .normal))
        #expect(machine.release(60) == [large, small].compactMap { $0 })
    }

    @Test("An image that takes more than all there is decodes alone")
    func oversized() {
        #expect(machine.ask(10) == nil)
        let huge = machine.ask(500)
        #expect(huge != nil)
        #expect(machine.release(10) == [huge].compactMap { $0 })
        let next = machine.ask(1)
        #expect(next != nil)
        #expect(machine.release(500) == [next].compactMap { $0 })
        #expect(machine.ask(DecodeBudgetState.most) != nil && state.reservedBytes == 1)
    }

    @Test("Who leaves lets those behind in, and who has been let in cannot leave")
    func leaving() {
        #expect(machine.ask(60) == nil)
        let large = machine.ask(70) ?? 0
        let small = machine.ask(20) ?? 0
        let left = machine.leave(large)
        #expect(left.wasWaiting && left.admitted == [small])
        #expect(!machine.leave(small).wasWaiting && !machine.leave(large).wasWaiting && state.reservedBytes == 80)
    }

    @Test("A change of priority counts while one waits")
    func moving() {
        #expect(machine.ask(100) == nil)
        let first = machine.ask(100) ?? 0
        let second = machine.ask(100) ?? 0
        #expect(machine.move(second, to: .high) == [])
        #expect(machine.release(100) == [second])
        #expect(machine.move(second, to: .low) == [], "has been let in")
        #expect(machine.release(100) == [first])
        // Becoming more urgent than one that does not fit lets in.
        #expect(machine.release(100) == [])
        #expect(machine.ask(50) == nil)
        _ = machine.ask(60)
        let small = machine.ask(50) ?? 0
        #expect(machine.move(small, to: .high) == [small])
    }

    @Test("Previews get a quarter, none while somebody waits, and no decode waits for them to end")
    func previews() {
        #expect(machine.reservePreview(20) && !machine.reservePreview(10) && machine.reservePreview(5))
        #expect(machine.ask(100) == nil, "alone, though previews hold memory")
        let waiting = machine.ask(10)
        #expect(waiting != nil)
        #expect(machine.release(20, isPreview: true) == [])
        #expect(!machine.reservePreview(1))
        #expect(machine.release(100) == [waiting].compactMap { $0 })
        #expect(state.previewBytes == 5 && state.reservedBytes == 15)
    }

    @Test("A higher limit lets in, a lower one ends nothing")
    func limits() {
        #expect(machine.ask(80) == nil)
        let waiting = machine.ask(80) ?? 0
        #expect(machine.setLimit(200) == [waiting])
        #expect(machine.setLimit(0) == [] && state.limit == 1 && state.reservedBytes == 160)
    }

    @Test("In any order of asking, leaving and ending, the limit is kept and everybody's turn comes", arguments: 0..<20)
    func anyOrder(seed: UInt64) {
        var generator = SeededRandom(seed: seed)
        var running: [Int] = []
        var waiting: [Int: Int] = [:]
        var turns = 0
        func admit(_ ids: [Int]) {
            for id in ids {
                guard let bytes = waiting.removeValue(forKey: id) else {
                    Issue.record("\(id) did not wait")
                    continue
                }
                running.append(bytes)
                turns += 1
            }
        }
        func check() {
            #expect(state.decodes == running.count && state.waiting == waiting.count)
            #expect(state.decodeBytes == running.reduce(0, +))
            #expect(state.decodeBytes <= 100 || running.count == 1)
            #expect(!running.isEmpty || waiting.isEmpty, "somebody waits for nothing")
        }
        for _ in 0..<400 {
            switch Int.random(in: 0..<5, using: &generator) {
            case 0, 1:
                let bytes = Int.random(in: 1...130, using: &generator)
                let priority = ImagePriority.allCases.randomElement(using: &generator) ?? .normal
                if let id = machine.ask(bytes, priority) { waiting[id] = bytes } else { running.append(bytes) }
            case 2:
                guard let id = waiting.keys.sorted().randomElement(using: &generator) else { break }
                waiting[id] = nil
                let (wasWaiting, admitted) = machine.leave(id)
                #expect(wasWaiting)
                admit(admitted)
            case 3:
                guard let id = waiting.keys.sorted().randomElement(using: &generator) else { break }
                admit(machine.move(id, to: ImagePriority.allCases.randomElement(using: &generator) ?? .normal))
            default:
                guard !running.isEmpty else { break }
                let bytes = running.remove(at: Int.random(in: 0..<running.count, using: &generator))
                admit(machine.release(bytes))
            }
            check()
        }
        while let bytes = running.popLast() {
            admit(machine.release(bytes))
            check()
        }
        #expect(waiting.isEmpty && state.reservedBytes == 0 && turns > 0)
    }
}
