internal import ArgumentParser

/// A way to show pictures in a terminal.
enum TerminalProtocol: String, CaseIterable, ExpressibleByArgument, Sendable {
    /// The graphics protocol of Kitty: <https://sw.kovidgoyal.net/kitty/graphics-protocol/>.
    case kitty
    /// Inline images of iTerm2: <https://iterm2.com/documentation-images.html>.
    case iterm2
    /// Sixel graphics of DEC's VT300 series (EK-VT3XX-TP, chapter 14).
    case sixel
    /// Two pixels in each cell, drawn with the character ▀ in two colors. Works in every terminal.
    case blocks
    /// Characters that are denser where a picture is brighter, without colors and without escape sequences.
    case text

    /// Returns the best protocol that a terminal understands.
    ///
    /// The environment counts only for a terminal that answers nothing: it is lost on the way to another computer, and it may belong to
    /// the terminal from which this one was started. Inside tmux only blocks are certain to arrive, and sixels if tmux itself
    /// understands them: other sequences pass only if `allow-passthrough` is on.
    static func detected(environment: [String: String], reply: TerminalReply) -> TerminalProtocol {
        if isInsideTmux(environment) { return reply.understandsSixel ? .sixel : .blocks }
        if reply.understandsKitty { return .kitty }
        if reply.understandsInlineImages { return .iterm2 }
        if reply.understandsSixel { return .sixel }
        if reply.hasAnswered || !canBeAsked(environment) { return .blocks }
        let program = environment["TERM_PROGRAM"] ?? environment["LC_TERMINAL"] ?? ""
        if ["iTerm.app", "iTerm2", "WezTerm", "mintty"].contains(program) { return .iterm2 }
        if environment["KITTY_WINDOW_ID"] != nil || environment["TERM"] == "xterm-kitty" || program == "ghostty" {
            return .kitty
        }
        return .blocks
    }

    /// False for a terminal without sequences, and for the console of Linux, which has no graphics, and prints questions that it doesn't
    /// know.
    static func canBeAsked(_ environment: [String: String]) -> Bool {
        !["dumb", "linux"].contains(environment["TERM"] ?? "")
    }

    static func isInsideTmux(_ environment: [String: String]) -> Bool { environment["TMUX"]?.isEmpty == false }
}
