internal import FoundationEssentials

/// The encoded bytes of a source, shared by all that is made of them, and stored at most once.
final class FetchedData: Sendable {
    let entry: DiskCacheEntry
    let source: ImageSource
    let diskTime: Duration
    let loadTime: Duration
    let networkProtocol: String?
    private let isStored: Lock<Bool>

    var data: Data { entry.data }

    init(
        _ entry: DiskCacheEntry, source: ImageSource, diskTime: Duration = .zero, loadTime: Duration = .zero,
        networkProtocol: String? = nil
    ) {
        self.entry = entry
        self.source = source
        self.diskTime = diskTime
        self.loadTime = loadTime
        self.networkProtocol = networkProtocol
        isStored = Lock(source == .disk)  // What came from the disk is there.
    }

    /// True for the first who asks: it is to store the bytes.
    func claimStore() -> Bool {
        isStored.withLock { isStored in
            defer { isStored = true }
            return !isStored
        }
    }
}
