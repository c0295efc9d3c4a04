internal import FoundationEssentials
internal import Tintype

/// Draws pictures with Kitty's graphics protocol: <https://sw.kovidgoyal.net/kitty/graphics-protocol/>.
struct KittyGraphics {
    /// The number that identifies the picture to the terminal.
    var id: UInt32

    /// The largest piece of data in a sequence.
    private static let pieceLength = 4_096

    /// Returns a number that hardly any other picture in the terminal has.
    ///
    /// Only the lowest byte and the highest are used: the color and a diacritic of ``placeholders(_:)``.
    static func randomID() -> UInt32 { UInt32.random(in: 1..<128) << 24 | UInt32.random(in: 1...255) }

    /// Returns the sequences that show a picture at the cursor, which stays. A picture of the same number is replaced.
    func sequences(_ pixels: PixelBuffer) throws(ImageError) -> [String] {
        // No answers (`q=2`), which the shell would take for input.
        try transmission(pixels, "a=T,f=32,s=\(pixels.width),v=\(pixels.height),i=\(id),C=1,q=2")
    }

    /// Returns the sequences that send a picture for ``placeholders(_:)``.
    func virtualSequences(_ pixels: PixelBuffer, cells: CellSize) throws(ImageError) -> [String] {
        try transmission(
            pixels,
            "a=T,U=1,f=32,s=\(pixels.width),v=\(pixels.height),i=\(id),c=\(cells.columns),r=\(cells.rows),q=2")
    }

    /// Returns the sequence that removes a picture, also from the memory of the terminal.
    func deletion() -> String { "\u{1B}_Ga=d,d=I,i=\(id),q=2\u{1B}\\" }

    private func transmission(_ pixels: PixelBuffer, _ control: String) throws(ImageError) -> [String] {
        let data = Data(try pixels.straightRGBA()).base64EncodedString()
        var sequences: [String] = []
        var rest = data.utf8[...]
        while sequences.isEmpty || !rest.isEmpty {
            let piece = rest.prefix(Self.pieceLength)
            rest = rest.dropFirst(piece.count)
            let more = "m=\(rest.isEmpty ? 0 : 1)"
            let keys = sequences.isEmpty ? "\(control),\(more)" : "\(more),q=2"
            sequences.append("\u{1B}_G\(keys);\(Substring(piece))\u{1B}\\")
        }
        return sequences
    }

    /// Returns lines of characters that stand for the parts of a picture, so that tmux moves and clips it like text.
    ///
    /// The color of a character is the lowest byte of the picture's number. Diacritics of the first character in a row tell the row, the
    /// column, and the highest byte; those of the others follow from it.
    func placeholders(_ cells: CellSize) -> [String] {
        (0..<min(cells.rows, Self.maximumPlaceholderRows)).map { row in
            var scalars = String.UnicodeScalarView()
            for column in 0..<cells.columns {
                scalars.append("\u{10EEEE}")
                if column == 0 {
                    scalars.append(contentsOf: [row, 0, Int(id >> 24)].map { Self.diacritics[$0] })
                }
            }
            return "\u{1B}[38;5;\(id & 0xFF)m\(String(scalars))\u{1B}[39m"
        }
    }

    static var maximumPlaceholderRows: Int { diacritics.count }

    /// The first of the characters that stand for numbers: marks of the combining class 230 in Unicode 6.0 that have no decomposition, and
    /// form none with a letter.
    private static let diacritics: [Unicode.Scalar] = [
        0x305...0x305, 0x30D...0x30E, 0x310...0x310, 0x312...0x312, 0x33D...0x33F, 0x346...0x346, 0x34A...0x34C,
        0x350...0x352, 0x357...0x357, 0x35B...0x35B, 0x363...0x36F, 0x483...0x487, 0x592...0x595, 0x597...0x599,
        0x59C...0x5A1, 0x5A8...0x5A9, 0x5AB...0x5AC, 0x5AF...0x5AF, 0x5C4...0x5C4, 0x610...0x617, 0x657...0x65B,
        0x65D...0x65E, 0x6D6...0x6DC, 0x6DF...0x6E2, 0x6E4...0x6E4, 0x6E7...0x6E8, 0x6EB...0x6EC, 0x730...0x730,
        0x732...0x733, 0x735...0x736, 0x73A...0x73A, 0x73D...0x73D, 0x73F...0x741, 0x743...0x743, 0x745...0x745,
        0x747...0x747, 0x749...0x74A, 0x7EB...0x7F1, 0x7F3...0x7F3, 0x816...0x819, 0x81B...0x823, 0x825...0x827,
        0x829...0x82D,
    ].flatMap { $0.compactMap { Unicode.Scalar($0 as UInt32) } }
}
