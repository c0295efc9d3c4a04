internal import FoundationEssentials
internal import Glibc
internal import TintypeCore

/// The URLs that a command was given: its arguments, then the lines of a file or of standard input, read as they are needed.
///
/// Blank lines and lines that begin with `#` do not count.
final class URLList: Sendable {
    private struct State {
        var arguments: ArraySlice<String>
        var buffer: [UInt8] = []
        var position = 0
        var isAtEnd: Bool
    }

    /// A line longer than this is no URL; what goes on is cut off.
    static let longestLine = 1 << 20

    private let state: Lock<State>
    private let descriptor: Int32?
    private let path: String
    /// Reading may wait for whoever writes the list: that must not be in the way of any other work.
    private let queue = WorkQueue(label: "list", width: 1)

    /// - Parameter file: the path of a list, `-` for standard input, `nil` for none.
    init(_ arguments: [String], file: String?) throws(ImageError) {
        state = Lock(State(arguments: arguments[...], isAtEnd: file == nil))
        path = file ?? ""
        guard let file else {
            descriptor = nil
            return
        }
        let opened = file == "-" ? dup(STDIN_FILENO) : open(file, O_RDONLY | O_CLOEXEC)
        guard opened >= 0 else { throw Self.failure(file) }
        descriptor = opened
        var status = stat()
        if fstat(opened, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
            throw ImageError(
                .fileUnreadable, stage: .request, source: file, reason: "is a directory, not a list of URLs")
        }
    }

    deinit {
        if let descriptor { close(descriptor) }
    }

    /// How many URLs there are, without taking any; `nil` for a stream, whose end nobody knows.
    func count() async throws(ImageError) -> Int? {
        guard let descriptor else { return state.withLock { $0.arguments.count } }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        guard let counter = try? URLList([], file: path == "-" ? "/dev/stdin" : path) else { return nil }
        var lines = state.withLock { $0.arguments.count }
        while try await counter.next() != nil { lines += 1 }
        return lines
    }

    /// The next URL; `nil` behind the last.
    func next() async throws(ImageError) -> String? { try await next { $0 } }

    /// What is made of the next URL; `nil` behind the last. URLs are given to the closure in their order, one at a time.
    func next<Value: Sendable>(_ taken: @escaping @Sendable (String) -> Value) async throws(ImageError) -> Value? {
        if let value = state.withLock({ $0.arguments.popFirst().map(taken) }) { return value }
        if state.withLock({ $0.isAtEnd && $0.position >= $0.buffer.count }) { return nil }
        return try await queue.perform { [self] isCancelled throws(ImageError) -> Value? in
            while let line = try nextLine(isCancelled) {
                let url = line.trimmed
                if !url.isEmpty, !url.hasPrefix("#") { return taken(url) }
            }
            return nil
        }
    }

    private func nextLine(_ isCancelled: () -> Bool) throws(ImageError) -> String? {
        while true {
            if let line = state.withLock({ Self.takeLine(&$0) }) { return line }
            if state.withLock({ $0.isAtEnd }) { return nil }
            try fill(isCancelled)
        }
    }

    private static func takeLine(_ state: inout State) -> String? {
        let rest = state.buffer[state.position...]
        guard let end = rest.firstIndex(of: 0x0A) ?? (state.isAtEnd && !rest.isEmpty ? rest.endIndex : nil) else {
            return nil
        }
        state.position = min(end + 1, state.buffer.count)
        return String(decoding: rest[..<end], as: UTF8.self)
    }

    /// Waits for more bytes, looking now and then whether anybody still wants them.
    private func fill(_ isCancelled: () -> Bool) throws(ImageError) {
        guard let descriptor else { return }
        var event = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&event, 1, 100) == 0 {
            if isCancelled() { throw ImageError(.cancelled, stage: .request, reason: "cancelled") }
        }
        let chunk = [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
            count = read(descriptor, buffer.baseAddress, buffer.count)
            count = max(0, count)
        }
        state.withLock { state in
            state.buffer.removeFirst(min(state.position, state.buffer.count))
            state.position = 0
            state.buffer += chunk
            if state.buffer.count > Self.longestLine, !state.buffer.contains(0x0A) { state.buffer = [] }
            state.isAtEnd = chunk.isEmpty
        }
    }

    private static func failure(_ path: String) -> ImageError {
        ImageError(
            .fileUnreadable, stage: .request, source: path,
            reason: "the list cannot be read: \(String(cString: strerror(errno)))")
    }
}

extension String {
    /// Without white space around it, nor a byte order mark before it.
    var trimmed: String {
        var text = self[...].drop { $0.isWhitespace || $0 == "\u{FEFF}" }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
