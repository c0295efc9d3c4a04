import TestSupport
import Testing

@testable import TintypeImages
@testable import TintypeLoading

/// Explores every order of the steps of a few loads.
@Suite("Shared work: every interleaving", .timeLimited)
struct SharedWorkStateTests {
    typealias Model = SharedWorkModel
    typealias Request = Model.Request

    static let scenarios: [(name: String, scenario: Model.Scenario)] = [
        (
            "two equal callers, either cancels",
            .init(requests: [Request(mayCancel: true), Request(mayCancel: true)], mostTransfers: 1)
        ),
        (
            "two sizes of one URL, either cancels",
            .init(requests: [Request(mayCancel: true), Request(size: 2, mayCancel: true)], mostTransfers: 1)
        ),
        (
            "only cached images, beside an ordinary request",
            .init(requests: [Request(policy: .cacheOnly), Request()], mostTransfers: 1)
        ),
        (
            "a retry beside an ordinary request after a failure",
            .init(requests: [Request(layers: []), Request(retriesFailed: true)], hasFailed: true, mostTransfers: 1)
        ),
        ("two users", .init(requests: [Request(mayCancel: true), Request(user: "bert")])),
        ("an expired and a fresh signature", .init(requests: [Request(isExpired: true, layers: []), Request()])),
        (
            "one caller stores nothing, another one does",
            .init(requests: [Request(mayCancel: true, layers: []), Request()])
        ),
        (
            "two reloads, while the picture changes",
            .init(requests: [Request(policy: .reload), Request(size: 2, policy: .reload)], serverChanges: true)
        ),
        (
            "an ordinary request beside a reload, while the picture changes",
            .init(requests: [Request(), Request(policy: .reload)], serverChanges: true)
        ),
        (
            "priorities that change, and previews",
            .init(
                requests: [
                    Request(mayCancel: true, priority: .low, laterPriority: .veryHigh),
                    Request(size: 2, priority: .high, laterPriority: .veryLow, previews: true),
                ], mostTransfers: 1)
        ),
        (
            "a caller of the bytes beside one of the image",
            .init(
                requests: [Request(mayCancel: true), Request(mayCancel: true, layers: [], wantsBytes: true)])
        ),
        ("a loader that asks for its own image", .init(requests: [Request(mayCancel: true)], loaderAsksItself: true)),
        (
            "a loader that asks for its own image, in a reload",
            .init(requests: [Request(policy: .reload)], loaderAsksItself: true)
        ),
        (
            "three callers, two sizes, all may cancel",
            .init(
                requests: [Request(mayCancel: true), Request(mayCancel: true), Request(size: 2, mayCancel: true)],
                mostTransfers: 1)
        ),
    ]

    @Test(
        "In every order of steps each caller gets its own result, and nothing is loaded twice",
        .capability("DLR-12", "3.12"), arguments: scenarios.indices)
    func everyOrder(_ index: Int) {
        let (name, scenario) = Self.scenarios[index]
        let (states, failure) = Model.explore(scenario)
        #expect(failure == nil, "\(name): \(failure?.joined(separator: "\n") ?? "")")
        #expect(states > 5)
    }

    @Test("Without any one of the rules a scenario fails", arguments: Model.Rule.allCases)
    func ruleIsNeeded(_ rule: Model.Rule) {
        let failing = Self.scenarios.first { Model.explore($0.scenario, without: rule).failure != nil }
        #expect(failing != nil, "nothing fails without \(rule)")
    }

    @Test("Callers of one job get its result in the order in which they came", .capability("AFD-04"))
    func order() {
        var state = SharedWorkState<String>()
        var effects = SharedWorkState<String>.Effects()
        for id in 1...50 { _ = state.join("a", as: id, LoadWishes(), by: nil, &effects) }
        #expect(state.callers == Array(1...50))
        #expect(state.finish(1, stored: [], isKept: false, &effects))
        #expect(effects.ended.map(\.self) == Array(1...50))
    }

    @Test("A job that finds its value too old closes the job that it has, and joins a newer one that is under way")
    func newerValue() {
        var state = SharedWorkState<String>()
        var effects = SharedWorkState<String>.Effects()
        // Two images of a fetch that has ended.
        #expect(state.join("image", as: 1, LoadWishes(), by: nil, &effects) == .wait(1))
        #expect(state.join("thumbnail", as: 2, LoadWishes(), by: nil, &effects) == .wait(2))
        #expect(state.join("fetch", as: 3, nil, by: 1, &effects) == .wait(3))
        #expect(state.finish(3, stored: [], isKept: true, &effects))
        #expect(state.join("fetch", as: 4, nil, by: 2, &effects) == .ready(3))
        state.closeValue(of: 1)
        #expect(state.join("fetch", as: 5, nil, by: 1, &effects) == .wait(5))
        state.closeValue(of: 2)
        #expect(state.join("fetch", as: 6, nil, by: 2, &effects) == .wait(5))
    }
}
