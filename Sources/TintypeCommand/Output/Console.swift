internal import FoundationEssentials
internal import Glibc
internal import TintypeCore

/// Where a command writes: results to standard output, everything for a person's eyes to standard error.
///
/// May be used from many tasks at once. A status line at the bottom of a terminal makes way for other lines and comes back.
final class Console: Sendable {
    /// The one that writes to the process's own streams.
    static let standard = Console(
        isInteractive: isatty(STDERR_FILENO) == 1, width: Console.terminalWidth(),
        output: { Console.write($0, to: STDOUT_FILENO) }, errors: { Console.write($0, to: STDERR_FILENO) })

    /// Whether standard error is a terminal, on which a status line can be redrawn.
    let isInteractive: Bool
    /// The columns of the terminal.
    let width: Int

    private let output: @Sendable (String) -> Void
    private let errors: @Sendable (String) -> Void
    private let status = Lock("")

    init(
        isInteractive: Bool = false, width: Int = 80, output: @escaping @Sendable (String) -> Void,
        errors: @escaping @Sendable (String) -> Void
    ) {
        self.isInteractive = isInteractive
        self.width = width
        self.output = output
        self.errors = errors
    }

    /// Writes one line of results.
    func print(_ line: String) {
        above { output(Self.printable(line) + "\n") }
    }

    /// Writes one line for a person.
    func note(_ line: String) {
        above { errors(Self.printable(line) + "\n") }
    }

    /// Says what failed, in one line: `tintype: SOURCE: REASON`.
    func error(_ error: any Error) { note("tintype: \(error)") }

    /// Says what is not as it should be, though the work goes on.
    func warning(_ text: String) { note("tintype: warning: \(text)") }

    /// Shows a line that the next status replaces; an empty one takes it away. Does nothing without a terminal.
    func showStatus(_ line: String) {
        guard isInteractive else { return }
        status.withLock { status in
            status = line.isEmpty ? "" : Self.printable(String(line.prefix(width - 1)))
            errors("\r\u{1B}[K\(status)")
        }
    }

    /// Writes with the status line out of the way. The lock keeps lines whole.
    private func above(_ write: () -> Void) {
        status.withLock { status in
            if !status.isEmpty { errors("\r\u{1B}[K") }
            write()
            if !status.isEmpty { errors(status) }
        }
    }

    /// One line whatever is in it: URLs, file names and servers' words may hold escape sequences for the terminal.
    static func printable(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            result.append(isControl(scalar) ? (scalar.value < 0x20 ? " " : "\u{FFFD}") : scalar)
        }
        return String(result)
    }

    /// C0, DEL and C1 controls, line separators, and what turns the direction of text around.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
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

    private static func write(_ text: String, to descriptor: Int32) {
        var text = text
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while let base = rest.baseAddress, !rest.isEmpty {
                let written = Glibc.write(descriptor, base, rest.count)
                if written < 0, errno == EINTR || errno == EAGAIN { continue }
                guard written > 0 else { return }  // Nobody reads any more; the work itself goes on.
                rest = UnsafeRawBufferPointer(rebasing: rest[written...])
            }
        }
    }
}
