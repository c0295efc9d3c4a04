/// The answers of a terminal to questions about itself.
struct TerminalReply: Equatable, Sendable {
    /// False if the terminal has said nothing at all.
    var hasAnswered = false
    /// The terminal is iTerm2, or has its inline images.
    var understandsInlineImages = false
    var understandsKitty = false
    var understandsSixel = false
    /// The size of a cell, in pixels; `nil` if the terminal doesn't tell.
    var cell: (width: Int, height: Int)?

    /// The questions: an empty picture that Kitty's protocol answers (`a=q`), the name (`CSI > q`) and the size of a cell (`CSI 16 t`) as
    /// xterm tells them, and the primary device attributes (`CSI c`), which every terminal answers, and which therefore come last.
    /// - Parameter isInsideTmux: true for tmux, which takes the picture for a title.
    static func questions(isInsideTmux: Bool) -> String {
        (isInsideTmux ? "" : "\u{1B}_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\u{1B}\\") + "\u{1B}[>q\u{1B}[16t\u{1B}[c"
    }

    init() {}

    /// Reads answers. Other input, such as keys that were pressed, is ignored.
    init(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        understandsKitty = text.contains("\u{1B}_Gi=31;OK")
        understandsInlineImages = ["iTerm2", "WezTerm", "mintty"].contains { text.contains("\u{1B}P>|\($0)") }
        hasAnswered = understandsKitty || understandsInlineImages || Self.isComplete(bytes)
        for sequence in text.split(separator: "\u{1B}[").dropFirst(text.hasPrefix("\u{1B}[") ? 0 : 1) {
            guard let end = sequence.firstIndex(where: { ("@"..."~").contains($0) }) else { continue }
            let parameters = sequence[..<end].drop { $0 == "?" }.split(separator: ";").map { Int($0) }
            switch sequence[end] {
            case "c": understandsSixel = parameters.dropFirst().contains(4)
            case "t" where parameters.count == 3 && parameters[0] == 6:
                if let height = parameters[1], let width = parameters[2], Self.cellSides.contains(height),
                    Self.cellSides.contains(width)
                {
                    cell = (width, height)
                }
            default: break
            }
        }
    }

    /// The sides that a cell may have, in pixels.
    static let cellSides = 1...256

    /// True once the last question is answered.
    static func isComplete(_ bytes: [UInt8]) -> Bool {
        guard let start = bytes.indices.last(where: { bytes[$0...].starts(with: [0x1B, 0x5B, 0x3F]) }) else {
            return false
        }
        return bytes[start...].contains(UInt8(ascii: "c"))
    }

    static func == (left: TerminalReply, right: TerminalReply) -> Bool {
        left.hasAnswered == right.hasAnswered && left.understandsKitty == right.understandsKitty
            && left.understandsInlineImages == right.understandsInlineImages
            && left.understandsSixel == right.understandsSixel
            && left.cell?.width == right.cell?.width && left.cell?.height == right.cell?.height
    }
}
