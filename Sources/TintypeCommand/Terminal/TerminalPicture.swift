internal import Tintype

/// Draws the frames of a picture in a fixed place of a terminal.
///
/// The rows of the picture are made by line feeds first, so that the terminal scrolls before it draws, and the cursor's way back is
/// the same in all terminals. The cursor stays visible, because a command that Ctrl-Z stops can't show it again.
struct TerminalPicture {
    let graphics: TerminalProtocol
    private(set) var terminal: Terminal
    private(set) var layout: TerminalLayout
    /// The numbers of Kitty's pictures, which differ: an animation of any length takes two in turn.
    private var ids: (next: UInt32, last: UInt32)
    /// True once a frame has the last number.
    private var hasFrame = false

    /// - Parameter newID: makes the numbers of Kitty's pictures.
    init(
        graphics: TerminalProtocol, terminal: Terminal, layout: TerminalLayout,
        newID: () -> UInt32 = KittyGraphics.randomID
    ) {
        (self.graphics, self.terminal, self.layout) = (graphics, terminal, layout)
        ids = (newID(), newID())
        while ids.last == ids.next { ids.last = newID() }
    }

    /// Returns the sequences that make room for a picture.
    func begin(_ cells: CellSize) -> String {
        "\(String(repeating: "\n", count: cells.rows))\u{1B}[\(cells.rows)A"
    }

    /// Returns the sequences that show a frame. The cursor is at the left of the uppermost row before and after.
    mutating func frame(_ pixels: PixelBuffer) throws(ImageError) -> String {
        let cells = layout.cells(of: pixels.size)
        switch graphics {
        case .text, .blocks: return Self.below(try lines(pixels) ?? [])
        // tmux draws sixels itself.
        case .sixel: return Self.kept(try sixels(pixels))
        case .iterm2: return Self.kept(passedThrough(try InlineImage.sequence(pixels, cells: cells)))
        case .kitty: return try kittyFrame(pixels, cells)
        }
    }

    /// Returns the lines of a picture that is drawn with characters; `nil` for other protocols.
    func lines(_ pixels: PixelBuffer) throws(ImageError) -> [String]? {
        switch graphics {
        case .text: try TextPicture.lines(pixels)
        case .blocks: try HalfBlocks(hasTrueColor: terminal.hasTrueColor).lines(pixels)
        case .kitty, .iterm2, .sixel: nil
        }
    }

    /// The frame before is removed when the next one is there: nothing blinks, and the terminal's memory doesn't grow.
    private mutating func kittyFrame(_ pixels: PixelBuffer, _ cells: CellSize) throws(ImageError) -> String {
        let kitty = KittyGraphics(id: ids.next)
        var drawing: String
        if terminal.isInsideTmux {
            drawing = try kitty.virtualSequences(pixels, cells: cells).map(passedThrough).joined()
            drawing += Self.below(kitty.placeholders(cells))
        } else {
            drawing = try kitty.sequences(pixels).joined()
        }
        if hasFrame { drawing += passedThrough(KittyGraphics(id: ids.last).deletion()) }
        ids = (ids.last, ids.next)
        hasFrame = true
        return drawing
    }

    /// Returns the picture in a window of another size.
    /// - Parameter room: the room that was asked for; `nil` for all of the window.
    func resized(to size: CellSize, room: CellSize?) -> TerminalPicture {
        var picture = self
        (picture.terminal.columns, picture.terminal.rows) = (size.columns, size.rows)
        picture.layout = TerminalLayout(graphics, in: picture.terminal, size: room)
        return picture
    }

    /// Returns the sequences that clear the window, which the terminal has changed: nobody knows where the picture is now.
    func clear() -> String {
        let isKitty = graphics == .kitty && !terminal.isInsideTmux
        return "\(isKitty ? "\u{1B}_Ga=d\u{1B}\\" : "")\u{1B}[H\u{1B}[2J"
    }

    /// Returns the sequences that move the cursor below the picture.
    ///
    /// At Ctrl-C, the kernel may have dropped the end of a picture's sequence: it is ended again.
    func end(_ cells: CellSize) -> String {
        let isText = [.text, .blocks].contains(graphics)
        return "\(isText ? "" : "\u{1B}\\")\u{1B}[\(cells.rows)B\r"
    }

    /// Returns sixels that are short enough. tmux drops sequences of more than 1,048,576 bytes; a smaller picture is better than none.
    private func sixels(_ pixels: PixelBuffer) throws(ImageError) -> String {
        var pixels = pixels
        while true {
            let sequence = try SixelEncoder.sequence(pixels)
            guard terminal.isInsideTmux, sequence.utf8.count > 1_000_000 else { return sequence }
            let (width, height) = (max(1, pixels.width * 3 / 4), max(1, pixels.height * 3 / 4))
            pixels = try Image(pixels: pixels).transformed(
                ImageTransformers.resize(width: width, height: height, mode: .fill)
            ).pixels
        }
    }

    /// Writes lines below each other, and moves back.
    private static func below(_ lines: [String]) -> String {
        lines.joined(separator: "\r\n") + "\r" + (lines.count > 1 ? "\u{1B}[\(lines.count - 1)A" : "")
    }

    /// Keeps the cursor's place: terminals leave it in different places.
    private static func kept(_ sequence: String) -> String { "\u{1B}7\(sequence)\u{1B}8" }

    /// Inside tmux, wraps a sequence so that tmux hands it to the terminal around it (`allow-passthrough`).
    private func passedThrough(_ sequence: String) -> String {
        guard terminal.isInsideTmux else { return sequence }
        return "\u{1B}Ptmux;\(sequence.replacing("\u{1B}", with: "\u{1B}\u{1B}"))\u{1B}\\"
    }
}
