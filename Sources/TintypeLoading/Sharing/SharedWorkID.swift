internal import Synchronization

/// The numbers of waiters and jobs, which are unique in the process.
enum SharedWorkID {
    private static let last = Atomic(0)

    static func next() -> Int { last.wrappingAdd(1, ordering: .relaxed).newValue }

    /// The job whose loader the calling task runs. A loader may call the manager.
    @TaskLocal static var currentJob: Int?
}
