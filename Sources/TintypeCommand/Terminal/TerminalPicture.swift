internal import FoundationEssentials
internal import Tintype

/// Draws the frames of a picture in a fixed place of a terminal.
///
/// The rows of the picture are made by line feeds first, so that the terminal scrolls before it draws, and the cursor's way back is
/// the same in all terminals.
struct TerminalPicture {
    let graphics: TerminalProtocol
    let terminal: Terminal
    let layout: TerminalLayout
    /// The number of the picture, from 1 to 255.
    var id = 1

    /// Returns the sequences that make room for a picture.
    func begin(_ cells: CellSize) -> String {
        let rows = String(repeating: "\n", count: cells.rows)
        return "\(terminal.isInteractive ? "\u{1B}[?25l" : "")\(rows)\u{1B}[\(cells.rows)A"
    }

    /// Returns the sequences that show a frame. The cursor is at the left of the uppermost row before and after.
    func frame(_ pixels: PixelBuffer) throws(ImageError) -> String {
        let cells = layout.cells(of: pixels.size)
        switch graphics {
        case .text: return Self.below(try TextPicture.lines(pixels))
        case .blocks:
            return Self.below(try HalfBlocks(hasTrueColor: terminal.hasTrueColor).lines(pixels))
        case .sixel:
            return kept(try SixelEncoder.sequence(pixels))
        case .iterm2:
            return kept(try Self.inlineImage(pixels, cells: cells))
        case .kitty:
            let kitty = KittyGraphics(id: id)
            guard terminal.isInsideTmux else { return try kitty.sequences(pixels).joined() }
            let sequences = try kitty.virtualSequences(pixels, cells: cells)
            return sequences.map(Self.passedThrough).joined() + Self.below(kitty.placeholders(cells))
        }
    }

    /// Returns the picture in a window of another size.
    /// - Parameter room: the room that was asked for; `nil` for all of the window.
    func resized(to size: CellSize, room: CellSize?) -> TerminalPicture {
        var terminal = terminal
        (terminal.columns, terminal.rows) = (size.columns, size.rows)
        let layout = TerminalLayout(graphics, in: terminal, size: room)
        return TerminalPicture(graphics: graphics, terminal: terminal, layout: layout, id: id)
    }

    /// Returns the sequences that clear the window, which the terminal has changed: nobody knows where the picture is now.
    func clear() -> String {
        let isKitty = graphics == .kitty && !terminal.isInsideTmux
        return "\(isKitty ? "\u{1B}_Ga=d\u{1B}\\" : "")\u{1B}[H\u{1B}[2J"
    }

    /// Returns the sequences that move the cursor below the picture.
    func end(_ cells: CellSize) -> String {
        "\u{1B}[\(cells.rows)B\r\(terminal.isInteractive ? "\u{1B}[?25h" : "")"
    }

    /// Returns the sequences that show a still picture in output that isn't a terminal: lines of text, without movements.
    func text(_ pixels: PixelBuffer) throws(ImageError) -> String {
        switch graphics {
        case .text: return try TextPicture.lines(pixels).map { $0 + "\n" }.joined()
        case .blocks:
            return try HalfBlocks(hasTrueColor: terminal.hasTrueColor).lines(pixels).map { $0 + "\n" }.joined()
        default: return try frame(pixels) + "\n"
        }
    }

    /// Writes lines below each other, and moves back.
    private static func below(_ lines: [String]) -> String {
        lines.joined(separator: "\r\n") + "\r" + (lines.count > 1 ? "\u{1B}[\(lines.count - 1)A" : "")
    }

    /// Keeps the cursor's place: terminals leave it in different places.
    private func kept(_ sequence: String) -> String {
        "\u{1B}7\(terminal.isInsideTmux ? Self.passedThrough(sequence) : sequence)\u{1B}8"
    }

    /// Wraps a sequence so that tmux hands it to the terminal around it (`allow-passthrough`).
    static func passedThrough(_ sequence: String) -> String {
        "\u{1B}Ptmux;\(sequence.replacing("\u{1B}", with: "\u{1B}\u{1B}"))\u{1B}\\"
    }

    /// The sequence of iTerm2 that shows a file.
    private static func inlineImage(_ pixels: PixelBuffer, cells: CellSize) throws(ImageError) -> String {
        let png = try Image(pixels: pixels).encoded(as: .png)
        let keys =
            "inline=1;size=\(png.count);width=\(cells.columns);height=\(cells.rows);preserveAspectRatio=1"
        return "\u{1B}]1337;File=\(keys);doNotMoveCursor=1:\(png.base64EncodedString())\u{7}"
    }
}
