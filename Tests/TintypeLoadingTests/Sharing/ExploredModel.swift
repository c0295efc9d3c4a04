/// A model of which a test visits all states.
protocol ExploredModel: Hashable {
    associatedtype Scenario
    associatedtype Rule

    init(_ scenario: Scenario)
    /// What went wrong.
    var failure: String? { get }
    /// All states that can follow this one, with what happened.
    func next(_ scenario: Scenario, without rule: Rule?) -> [(step: String, state: Self, isNecessary: Bool)]
    /// The error of a state in which nothing is left to do.
    func failureAtRest(_ scenario: Scenario) -> String?
}

extension ExploredModel {
    /// Explores a scenario.
    /// - Returns: The number of states, and the steps to the first failure.
    static func explore(_ scenario: Scenario, without rule: Rule? = nil) -> (states: Int, failure: [String]?) {
        let start = Self(scenario)
        var origins: [Self: (index: Int, step: String)] = [start: (-1, "")]
        var states = [start]
        var index = 0
        func path(to last: Int, _ reason: String) -> [String] {
            var steps = [reason]
            var index = last
            while let origin = origins[states[index]], origin.index >= 0 {
                steps.insert(origin.step, at: 0)
                index = origin.index
            }
            return steps
        }
        while index < states.count {
            let next = states[index].next(scenario, without: rule)
            if !next.contains(where: \.isNecessary), let failure = states[index].failureAtRest(scenario) {
                return (states.count, path(to: index, failure))
            }
            for (step, state, _) in next where origins[state] == nil {
                origins[state] = (index, step)
                states.append(state)
                if let failure = state.failure { return (states.count, path(to: states.count - 1, failure)) }
            }
            index += 1
        }
        return (states.count, nil)
    }
}
