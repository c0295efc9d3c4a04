import TestSupport
import Testing

@testable import TintypeImages
@testable import TintypeLoading

/// Explores every order of the steps of loads that store, beside removals and refreshes.
@Suite("Stores and removals: every interleaving", .timeLimited)
struct StoreModelTests {
    typealias Scenario = StoreModel.Scenario

    static let scenarios: [(name: String, scenario: Scenario)] = [
        ("two sizes", Scenario(callers: [(1, false), (2, false)], mostTransfers: 1)),
        ("one size, three times", Scenario(callers: [(1, false), (1, false), (1, false)], mostTransfers: 1)),
        ("a load beside a removal", Scenario(callers: [(1, false)], removals: 1)),
        ("a load of what is on disk beside a removal", Scenario(callers: [(1, false)], removals: 1, isCached: true)),
        ("two equal loads beside a removal", Scenario(callers: [(1, false), (1, false)], removals: 1)),
        ("two sizes beside a removal", Scenario(callers: [(1, false), (2, false)], removals: 1)),
        ("a load beside two removals", Scenario(callers: [(1, false)], removals: 2, isCached: true)),
        ("a page that is no picture", Scenario(callers: [(1, false), (2, false)], sendsPages: true)),
        ("a reload of what is on disk", Scenario(callers: [(1, true)], isCached: true, mostTransfers: 1)),
        ("two sizes of a reload", Scenario(callers: [(1, true), (2, true)], isCached: true)),
        ("a reload beside a load", Scenario(callers: [(1, true), (1, false)])),
        ("a reload beside a load of what is on disk", Scenario(callers: [(1, true), (2, false)], isCached: true)),
        ("a reload beside a removal", Scenario(callers: [(1, true)], removals: 1, isCached: true)),
        ("two sizes of a reload beside a removal", Scenario(callers: [(1, true), (2, true)], removals: 1)),
    ]

    @Test(
        "In every order of steps nothing removed or replaced comes back, and no store is lost",
        .capability("CRM-01", "MGR-26", "OPT-03"), arguments: scenarios.indices)
    func everyOrder(_ index: Int) {
        let (name, scenario) = Self.scenarios[index]
        let (states, failure) = StoreModel.explore(scenario)
        #expect(failure == nil, "\(name): \(failure?.joined(separator: "\n") ?? "")")
        #expect(states > 5)
    }

    @Test("Without any one of the rules a scenario fails", arguments: StoreModel.Rule.allCases)
    func ruleIsNeeded(_ rule: StoreModel.Rule) {
        let failing = Self.scenarios.first { StoreModel.explore($0.scenario, without: rule).failure != nil }
        #expect(failing != nil, "nothing fails without \(rule)")
    }
}
