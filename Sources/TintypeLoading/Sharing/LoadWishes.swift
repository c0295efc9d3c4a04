/// The wishes of a caller beside the result. They aren't part of a key, because they may change while the load runs.
struct LoadWishes: Hashable, Sendable {
    var priority = ImagePriority.normal
    /// True for a caller that shows images of the bytes that have arrived.
    var previews = false
    /// True for a caller that shows the cached image while its source is asked.
    var outdated = false
    var layers: StoredLayers = []
    /// The lifetime of the entries on disk; `nil` for no such limit.
    var lifetime: Duration?

    /// The wishes of a job for the job that it needs: a derived image has the other image as its original.
    var ofNeed: LoadWishes {
        var wishes = self
        wishes.layers = layers.ofImage
        guard wishes.layers.isEmpty else { return wishes }
        wishes.layers = layers.intersection(.originalOnDisk)
        if layers.contains(.originalInMemory) { wishes.layers.insert(.imageInMemory) }
        return wishes
    }

    func with(_ priority: ImagePriority) -> LoadWishes {
        var wishes = self
        wishes.priority = priority
        return wishes
    }

    /// Leaves out the images that other callers of a job want.
    func filter(_ receive: @escaping @Sendable (LoadUpdate) -> Void) -> @Sendable (LoadUpdate) -> Void {
        { [self] update in
            switch update {
            case .preview where !previews, .outdated where !outdated: break
            default: receive(update)
            }
        }
    }
}

/// The places where a load stores its image and its original.
struct StoredLayers: OptionSet, Hashable, Sendable {
    let rawValue: UInt8

    static let imageInMemory = StoredLayers(rawValue: 1)
    static let imageOnDisk = StoredLayers(rawValue: 2)
    static let originalInMemory = StoredLayers(rawValue: 4)
    static let originalOnDisk = StoredLayers(rawValue: 8)
    fileprivate static let count = 8

    /// The layers of an image's load, as part of the layers of the load that encodes it.
    var forEncoding: StoredLayers { StoredLayers(rawValue: rawValue << 4) }
    /// The part for the load of the image.
    var ofImage: StoredLayers { StoredLayers(rawValue: rawValue >> 4) }
}

/// The number of waiters that have each wish. So a change takes the same time however many wait.
struct WishCounts: Hashable, Sendable {
    /// By priority, then for previews, cached images, and layers.
    private var counts = SIMD32<Int32>()
    private static let (previews, outdated, lifetimes, layers) = (8, 9, 10, 16)

    mutating func add(_ wishes: LoadWishes) { add(wishes, 1) }
    mutating func remove(_ wishes: LoadWishes) { add(wishes, -1) }

    private mutating func add(_ wishes: LoadWishes, _ number: Int32) {
        counts[wishes.priority.rawValue] &+= number
        if wishes.previews { counts[Self.previews] &+= number }
        if wishes.outdated { counts[Self.outdated] &+= number }
        if wishes.lifetime != nil { counts[Self.lifetimes] &+= number }
        guard !wishes.layers.isEmpty else { return }
        for bit in 0..<StoredLayers.count where wishes.layers.rawValue & 1 << bit != 0 {
            counts[Self.layers + bit] &+= number
        }
    }

    /// True if anybody wishes a lifetime.
    var hasLifetimes: Bool { counts[Self.lifetimes] > 0 }

    /// The highest priority, and all that anybody wants, but for the lifetime.
    var wishes: LoadWishes {
        var wishes = LoadWishes(priority: .veryLow)
        for priority in ImagePriority.allCases.reversed() where counts[priority.rawValue] > 0 {
            wishes.priority = priority
            break
        }
        wishes.previews = counts[Self.previews] > 0
        wishes.outdated = counts[Self.outdated] > 0
        for bit in 0..<StoredLayers.count where counts[Self.layers + bit] > 0 {
            wishes.layers.insert(StoredLayers(rawValue: 1 << bit))
        }
        return wishes
    }
}
