internal import TintypeLoading

extension ImagePriority {
    /// The value of the field `Priority` (RFC 9218); `nil` for the normal urgency, 3, which servers assume without it.
    var httpPriority: String? {
        switch self {
        case .veryLow: "u=7"
        case .low: "u=5"
        case .normal: nil
        case .high: "u=2"
        case .veryHigh: "u=1"
        }
    }
}
