/// The layers of a cache.
public struct CacheLayers: OptionSet, Sendable, Hashable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let memory = CacheLayers(rawValue: 1)
    public static let disk = CacheLayers(rawValue: 2)
    public static let all: CacheLayers = [.memory, .disk]
}
