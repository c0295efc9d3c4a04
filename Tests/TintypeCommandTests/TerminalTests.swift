import Foundation
import Glibc
import TestSupport
import Testing
import Tintype
import TintypeTesting

@testable import CommandSupport
@testable import TintypeCommand

@Suite("Pictures in terminals", .timeLimited)
struct TerminalTests {
    /// Pixels from rows of text: R, G, B, W, or a space for a transparent one.
    private func pixels(_ rows: String...) throws -> PixelBuffer {
        let colors: [Character: SIMD4<UInt8>] = [
            "R": [255, 0, 0, 255], "G": [0, 255, 0, 255], "B": [0, 0, 255, 255], "W": [255, 255, 255, 255],
        ]
        let buffer = try MutablePixelBuffer(size: PixelSize(width: rows[0].count, height: rows.count))
        for (y, row) in rows.enumerated() {
            for (x, character) in row.enumerated() {
                buffer.row(y).storeBytes(of: colors[character] ?? .zero, toByteOffset: x * 4, as: SIMD4<UInt8>.self)
            }
        }
        return buffer.freeze()
    }

    // MARK: Detection

    static let terminals: [([String: String], [UInt8], TerminalProtocol)] = [
        ([:], [], .blocks),
        (["TERM": "xterm-kitty"], [], .kitty),
        (["TERM": "xterm-256color"], Array("\u{1B}_Gi=31;OK\u{1B}\\\u{1B}[?62;c".utf8), .kitty),
        (["TERM": "xterm-256color"], Array("\u{1B}[?62;4;22c".utf8), .sixel),
        (["TERM": "xterm-256color"], Array("\u{1B}[?62;22c".utf8), .blocks),
        // 14 is not 4, and the first number is the level of the terminal.
        (["TERM": "xterm-256color"], Array("\u{1B}[?4;14c".utf8), .blocks),
        (["TERM_PROGRAM": "iTerm.app"], Array("\u{1B}[?62;4c".utf8), .iterm2),
        (["LC_TERMINAL": "iTerm2"], [], .iterm2),
        (["TERM_PROGRAM": "ghostty"], [], .kitty),
        (["TMUX": "/tmp/tmux,1,0", "KITTY_WINDOW_ID": "1"], [], .blocks),
        (["TMUX": "/tmp/tmux,1,0"], Array("\u{1B}[?1;2;4c".utf8), .sixel),
        (["TMUX": "", "KITTY_WINDOW_ID": "1"], [], .kitty),
    ]

    @Test("The best protocol is that of the terminal's own answer, then of the environment", arguments: terminals)
    func detection(environment: [String: String], reply: [UInt8], expected: TerminalProtocol) {
        #expect(TerminalProtocol.detected(environment: environment, reply: TerminalReply(reply)) == expected)
    }

    @Test("The size of a cell is the terminal's answer, else the kernel's, else a usual one; nonsense is ignored")
    func cellSizes() {
        var window = winsize(ws_row: 40, ws_col: 100, ws_xpixel: 1_000, ws_ypixel: 800)
        func cell(_ reply: String) -> [Int] {
            let terminal = Terminal(environment: [:], window: window, reply: TerminalReply(Array(reply.utf8)))
            return [terminal.cellWidth, terminal.cellHeight]
        }
        #expect(cell("\u{1B}[6;24;12t\u{1B}[?62c") == [12, 24])
        #expect(cell("x\u{1B}[6;24;12t") == [12, 24])
        #expect(cell("") == [10, 20] && cell("\u{1B}[6;0;12t") == [10, 20] && cell("\u{1B}[6;99999;12t") == [10, 20])
        #expect(cell("\u{1B}[6;-4;99999999999999999999t\u{1B}[") == [10, 20])
        window.ws_xpixel = 0
        #expect(cell("") == [8, 16])
        window.ws_xpixel = 65_535
        window.ws_col = 1
        #expect(cell("")[0] == 256)
    }

    @Test("An answer is complete with the device attributes")
    func completeReply() {
        #expect(!TerminalReply.isComplete(Array("\u{1B}_Gi=31;OK\u{1B}\\\u{1B}[6;20;10t".utf8)))
        #expect(!TerminalReply.isComplete(Array("\u{1B}[?62;4".utf8)))
        #expect(TerminalReply.isComplete(Array("\u{1B}[6;20;10t\u{1B}[?62;4c".utf8)))
    }

    // MARK: Protocols

    @Test("Half blocks have the colors of two pixels, and the background where both are transparent")
    func halfBlocks() throws {
        let lines = try HalfBlocks().lines(pixels("RRG ", "RB  ", "W  R"))
        #expect(
            lines == [
                "\u{1B}[38;2;255;0;0m\u{1B}[48;2;255;0;0m▀\u{1B}[48;2;0;0;255m▀\u{1B}[38;2;0;255;0m\u{1B}[49m▀ \u{1B}[0m",
                "\u{1B}[38;2;255;255;255m▀  \u{1B}[38;2;255;0;0m▀\u{1B}[0m",
            ])
        #expect(try HalfBlocks().lines(pixels(" ", "R")) == ["\u{1B}[38;2;255;0;0m▄\u{1B}[0m"])
        #expect(try HalfBlocks(hasTrueColor: false).lines(pixels("R")) == ["\u{1B}[38;5;196m▀\u{1B}[0m"])
    }

    @Test("The 256 colors are found where they are exact, and no color is far off")
    func fixedColors() {
        #expect(HalfBlocks.index([0, 0, 0]) == 16 && HalfBlocks.index([255, 255, 255]) == 231)
        #expect(HalfBlocks.index([95, 135, 175]) == 67 && HalfBlocks.index([128, 128, 128]) == 244)
        #expect(HalfBlocks.index([8, 8, 8]) == 232 && HalfBlocks.index([238, 238, 238]) == 255)
        for value in stride(from: 0, through: 255, by: 5) {
            #expect((16...255).contains(HalfBlocks.index([UInt8(value), UInt8(255 - value), 77])))
        }
    }

    @Test("A picture for Kitty comes in pieces of 4,096 characters, and only the last one says so")
    func kittyPieces() throws {
        let buffer = try picture(width: 60, height: 40, alpha: true).pixels
        let sequences = try KittyGraphics(id: 7).sequences(buffer)
        #expect(sequences.count == 4)
        #expect(sequences[0].hasPrefix("\u{1B}_Ga=T,f=32,s=60,v=40,i=7,p=1,C=1,q=2,m=1;"))
        #expect(sequences.dropFirst().dropLast().allSatisfy { $0.hasPrefix("\u{1B}_Gm=1,q=2;") })
        #expect(sequences[3].hasPrefix("\u{1B}_Gm=0,q=2;") && sequences.allSatisfy { $0.hasSuffix("\u{1B}\\") })
        let text = sequences.map { $0.dropLast(2).split(separator: ";")[1] }.joined()
        #expect(try [UInt8](required(Data(base64Encoded: text))) == buffer.straightRGBA())
        #expect(text.count > 3 * 4_096)
    }

    @Test("Inside tmux, a picture for Kitty is sent through, and drawn by characters that tmux moves like text")
    func kittyInTmux() throws {
        var terminal = Terminal()
        (terminal.isInteractive, terminal.isInsideTmux) = (true, true)
        let layout = TerminalLayout(.kitty, in: terminal)
        let drawing = try TerminalPicture(graphics: .kitty, terminal: terminal, layout: layout, id: 9)
            .frame(picture(width: 24, height: 32).pixels)
        #expect(drawing.hasPrefix("\u{1B}Ptmux;\u{1B}\u{1B}_Ga=T,U=1,f=32,s=24,v=32,i=9,c=3,r=2,q=2,m=0;"))
        #expect(drawing.contains("\u{1B}\u{1B}\\\u{1B}\\\u{1B}[38;5;9m"))
        let rows = KittyGraphics(id: 9).placeholders(CellSize(columns: 3, rows: 2))
        #expect(
            rows == [
                "\u{1B}[38;5;9m\u{10EEEE}\u{305}\u{305}\u{10EEEE}\u{10EEEE}\u{1B}[39m",
                "\u{1B}[38;5;9m\u{10EEEE}\u{30D}\u{305}\u{10EEEE}\u{10EEEE}\u{1B}[39m",
            ])
        #expect(KittyGraphics.maximumPlaceholderRows == 129)
        terminal.rows = 1_000
        #expect(TerminalLayout(.kitty, in: terminal).room.rows == 129)
    }

    @Test("Inside tmux, sixels and iTerm2's images are wrapped, with every escape doubled")
    func wrapping() throws {
        var terminal = Terminal()
        terminal.isInsideTmux = true
        for graphics in [TerminalProtocol.sixel, .iterm2] {
            let layout = TerminalLayout(graphics, in: terminal)
            let plain = Terminal()
            let inside = try TerminalPicture(graphics: graphics, terminal: terminal, layout: layout).frame(pixels("RG"))
            let outside = try TerminalPicture(graphics: graphics, terminal: plain, layout: layout).frame(pixels("RG"))
            let sequence = outside.dropFirst(2).dropLast(2)
            #expect(
                inside == "\u{1B}7\u{1B}Ptmux;"
                    + sequence.replacing("\u{1B}", with: "\u{1B}\u{1B}") + "\u{1B}\\\u{1B}8")
        }
    }

    @Test("iTerm2 gets a PNG with its length")
    func inlineImage() throws {
        let buffer = try picture(width: 20, height: 10, alpha: true).pixels
        let layout = TerminalLayout(.iterm2, in: Terminal())
        let text = try TerminalPicture(graphics: .iterm2, terminal: Terminal(), layout: layout).frame(buffer)
        let match = try required(
            text.wholeMatch(
                of: /\x1B7\x1B\]1337;File=inline=1;size=(\d+);width=3;height=1;.*:([A-Za-z0-9+\/=]+)\x07\x1B8/))
        let png = try required(Data(base64Encoded: String(match.2)))
        #expect(Int(match.1) == png.count)
        #expect(try ImageCoders.default.decode(png).pixels == buffer)
    }

    @Test("Sixels have runs, all colors, and nothing for transparent pixels")
    func sixels() throws {
        #expect(
            try SixelEncoder.sequence(pixels("RRRRR ", "GG    "))
                == "\u{1B}P0;1q\"1;1;6;2#0;2;100;0;0#1;2;0;100;0#0!5@$#1AA\u{1B}\\")
        #expect(try SixelEncoder.sequence(pixels("R", "R", "R", "R", "R", "R", "G")).contains("#0~-#1@"))
        #expect(try SixelEncoder.sequence(pixels("  ")) == "\u{1B}P0;1q\"1;1;2;1\u{1B}\\")
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

    // MARK: The command

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
        #expect(!transcript.output.joined().contains("\u{1B}[?25"))
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

    @Test("A dumb terminal gets text, and one without colors gets no half blocks")
    func plainTerminals() {
        func terminal(_ environment: [String: String]) -> Terminal {
            Terminal(environment: environment, window: winsize(), reply: TerminalReply())
        }
        #expect(terminal(["TERM": "xterm"]).graphics == .blocks)
        #expect(terminal(["TERM": "xterm", "NO_COLOR": ""]).graphics == .blocks)
        let colorless = terminal(["TERM": "xterm", "NO_COLOR": "1"])
        #expect(colorless.graphics == .text && colorless.isInteractive)
        #expect(terminal(["TERM": "xterm-kitty", "NO_COLOR": "1"]).graphics == .kitty)
        let dumb = terminal(["TERM": "dumb"])
        #expect(dumb.graphics == .text && !dumb.isInteractive)
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

    @Test("An animation draws its frames in one place, as often as it is told, and shows the cursor again")
    func animated() async throws {
        let folder = try TemporaryDirectory()
        let transcript = Transcript()
        let moving = try folder.write(animation().encoded(as: .gif), to: "b.gif").path
        var terminal = Terminal()
        terminal.isInteractive = true
        let show = try command(ShowCommand.self, "show", moving, "--loop", "2", "--protocol", "blocks")
        try await show.run(transcript.console(), terminal: terminal)
        let text = transcript.output.joined(separator: "\n")
        #expect(text.hasPrefix("\u{1B}[?25l") && text.hasSuffix("\u{1B}[8B\r\u{1B}[?25h"))
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
