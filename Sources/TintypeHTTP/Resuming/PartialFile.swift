#if HTTP
internal import FoundationEssentials
internal import Glibc
internal import TintypeLoading

/// A file to which the bytes of a body are appended while they arrive. Only one transfer at a time has it.
// Sendable: the descriptor is constant, and the system orders calls with it.
final class PartialFile: Sendable {
    private let descriptor: Int32
    private let path: String

    init(descriptor: Int32, path: String) {
        self.descriptor = descriptor
        self.path = path
    }

    deinit { Self.unlockAndClose(descriptor) }

    /// Closes a file, and gives up its lock, which a process that is being started may hold with a copy of the descriptor.
    static func unlockAndClose(_ descriptor: Int32) {
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    /// Appends bytes.
    /// - Returns: false if they could not be written. The file is then removed.
    func append(_ bytes: Data) async -> Bool {
        (try? await WorkQueue.files.perform { _ in self.appendNow(bytes) }) ?? false
    }

    /// Appends the last bytes of an interrupted transfer. Other transfers may have the file from then on.
    func finish(_ bytes: Data) async {
        _ = try? await WorkQueue.files.perform { _ in
            _ = self.appendNow(bytes)
            // Not only in `deinit`: the queue releases what its work refers to some time after whoever waits goes on.
            flock(self.descriptor, LOCK_UN)
        }
    }

    /// Removes the file, because its body is complete or useless.
    func remove() async {
        // The path may already belong to another transfer only after this one has released its lock.
        _ = try? await WorkQueue.files.perform { _ in unlink(self.path) }
    }

    private func appendNow(_ bytes: Data) -> Bool {
        var start = 0
        while start < bytes.count {
            let piece = bytes.dropFirst(start).prefix(PartialPiece.maximumBytes)
            guard writeNow(PartialPiece.head(piece)), writeNow(piece) else { return false }
            start += piece.count
        }
        return true
    }

    func writeNow(_ bytes: Data) -> Bool {
        let isWritten = bytes.withUnsafeBytes { buffer in
            var rest = buffer[...]
            while !rest.isEmpty {
                let count = write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
        if !isWritten { unlink(path) }
        return isWritten
    }

    func removedNow() -> PartialFile? {
        unlink(path)
        return nil
    }
}
#endif
