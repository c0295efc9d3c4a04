internal import Glibc
package import TintypeLoading

/// Opening and waiting that cancellation ends. A system call that waits would go on after the first Ctrl-C.
package enum Descriptor {
    /// Opens a file to read, without waiting for the writer of a pipe.
    /// - Parameter path: a path, or `-` for standard input.
    /// - Returns: the descriptor; negative if the file can't be opened, for the reason in `errno`.
    package static func opened(toRead path: String) -> Int32 {
        if path == "-" { return dup(STDIN_FILENO) }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        if descriptor >= 0 { _ = fcntl(descriptor, F_SETFL, 0) }
        return descriptor
    }

    /// Opens a device or a pipe to write, and waits for the reader of a pipe.
    /// - Returns: the descriptor, which doesn't block; negative if the file can't be opened, for the reason in `errno`.
    /// - Throws: ``ImageError/Code/cancelled``
    package static func opened(
        toWrite path: String, isCancelled: () -> Bool = { Task.isCancelled }
    ) throws(ImageError) -> Int32 {
        while true {
            let descriptor = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
            // A socket has the same error, and no wait would help.
            guard descriptor < 0, errno == ENXIO, isPipe(path) else { return descriptor }
            _ = poll(nil, 0, slice)
            if isCancelled() { throw cancellation }
        }
    }

    /// Waits until a descriptor takes bytes (`POLLOUT`), or has some or has ended (`POLLIN`), and checks now and then for cancellation.
    /// A pipe has neither bytes nor an end before somebody has opened it to write.
    /// - Throws: ``ImageError/Code/cancelled``
    package static func wait(
        for events: Int32, of descriptor: Int32, isCancelled: () -> Bool = { Task.isCancelled }
    ) throws(ImageError) {
        var event = pollfd(fd: descriptor, events: Int16(events), revents: 0)
        while true {
            let count = poll(&event, 1, slice)
            if count > 0 || count < 0 && errno != EINTR { return }
            if isCancelled() { throw cancellation }
        }
    }

    /// The milliseconds between two looks for cancellation.
    private static let slice: Int32 = 100

    private static var cancellation: ImageError {
        ImageError(.cancelled, stage: .load, reason: "the command was canceled")
    }

    private static func isPipe(_ path: String) -> Bool {
        var status = stat()
        let isThere = stat(path, &status) == 0
        // The error of opening is reported, not one of looking.
        errno = ENXIO
        return isThere && status.st_mode & S_IFMT == S_IFIFO
    }
}
