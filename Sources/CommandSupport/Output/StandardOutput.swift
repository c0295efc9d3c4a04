internal import Glibc
internal import TintypeLoading

/// The standard streams of the process.
package enum StandardOutput {
    private static let failure = Lock<Int32?>(nil)
    private static let closed = Lock(false)

    /// True if nothing can be written any longer: the reader of a pipe has left, or an error occurred.
    package static var isClosed: Bool { closed.withLock { $0 } }

    /// True if results could not be written, for example because a disk is full.
    package static var hasFailed: Bool { failure.withLock { $0 != nil } }

    /// Writes results. The first error is reported, and the work continues.
    ///
    /// A closed pipe isn't an error: its reader has all the results that it needs.
    package static func write(_ text: String) {
        let error = Console.write(text, to: STDOUT_FILENO)
        guard error != 0 else { return }
        closed.withLock { $0 = true }
        guard error != EPIPE else { return }
        let isFirst = failure.withLock { failure in
            defer { failure = error }
            return failure == nil
        }
        if isFirst {
            Console.write("tintype: standard output: \(String(cString: strerror(error)))\n", to: STDERR_FILENO)
        }
    }

    /// Opens the standard streams that the process was started without, because the next file or connection that is opened would
    /// take their numbers and receive the output. Reading and writing still fail.
    package static func reserveDescriptors() {
        for (descriptor, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
        where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest free number is this descriptor's.
            _ = open("/dev/null", mode)
        }
    }
}
