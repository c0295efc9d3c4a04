import Foundation

@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

/// The real files, where a test can let any call fail.
final class FaultyFileSystem: Sendable {
    /// A lock around the closure itself would wrap it once more with each use.
    private struct Fault {
        var body: FileFaults
    }

    private let fault = Lock(Fault { _, _ in nil })

    /// The hook that a cache calls.
    var faults: FileFaults { { [fault] operation, path in fault.withLock { $0 }.body(operation, path) } }

    /// Lets calls fail for which the closure gives an error number.
    func fail(_ fault: @escaping FileFaults) { self.fault.withLock { $0 = Fault(body: fault) } }
}
