import Foundation
import Glibc
import TestSupport
import Testing
import Tintype
import TintypeTesting

@testable import CommandSupport
@testable import TintypeCommand

@Suite("tintype show", .timeLimited)
struct TerminalTests {
    @Test("In a file, images are lines of half blocks if they are asked for, and animations their first frame")
    func redirected() async throws {
        let folder = try TemporaryDirectory()
        let transcript = Transcript()
        let still = try folder.write(picture(width: 48, height: 32).encoded(as: .png), to: "a.png").path
        let moving = try folder.write(animation().encoded(as: .gif), to: "b.gif").path
        let show = try command(ShowCommand.self, "show", still, moving, "--size", "12x40", "--protocol", "blocks")
        try await show.run(transcript.console(), terminal: Terminal())
        // 12 × 8 pixels each.
        #expect(transcript.output.count == 8)
        #expect(transcript.output.allSatisfy { $0.count(where: { $0 == "▀" }) == 12 && $0.hasSuffix("\u{1B}[0m") })
    }

    @Test(
        "Graphics in a pipe have a place each, too, below the one before", arguments: [TerminalProtocol.kitty, .sixel])
    func graphicsInPipe(_ graphics: TerminalProtocol) async throws {
        let folder = try TemporaryDirectory()
        let written = Lock("")
        let console = Console(output: { text in written.withLock { $0 += text } }, errors: { _ in })
        let file = try folder.write(picture(width: 48, height: 32).encoded(as: .png), to: "a.png").path
        let show = try command(ShowCommand.self, "show", file, file, "--protocol", graphics.rawValue)
        try await show.run(console, terminal: Terminal())
        // A carriage return and a line feed are one character.
        let text = String(String.UnicodeScalarView(written.withLock { $0 }.unicodeScalars.filter { $0 != "\r" }))
        let parts = text.components(separatedBy: "\u{1B}[2B")
        #expect(parts.count == 3 && parts[2].isEmpty)
        #expect(parts.dropLast().allSatisfy { $0.hasPrefix("\n\n\u{1B}[2A\u{1B}") })
    }

    @Test("Text has no escape sequences and shows only the first frame, also in a terminal")
    func textInTerminal() async throws {
        let folder = try TemporaryDirectory()
        let transcript = Transcript()
        let moving = try folder.write(animation().encoded(as: .gif), to: "b.gif").path
        var terminal = Terminal()
        (terminal.isInteractive, terminal.columns) = (true, 10)
        let show = try command(ShowCommand.self, "show", moving, "--protocol", "text", "--loop", "3", "--size", "12x40")
        try await show.run(transcript.console(), terminal: terminal)
        // The terminal has no more columns.
        #expect(transcript.output.count == 4 && transcript.output.allSatisfy { $0.count == 10 })
        #expect(!transcript.output.joined().contains("\u{1B}"))
    }

    @Test("A still picture of half blocks is lines that need no movements of the cursor, also in a terminal")
    func stillInTerminal() async throws {
        let folder = try TemporaryDirectory()
        let transcript = Transcript()
        let still = try folder.write(picture(width: 4, height: 4).encoded(as: .png), to: "a.png").path
        var terminal = Terminal()
        terminal.isInteractive = true
        let show = try command(ShowCommand.self, "show", still, "--protocol", "blocks")
        try await show.run(transcript.console(), terminal: terminal)
        #expect(transcript.output.count == 2 && transcript.output.allSatisfy { $0.hasSuffix("\u{1B}[0m") })
    }

    @Test("Into a pipe goes nothing but text, also of an animation that is to be repeated")
    func plainText() async throws {
        let folder = try TemporaryDirectory()
        let transcript = Transcript()
        let still = try folder.write(picture(width: 48, height: 32).encoded(as: .png), to: "a.png").path
        let moving = try folder.write(animation().encoded(as: .gif), to: "b.gif").path
        let show = try command(ShowCommand.self, "show", still, moving, "--size", "12x40", "--loop", "3")
        try await show.run(transcript.console(), terminal: Terminal())
        // 12 × 8 pixels each.
        #expect(transcript.output.count == 8)
        #expect(transcript.output.allSatisfy { $0.count == 12 && $0.allSatisfy { " .:-=+*#%@".contains($0) } })
        #expect(try TextPicture.lines(pixels("WK", "WK", "RR")) == ["@ ", "::"])
    }

    @Test("An animation is drawn anew, in the room that there is, when the window changes")
    func resizedWindow() async throws {
        let folder = try TemporaryDirectory()
        let moving = try folder.write(animation().encoded(as: .gif), to: "b.gif").path
        var terminal = Terminal()
        terminal.isInteractive = true
        let (sizes, window) = AsyncStream.makeStream(of: CellSize.self)
        let written = Lock("")
        let console = Console(
            isClosed: {
                // Enough was drawn after the change.
                let parts = written.withLock { $0 }.components(separatedBy: "\u{1B}[H\u{1B}[2J")
                if parts.count == 1 { window.yield(CellSize(columns: 5, rows: 4)) }
                return parts.count > 1 && parts[1].contains("▀")
            }, output: { text in written.withLock { $0 += text } }, errors: { _ in })
        let show = try command(ShowCommand.self, "show", moving, "--loop", "0", "--protocol", "blocks")
        try await show.run(console, terminal: terminal, sizes: { sizes })
        let after = try required(written.withLock { $0 }.components(separatedBy: "\u{1B}[H\u{1B}[2J").last)
        let lines = after.replacingOccurrences(of: "\r\n", with: "\r").split(separator: "\r")
        #expect(lines.contains { $0.contains("▀") })
        #expect(lines.allSatisfy { $0.count(where: { $0 == "▀" }) <= 5 })
    }

    @Test("An animation draws its frames in one place, as often as it is told, and leaves the cursor alone")
    func animated() async throws {
        let folder = try TemporaryDirectory()
        let transcript = Transcript()
        let moving = try folder.write(animation().encoded(as: .gif), to: "b.gif").path
        var terminal = Terminal()
        terminal.isInteractive = true
        let show = try command(ShowCommand.self, "show", moving, "--loop", "2", "--protocol", "blocks")
        try await show.run(transcript.console(), terminal: terminal)
        let text = transcript.output.joined(separator: "\n")
        #expect(text.hasPrefix("\u{1B}[8A") && text.hasSuffix("\u{1B}[8B\r") && !text.contains("\u{1B}[?25"))
        let frames = text.components(separatedBy: "\u{1B}[7A").count - 1
        #expect((2...8).contains(frames), "late frames may be dropped")
    }

    @Test("An animation that repeats forever ends when its reader has left")
    func closedPipe() async throws {
        let folder = try TemporaryDirectory()
        let moving = try folder.write(animation().encoded(as: .gif), to: "b.gif").path
        let drawn = Lock(0)
        let console = Console(
            isClosed: { drawn.withLock { $0 } > 3 }, output: { _ in drawn.withLock { $0 += 1 } }, errors: { _ in })
        let show = try command(ShowCommand.self, "show", moving, "--loop", "0", "--protocol", "blocks")
        try await show.run(console, terminal: Terminal())
        #expect(drawn.withLock { $0 } >= 4)
    }

    @Test("What fails is reported, and the rest shown; wrong arguments are refused")
    func failures() async throws {
        let folder = try TemporaryDirectory()
        let transcript = Transcript()
        let good = try folder.write(picture(width: 4, height: 2).encoded(as: .png), to: "a.png").path
        let bad = try folder.write(Data("no picture".utf8), to: "b.png").path
        let show = try command(ShowCommand.self, "show", bad, good, "data:image/png;base64,AAAA")
        #expect(await status { try await show.run(transcript.console(), terminal: Terminal()) } == 1)
        #expect(transcript.output.count == 1 && transcript.errors.count == 2)
        #expect(transcript.errors[0].hasPrefix("tintype: \(bad): "))
        for arguments in [["--size", "0x4"], ["--size", "2000x4"], ["--loop", "-1"], ["--protocol", "ascii"]] {
            #expect(refusal(["show", "a.png"] + arguments) == 64)
        }
    }

    // MARK: Other programs

    private static func hasProgram(_ name: String) -> Bool {
        ["/usr/bin/", "/bin/", "/usr/local/bin/"].contains { access($0 + name, X_OK) == 0 }
    }

    /// Runs a program. `Process` would wait for a server that the program leaves behind too.
    private func run(_ name: String, _ arguments: [String]) throws -> (status: Int32, output: String) {
        let folder = try TemporaryDirectory()
        let file = try folder.write(Data(), to: "output")
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, file.path, O_WRONLY, 0)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        // Threads of Swift's concurrency block signals, and a server of tmux that inherits that can't be ended.
        var (attributes, none) = (posix_spawnattr_t(), sigset_t())
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var words = ([name] + arguments).map { strdup($0) } + [nil]
        defer { words.forEach { free($0) } }
        var process = pid_t()
        try #require(posix_spawnp(&process, name, &actions, &attributes, &words, environ) == 0)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return (status, String(decoding: try Data(contentsOf: file), as: UTF8.self))
    }

    @Test("Another program's decoder sees the picture", .enabled(if: hasProgram("sixel2png")))
    func independentSixels() throws {
        let folder = try TemporaryDirectory()
        let buffer = try picture(width: 45, height: 31).pixels
        let file = try folder.write(Data(SixelEncoder.sequence(buffer).utf8), to: "a.six").path
        let result = folder.path + "/a.png"
        #expect(try run("sixel2png", ["-i", file, "-o", result]).status == 0)
        let decoded = try ImageCoders.default.decode(Data(contentsOf: URL(fileURLWithPath: result))).pixels
        #expect(decoded.width == 45 && decoded.height >= 31)
        // At most 255 colors are left of 1,395, by diffusion: means are right, and so are most pixels nearly.
        var sums = (wanted: SIMD4<Int>.zero, found: SIMD4<Int>.zero)
        for y in 0..<31 {
            for x in 0..<45 {
                sums.wanted &+= SIMD4(truncatingIfNeeded: buffer[x, y])
                sums.found &+= SIMD4(truncatingIfNeeded: decoded[x, y])
            }
        }
        let difference = sums.wanted &- sums.found
        for component in 0..<4 { #expect(abs(difference[component]) / (45 * 31) <= 2) }
    }

    @Test("Tmux has on its screen what was shown, and its own terminal settings", .enabled(if: hasProgram("tmux")))
    func insideTmux() async throws {
        let folder = try TemporaryDirectory()
        let file = try folder.write(
            Image(pixels: pixels("RGBW", "RRGG", "BBWW", "WBGR")).encoded(as: .png), to: "a.png"
        ).path
        let program = URL(fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            .deletingLastPathComponent().appendingPathComponent("tintype").path
        try #require(FileManager.default.isExecutableFile(atPath: program))
        let server = ["-S", folder.path + "/socket", "-f", "/dev/null"]
        defer {
            // The server is found by its socket in the folder, which must not be gone.
            withExtendedLifetime(folder) { _ = try? run("tmux", server + ["kill-server"]) }
        }
        // `swift test` sets NO_COLOR.
        let colors = "env -u NO_COLOR COLORTERM=truecolor"
        let shown = "\(colors) '\(program)' show '\(file)' > /dev/tty; stty -a > '\(folder.path)/settings'; "
        let command = shown + "touch '\(folder.path)/done'; cat"
        #expect(try run("tmux", server + ["new-session", "-d", "-x", "40", "-y", "12", command]).status == 0)
        while !FileManager.default.fileExists(atPath: folder.path + "/done") {
            try await Task.sleep(for: .milliseconds(20))
        }
        let screen = try run("tmux", server + ["capture-pane", "-e", "-p"]).output
        let rows = screen.split(separator: "\n").map(String.init).filter { $0.contains("▀") }
        #expect(rows.count == 2)
        func codes(_ text: String, _ plane: Int) -> [String] {
            text.components(separatedBy: "\(plane);2;").dropFirst().map { $0.prefix { $0 != "m" }.description }
                .map { $0.split(separator: ";").prefix(3).joined(separator: ";") }
        }
        try #require(rows.count == 2)
        #expect(codes(rows[0], 38) == ["255;0;0", "0;255;0", "0;0;255", "255;255;255"])
        #expect(codes(rows[0], 48) == ["255;0;0", "0;255;0"])
        let settings = try String(contentsOfFile: folder.path + "/settings", encoding: .utf8)
        #expect(settings.contains(" icanon") && settings.contains(" echo "))
    }
}
