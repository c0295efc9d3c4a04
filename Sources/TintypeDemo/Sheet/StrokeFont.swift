/// A small font of line strokes for the labels of a contact sheet. So no font has to be installed or shipped.
///
/// Letters are drawn on a grid: capitals from line 0 to the baseline at 6, lowercase letters from line 2, descenders down to 8.
enum StrokeFont {
    typealias Point = SIMD2<Float>

    /// The lines of a character, and the distance to the next, in units of the grid.
    struct Glyph {
        var lines: [[Point]]
        var advance: Float
    }

    private static let space: Float = 3.2

    static func glyph(_ character: Character) -> Glyph {
        if character == " " { return Glyph(lines: [], advance: space) }
        return glyphs[character] ?? unknown
    }

    /// Returns the width of a text.
    static func width(_ text: String) -> Float { text.reduce(0) { $0 + glyph($1).advance } }

    /// Returns the text, shortened to a maximum width by replacing its middle with three dots.
    static func fitted(_ text: String, width limit: Float) -> String {
        guard width(text) > limit else { return text }
        let characters = Array(text)
        var kept = characters.count - 1
        while kept > 2 {
            let head = kept * 2 / 3
            let shortened =
                String(characters[..<head]) + "…" + String(characters[(characters.count - (kept - head))...])
            if width(shortened) <= limit { return shortened }
            kept -= 1
        }
        return "…"
    }

    private static let unknown = parse("0040460600")
    private static let glyphs = shapes.mapValues(parse)

    /// Parses a shape: words are lines, and pairs of digits are points (column and line).
    private static func parse(_ shape: String) -> Glyph {
        let lines = shape.split(separator: " ").map { word -> [Point] in
            let digits = word.compactMap(\.wholeNumberValue)
            return stride(from: 0, to: digits.count - 1, by: 2).map {
                Point(Float(digits[$0]), Float(digits[$0 + 1]))
            }
        }
        let right = lines.joined().map(\.x).max() ?? 0
        return Glyph(lines: lines, advance: right + 2)
    }

    private static let shapes: [Character: String] = [
        "A": "062046 1434", "B": "06003041423303 3344453606", "C": "4130100105163645", "D": "0006 002042442606",
        "E": "40000646 0333", "F": "400006 0333", "G": "41301001051636454323", "H": "0006 4046 0343",
        "I": "0020 1016 0626", "J": "3035261605", "K": "0006 4004 1346", "L": "000646", "M": "0600234046",
        "N": "06004640", "O": "100105163645413010", "P": "06003041423303", "Q": "100105163645413010 2446",
        "R": "06003041423303 2346", "S": "413010010213334445361605", "T": "0040 2026", "U": "000516364540",
        "V": "002640", "W": "0016233640", "X": "0046 4006", "Y": "002340 2326", "Z": "00400646",
        "a": "12324346 441405163645", "b": "0006 0312324345361605", "c": "4332120305163645",
        "d": "4046 4332120305163645", "e": "04444332120305163645", "f": "30201116 0232",
        "g": "4332120305163645 4247381807", "h": "0006 0312324346", "i": "0206 0000", "j": "12171808 1010",
        "k": "0006 3205 1436", "l": "000516", "m": "0206 03122326 23324346", "n": "0206 0312324346",
        "o": "120305163645433212", "p": "0208 0312324345361605", "q": "4248 4332120305163645", "r": "0206 041232",
        "s": "43321203143445361605", "t": "10152636 0232", "u": "0205163645 4246", "v": "022642", "w": "0216243642",
        "x": "0246 4206", "y": "0226 4218", "z": "02420646",
        "0": "100105163645413010", "1": "112026 1636", "2": "01103041420646", "3": "011030414233 1333 334445361605",
        "4": "36300444", "5": "400002324345361605", "6": "413010010516364544331304", "7": "004016",
        "8": "100102133342413010 1304051636454433", "9": "051636454130100102133342",
        ".": "0606", ",": "0607", ":": "0303 0606", "-": "0434", "_": "0747", "+": "2226 0444", "×": "0347 4307",
        "/": "4006", "(": "20111526", ")": "00111506", "·": "0404", "…": "0606 2626 4646", "%": "4006 0111 3545",
        "=": "0343 0545", "'": "0002", "!": "0004 0606", "&": "463010011224061645", "~": "0413233342",
        "#": "1016 3036 0242 0444",
        "@": "34242333363445413010010516", "µ": "0208 0205163645 4246", "[": "20101626", "]": "00101606", "–": "0444",
    ]
}
