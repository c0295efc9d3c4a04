/// The images that are known not to move, so that their bytes aren't read again each time that they come from memory.
@MainActor enum StillImages {
    private static var keys: Set<ImageKey> = []
    private static let limit = 20_000

    /// Returns true if an image doesn't move. Bytes that have just been loaded may be others than those before.
    static func contains(_ result: ImageResult) -> Bool { result.source == .memory && keys.contains(result.key) }

    static func insert(_ key: ImageKey) {
        if keys.count >= limit { keys = [] }
        keys.insert(key)
    }
}
