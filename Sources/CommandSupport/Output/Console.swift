internal import FoundationEssentials
internal import Glibc
internal import TintypeLoading

/// The output of a command: results on standard output, and messages for people on standard error.
///
/// Many tasks may use it at once. A status line at the bottom of a terminal makes way for other lines and comes back.
package final class Console: Sendable {
    /// The console that writes to the streams of the process.
    package static let standard = Console(
        isInteractive: Console.canRedrawErrors, width: Console.terminalWidth(),
        isClosed: { StandardOutput.isClosed }, output: { StandardOutput.write($0) },
        errors: { Console.write($0, to: STDERR_FILENO) })

    /// True if standard error is a terminal that understands the sequences of a status line.
    private static var canRedrawErrors: Bool {
        isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }

    /// A Boolean value that is true if standard error is a terminal, where a status line can be redrawn.
    package let isInteractive: Bool
    /// The number of columns of the terminal.
    package let width: Int

    private let isClosedNow: @Sendable () -> Bool
    private let output: @Sendable (String) -> Void
    private let errors: @Sendable (String) -> Void
    private let status = Lock("")

    package init(
        isInteractive: Bool = false, width: Int = 80, isClosed: @escaping @Sendable () -> Bool = { false },
        output: @escaping @Sendable (String) -> Void,
        errors: @escaping @Sendable (String) -> Void
    ) {
        self.isInteractive = isInteractive
        self.width = width
        isClosedNow = isClosed
        self.output = output
        self.errors = errors
    }

    /// True if the reader of the results is gone.
    package var isClosed: Bool { isClosedNow() }

    /// Writes a line of results.
    package func print(_ line: String) {
        above { output(Self.printable(line) + "\n") }
    }

    /// Writes text with control sequences that the command has made itself.
    package func draw(_ sequences: String) {
        above { output(sequences) }
    }

    /// Writes a line for a person.
    package func note(_ line: String) {
        above { errors(Self.printable(line) + "\n") }
    }

    /// Reports an error on a single line: `tintype: SOURCE: REASON`.
    package func error(_ error: any Error) { note("tintype: \(error)") }

    /// Reports a problem that does not stop the command.
    package func warning(_ text: String) { note("tintype: warning: \(text)") }

    /// Shows a line that the next status replaces. An empty line removes it. Does nothing without a terminal.
    package func showStatus(_ line: String) {
        guard isInteractive else { return }
        status.withLock { status in
            status = line.isEmpty ? "" : Self.printable(String(line.prefix(width - 1)))
            errors("\r\u{1B}[K\(status)")
        }
    }

    /// Writes while the status line is hidden. The lock keeps lines whole.
    private func above(_ write: () -> Void) {
        status.withLock { status in
            if !status.isEmpty { errors("\r\u{1B}[K") }
            write()
            if !status.isEmpty { errors(status) }
        }
    }

    /// Returns the text as a single line without control characters. URLs, file names, and responses may contain escape sequences.
    package static func printable(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            result.append(isControl(scalar) ? (scalar.value < 0x20 ? " " : "\u{FFFD}") : scalar)
        }
        return String(result)
    }

    /// Returns true for C0, DEL, and C1 controls, line separators, and controls of the text direction.
    static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    private static func terminalWidth() -> Int {
        var size = winsize()
        guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col >= 20 else { return 80 }
        return Int(size.ws_col)
    }

    /// Writes text to a descriptor, even if it doesn't block.
    /// - Parameter waitUntilWritable: waits until the descriptor takes more bytes.
    /// - Returns: the number of the error (`errno`); 0 if everything was written.
    @discardableResult
    package static func write(
        _ text: String, to descriptor: Int32, waitUntilWritable: (Int32) -> Void = Console.waitUntilWritable
    ) -> Int32 {
        var text = text
        return text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while let base = rest.baseAddress, !rest.isEmpty {
                let written = Glibc.write(descriptor, base, rest.count)
                if written < 0, errno == EINTR { continue }
                if written < 0, errno == EAGAIN {
                    waitUntilWritable(descriptor)
                    continue
                }
                guard written > 0 else { return errno }
                rest = UnsafeRawBufferPointer(rebasing: rest[written...])
            }
            return 0
        }
    }

    /// Sleeps until the descriptor takes more bytes, or its reader is gone.
    package static func waitUntilWritable(_ descriptor: Int32) {
        var event = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&event, 1, -1)
    }
}
