public import Testing

/// The capabilities that a test shows, by their ids in `Documentation/development/capabilities.md`.
public struct CapabilityTrait: TestTrait, SuiteTrait {
    /// The ids, such as `MGR-33`; `3.4` is a class of complaints, `D5` a defect of SDWebImage.
    public let ids: [String]
}

extension Trait where Self == CapabilityTrait {
    /// Marks a test that shows the capabilities with the given ids.
    public static func capability(_ ids: String...) -> Self { CapabilityTrait(ids: ids) }
}
