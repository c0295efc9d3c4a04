internal import CommandSupport
internal import FoundationEssentials
internal import Glibc
internal import TintypeLoading

/// The URLs for a command: its arguments, then the lines of a file or of standard input, which are read when they are needed.
///
/// Blank lines and lines that start with `#` are ignored. Lines longer than ``longestLine`` are counted and skipped. A line needn't be
/// UTF-8: its bytes become escapes.
final class URLList: Sendable {
    private struct State {
        var arguments: ArraySlice<String>
        var buffer: [UInt8] = []
        var position = 0
        var isAtEnd: Bool
        /// True from the moment when a line became too long until its end.
        var isSkipping = false
        var skippedLines = 0
    }

    /// The longest line that is read, in bytes.
    static let longestLine = 1 << 20

    private let state: Lock<State>
    private let descriptor: Int32?
    private let path: String
    /// A queue of its own, because reading may wait for the program that writes the list.
    private let queue = WorkQueue(label: "list", width: 1)

    /// Creates a list.
    /// - Parameters:
    ///   - arguments: the first URLs.
    ///   - file: the path of a list, `-` for standard input, `nil` for none.
    init(_ arguments: [String], file: String?) throws(ImageError) {
        state = Lock(State(arguments: arguments[...], isAtEnd: file == nil))
        path = file ?? ""
        guard let file else {
            descriptor = nil
            return
        }
        let opened = Descriptor.opened(toRead: file)
        guard opened >= 0 else { throw Self.failure(file, errno) }
        descriptor = opened
        var status = stat()
        if fstat(opened, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
            throw ImageError(
                .fileUnreadable, stage: .request, source: file, reason: "it is a directory, not a list of URLs")
        }
    }

    deinit {
        if let descriptor { close(descriptor) }
    }

    /// The number of lines that were too long so far.
    var skippedLines: Int { state.withLock { $0.skippedLines } }

    /// Returns the number of URLs without taking any; `nil` for a stream, whose length is unknown.
    func count() async throws(ImageError) -> Int? {
        guard let descriptor else { return state.withLock { $0.arguments.count } }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
        guard let counter = try? URLList([], file: path == "-" ? "/dev/stdin" : path) else { return nil }
        var lines = state.withLock { $0.arguments.count }
        while try await counter.next() != nil { lines += 1 }
        return lines
    }

    /// Returns the next URL; `nil` after the last.
    func next() async throws(ImageError) -> String? { try await next { $0 } }

    /// Passes the next URL to a closure and returns its result; `nil` after the last. The closure gets the URLs in order, individually.
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
        if state.isSkipping || end - rest.startIndex > longestLine {
            state.isSkipping = false
            state.skippedLines += 1
            return ""
        }
        return String(validating: rest[..<end], as: UTF8.self) ?? String(escapingURL: rest[..<end])
    }

    /// Waits for more bytes, and checks now and then for cancellation.
    private func fill(_ isCancelled: () -> Bool) throws(ImageError) {
        guard let descriptor else { return }
        try Descriptor.wait(for: POLLIN, of: descriptor, isCancelled: isCancelled)
        var problem: Int32?
        let chunk = [UInt8](unsafeUninitializedCapacity: 1 << 16) { buffer, count in
            let result = read(descriptor, buffer.baseAddress, buffer.count)
            if result < 0 { problem = errno }
            count = max(0, result)
        }
        if let problem {
            if [EINTR, EAGAIN].contains(problem) { return }
            throw Self.failure(path, problem)
        }
        state.withLock { state in
            state.buffer.removeFirst(min(state.position, state.buffer.count))
            state.position = 0
            state.buffer += chunk
            if state.buffer.count > Self.longestLine, !state.buffer.contains(0x0A) {
                state.buffer = []
                state.isSkipping = true
            }
            state.isAtEnd = chunk.isEmpty
            if state.isAtEnd, state.isSkipping, state.buffer.isEmpty {
                state.isSkipping = false
                state.skippedLines += 1
            }
        }
    }

    private static func failure(_ path: String, _ error: Int32) -> ImageError {
        ImageError(
            .fileUnreadable, stage: .request, source: path,
            reason: "the list can't be read: \(String(cString: strerror(error)))")
    }
}

extension String {
    /// The string without surrounding white space and without a byte order mark.
    var trimmed: String {
        var text = self[...].drop { $0.isWhitespace || $0 == "\u{FEFF}" }
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
