import Glibc
import TestSupport
import Testing
import Tintype

@testable import CommandSupport
@testable import TintypeCommand

@Suite("Terminals", .timeLimited)
struct TerminalDetectionTests {
    private static let attributes = "\u{1B}[?62;22c"

    static let terminals: [([String: String], String, TerminalProtocol)] = [
        (["TERM": "xterm-256color"], "\u{1B}_Gi=31;OK\u{1B}\\\u{1B}[?62;c", .kitty),
        (["TERM": "xterm-256color"], "\u{1B}[?62;4;22c", .sixel),
        (["TERM": "xterm-256color"], attributes, .blocks),
        // 14 is not 4, and the first number is the level of the terminal.
        (["TERM": "xterm-256color"], "\u{1B}[?4;14c", .blocks),
        ([:], "\u{1B}P>|iTerm2 3.5.11\u{1B}\\\u{1B}[?62;4c", .iterm2),
        ([:], "\u{1B}P>|WezTerm 20240203-110809-5046fc22\u{1B}\\\u{1B}[?65;4;6;18;22c", .iterm2),
        ([:], "\u{1B}P>|mintty 3.7.4\u{1B}\\" + attributes, .iterm2),
        ([:], "\u{1B}P>|XTerm(390)\u{1B}\\" + attributes, .blocks),
        // The environment is that of another terminal, from which GNU screen or xterm was started.
        (["KITTY_WINDOW_ID": "1", "TERM": "screen.xterm-kitty"], "\u{1B}[?1;2c", .blocks),
        (["KITTY_WINDOW_ID": "1", "TERM": "xterm"], "\u{1B}P>|XTerm(390)\u{1B}\\\u{1B}[?64;4c", .sixel),
        (["TERM": "xterm-kitty"], attributes, .blocks),
        (["TERM_PROGRAM": "iTerm.app"], attributes, .blocks),
        // Nothing is answered.
        ([:], "", .blocks),
        (["TERM": "xterm-kitty"], "", .kitty),
        (["TERM_PROGRAM": "iTerm.app"], "", .iterm2),
        (["LC_TERMINAL": "iTerm2"], "", .iterm2),
        (["TERM_PROGRAM": "ghostty"], "", .kitty),
        (["TERM": "linux", "KITTY_WINDOW_ID": "1"], "", .blocks),
        // Inside tmux.
        (["TMUX": "/tmp/tmux,1,0", "KITTY_WINDOW_ID": "1"], "", .blocks),
        (["TMUX": "/tmp/tmux,1,0"], "\u{1B}[?1;2;4c", .sixel),
        (["TMUX": "", "KITTY_WINDOW_ID": "1"], "", .kitty),
    ]

    @Test(
        "The best protocol is that of the terminal's own answer; the environment counts only without one",
        arguments: terminals)
    func detection(environment: [String: String], reply: String, expected: TerminalProtocol) {
        let reply = TerminalReply(Array(reply.utf8))
        #expect(TerminalProtocol.detected(environment: environment, reply: reply) == expected)
    }

    @Test("A terminal that would print the questions isn't asked")
    func askedTerminals() {
        for (name, isAsked) in [("xterm", true), ("screen", true), ("linux", false), ("dumb", false)] {
            #expect(TerminalProtocol.canBeAsked(["TERM": name]) == isAsked)
        }
    }

    @Test("A slow answer is awaited, so that the shell doesn't get it, and one that never comes isn't for long")
    func slowAnswer() throws {
        var ends: [Int32] = [0, 0]
        let made = pipe(&ends)
        try #require(made == 0)
        defer { for end in ends { close(end) } }
        var slices = 0
        let answer = ["\u{1B}_Gi=31;OK\u{1B}\\", "\u{1B}[6;20;10t\u{1B}[?6", "2;4c"]
        let bytes = Terminal.answers(from: ends[0], until: .now + .seconds(3_600)) { event in
            slices += 1
            // Each part comes after some time in which nothing did.
            if slices % 5 == 0 { write(ends[1], answer[slices / 5 - 1], answer[slices / 5 - 1].utf8.count) }
            return poll(&event, 1, 0)
        }
        #expect(String(decoding: bytes, as: UTF8.self) == answer.joined() && slices == 5 * answer.count)
        #expect(Terminal.answers(from: ends[0], until: .now).isEmpty)
    }

    @Test("Ctrl-C ends the wait for an answer")
    func canceledAnswer() async {
        let waiting = Task.detached {
            while !Task.isCancelled { await Task.yield() }
            // A descriptor that has never bytes.
            return Terminal.answers(from: -1, until: .now + .seconds(3_600)) { _ in 0 }
        }
        waiting.cancel()
        #expect(await waiting.value.isEmpty)
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
        #expect(terminal(["TERM": "linux", "NO_COLOR": "1"]).graphics == .text)
        let dumb = terminal(["TERM": "dumb"])
        #expect(dumb.graphics == .text && !dumb.isInteractive)
    }
}
