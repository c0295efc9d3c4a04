internal import Tintype

/// A size in cells of a terminal: `80x24`.
struct CellSize: Equatable, Sendable {
    var columns: Int
    var rows: Int
}

/// The room that a terminal gives a picture.
struct TerminalLayout: Equatable, Sendable {
    /// The room, in cells.
    var room: CellSize
    /// The pixels that a cell shows.
    var cell: PixelSize

    /// - Parameter size: the size that was asked for; `nil` to leave a row of the terminal for the prompt. Lines that are wider than a
    ///   terminal would be broken.
    init(_ graphics: TerminalProtocol, in terminal: Terminal, size: CellSize? = nil) {
        room = size ?? CellSize(columns: terminal.columns, rows: max(1, terminal.rows - 1))
        if terminal.isInteractive { room.columns = min(room.columns, terminal.columns) }
        switch graphics {
        case .blocks, .text: cell = PixelSize(width: 1, height: 2)
        case .kitty where terminal.isInsideTmux:
            room.rows = min(room.rows, KittyGraphics.maximumPlaceholderRows)
            cell = PixelSize(width: terminal.cellWidth, height: terminal.cellHeight)
        default: cell = PixelSize(width: terminal.cellWidth, height: terminal.cellHeight)
        }
    }

    /// The largest picture, in pixels.
    var box: PixelSize { PixelSize(width: room.columns * cell.width, height: room.rows * cell.height) }

    /// Returns the size of a picture that is shrunk, if need be, until it has room.
    func fitted(_ size: PixelSize) -> PixelSize {
        guard size.width > box.width || size.height > box.height else { return size }
        let factor = min(Double(box.width) / Double(size.width), Double(box.height) / Double(size.height))
        return PixelSize(
            width: max(1, Int(Double(size.width) * factor)), height: max(1, Int(Double(size.height) * factor)))
    }

    /// Returns the cells that a picture covers.
    func cells(of size: PixelSize) -> CellSize {
        CellSize(
            columns: (size.width + cell.width - 1) / cell.width, rows: (size.height + cell.height - 1) / cell.height)
    }
}
