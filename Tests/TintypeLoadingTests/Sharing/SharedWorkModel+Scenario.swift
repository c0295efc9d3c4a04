@testable import TintypeImages
@testable import TintypeLoading

extension SharedWorkModel {
    /// The rules of sharing. Each can be taken away, and is then broken as a program without it would break it.
    enum Rule: CaseIterable, Hashable {
        case policyInKey, retriesInKey, userInKey, urlInKey
        /// The fetch reads the disk, not the image job before it.
        case fetchReadsDisk
        case endedFetchStays
        case reloadsClose
        /// The layers to store are read when the job ends, not when it begins.
        case wishesAreLive
        case endingIsOneStep
        /// A job that nobody waits for leaves the table at once.
        case leavesTheTable
        /// It also leaves what it waits for at once.
        case leavesItsNeed
        /// A job runs in a task of its own, not in that of the job that needs it.
        case ownTasks
        case waitsAreChecked
    }

    struct Request: Hashable {
        var size = 1
        var user = "anna"
        var policy = Policy.cacheFirst
        var retriesFailed = false
        /// True for a signed URL whose time is over. It has the same source as others.
        var isExpired = false
        var mayCancel = false
        var layers: StoredLayers = [.imageInMemory, .originalOnDisk]
        var priority = ImagePriority.normal
        /// The priority that the caller changes to.
        var laterPriority: ImagePriority?
        var previews = false
        /// True for a caller of the fetch itself.
        var wantsBytes = false
    }

    enum Policy: Hashable { case cacheFirst, cacheOnly, reload }

    struct Scenario {
        var requests: [Request]
        var serverChanges = false
        var hasFailed = false
        /// True if the loader asks the manager for the image that it loads.
        var loaderAsksItself = false
        var mostTransfers: Int?
    }

    struct Picture: Hashable {
        var user: String
        var version: Int
    }

    enum Outcome: Hashable { case picture(Picture), cancelled, notCached, recentlyFailed, forbidden, waitsForItself }

    enum Key: Hashable {
        case image(size: Int, Answer)
        case fetch(Answer)
    }

    /// The parts of a key that decide which answer a load gets.
    struct Answer: Hashable {
        var user: String?
        var policy: Policy?
        var isReload: Bool
        var retriesFailed: Bool?
        var isExpired: Bool?
    }
}
