internal import TintypeLoading
internal import CommandSupport
internal import Dispatch
internal import FoundationEssentials
internal import Glibc

/// The terminal that a command writes to: its size, and the protocols that it understands.
struct Terminal: Sendable {
    /// False if the output goes to a file or another program, or to a terminal that understands no sequences (`TERM=dumb`).
    var isInteractive = false
    var columns = 80
    var rows = 24
    /// The size of a cell, in pixels.
    var cellWidth = 8
    var cellHeight = 16
    /// The best protocol.
    var graphics = TerminalProtocol.text
    var isInsideTmux = false
    /// False if the terminal has only 256 colors.
    var hasTrueColor = true

    init() {}

    /// - Parameters:
    ///   - window: the size from the kernel; `nil` if the output isn't a terminal.
    ///   - reply: the answers of the terminal.
    init(environment: [String: String], window: winsize?, reply: TerminalReply) {
        isInteractive = window != nil && environment["TERM"] != "dumb"
        isInsideTmux = TerminalProtocol.isInsideTmux(environment)
        hasTrueColor =
            ["truecolor", "24bit"].contains(environment["COLORTERM"] ?? "")
            || environment["TERM"]?.hasSuffix("-direct") == true
        columns = Self.count(window?.ws_col) ?? Self.count(environment["COLUMNS"].flatMap { UInt16($0) }) ?? 80
        rows = Self.count(window?.ws_row) ?? Self.count(environment["LINES"].flatMap { UInt16($0) }) ?? 24
        if let cell = reply.cell {
            (cellWidth, cellHeight) = cell
        } else if let window, window.ws_xpixel > 0, window.ws_ypixel > 0, window.ws_col > 0, window.ws_row > 0 {
            let sides = TerminalReply.cellSides
            cellWidth = min(max(Int(window.ws_xpixel / window.ws_col), sides.lowerBound), sides.upperBound)
            cellHeight = min(max(Int(window.ws_ypixel / window.ws_row), sides.lowerBound), sides.upperBound)
        }
        graphics = isInteractive ? .detected(environment: environment, reply: reply) : .text
        // <https://no-color.org>: a value that isn't empty. A picture of another protocol was asked for, and is no decoration of text.
        if graphics == .blocks, environment["NO_COLOR"]?.isEmpty == false { graphics = .text }
    }

    private static func count(_ number: UInt16?) -> Int? {
        guard let number, number > 0 else { return nil }
        return Int(number)
    }

    /// The terminal of the process.
    /// - Parameter asks: true to ask the terminal for its capabilities; one that doesn't answer takes two seconds.
    static func current(asks: Bool) -> Terminal {
        let environment = ProcessInfo.processInfo.environment
        guard let window = window() else {
            return Terminal(environment: environment, window: nil, reply: TerminalReply())
        }
        let canAnswer = asks && TerminalProtocol.canBeAsked(environment)
        return Terminal(
            environment: environment, window: window, reply: canAnswer ? answer() : TerminalReply())
    }

    /// The size of the terminal's window now; `nil` if the output is no terminal.
    private static func window() -> winsize? {
        var window = winsize()
        guard isatty(STDOUT_FILENO) == 1, ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &window) == 0 else { return nil }
        return window
    }

    /// Returns the sizes of the window in cells, each when the user has changed it (SIGWINCH), until the task that reads them is canceled.
    @Sendable static func sizes() -> AsyncStream<CellSize> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            // Sendable: sources of libdispatch may be used from any thread.
            nonisolated(unsafe) let source = DispatchSource.makeSignalSource(
                signal: SIGWINCH, queue: DispatchQueue(label: "window"))
            source.setEventHandler {
                guard let window = window(), let columns = count(window.ws_col), let rows = count(window.ws_row) else {
                    return
                }
                continuation.yield(CellSize(columns: columns, rows: rows))
            }
            continuation.onTermination = { _ in source.cancel() }
            source.resume()
        }
    }

    /// Asks the terminal.
    private static func answer() -> TerminalReply {
        let device = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard device >= 0 else { return TerminalReply() }
        defer { close(device) }
        // A job in the background that changes the terminal would be stopped.
        var old = termios()
        guard tcgetpgrp(device) == getpgrp(), tcgetattr(device, &old) == 0 else { return TerminalReply() }
        var unbuffered = old
        // Ctrl-C still arrives as a signal.
        unbuffered.c_lflag &= ~tcflag_t(ICANON | ECHO)
        guard tcsetattr(device, TCSANOW, &unbuffered) == 0 else { return TerminalReply() }
        Interruption.lastWords.withLock { words in
            words = { [old] in _ = withUnsafePointer(to: old) { tcsetattr(device, TCSANOW, $0) } }
        }
        defer {
            tcsetattr(device, TCSANOW, &old)
            Interruption.lastWords.withLock { $0 = nil }
        }
        let isInsideTmux = TerminalProtocol.isInsideTmux(ProcessInfo.processInfo.environment)
        guard Console.write(TerminalReply.questions(isInsideTmux: isInsideTmux), to: device) == 0 else {
            return TerminalReply()
        }
        return TerminalReply(answers(from: device, until: .now + .seconds(2)))
    }

    /// Reads answers until the last one is there.
    ///
    /// An answer that comes later would be typed into the shell, so a terminal on the other side of the world has time.
    /// - Parameters:
    ///   - end: the time after which the terminal is taken for one that doesn't answer.
    ///   - wait: waits a little for bytes, and returns the number of descriptors that have some (`poll`).
    static func answers(
        from device: Int32, until end: ContinuousClock.Instant, wait: (inout pollfd) -> Int32 = { poll(&$0, 1, 100) }
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 256)
        while bytes.count < 4_096, !TerminalReply.isComplete(bytes), !Task.isCancelled, .now < end {
            var event = pollfd(fd: device, events: Int16(POLLIN), revents: 0)
            guard wait(&event) > 0 else { continue }
            let count = read(device, &block, block.count)
            guard count > 0 else { break }
            bytes += block[..<count]
        }
        return bytes
    }
}
