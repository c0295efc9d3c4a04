/// The layers of a cache.
public struct CacheLayers: OptionSet, Sendable, Hashable {
    /// The bits of the layers.
    public let rawValue: UInt8
    /// Creates a set from the bits of layers.
    /// - Parameter rawValue: the bits of the layers.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Decoded images in memory.
    public static let memory = CacheLayers(rawValue: 1)
    /// Encoded images on disk.
    public static let disk = CacheLayers(rawValue: 2)
    /// Both layers.
    public static let all: CacheLayers = [.memory, .disk]
}
