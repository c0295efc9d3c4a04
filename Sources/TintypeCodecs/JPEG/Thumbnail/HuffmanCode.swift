/// A Huffman code as a file defines it (ITU-T T.81, B.2.4.2): how many codes of each length there are, and their symbols in order.
struct HuffmanCode: Hashable {
    private let counts: [UInt8]
    private let symbols: [UInt8]

    /// - Parameters:
    ///   - counts: the number of codes of 1 to 16 bits.
    /// - Returns: `nil` if the codes of some length don't fit. The code with all bits set is not allowed (annex C), as in libjpeg.
    init?(counts: [UInt8], symbols: [UInt8]) {
        guard counts.count == 16, symbols.count == counts.reduce(0, { $0 + Int($1) }), symbols.count <= 256 else {
            return nil
        }
        var next = 0
        for (index, count) in counts.enumerated() {
            next += Int(count)
            guard next < 1 << (index + 1) else { return nil }
            next <<= 1
        }
        self.counts = counts
        self.symbols = symbols
    }

    /// True for a code of differences: their categories go up to 11 with 8 bits per component (table F.1).
    var isOfDifferences: Bool { symbols.allSatisfy { $0 <= 11 } }

    /// The symbol whose code the next 16 bits start with; `nil` if there is none.
    func symbol(at bits: Int) -> (length: Int, value: Int)? {
        var next = 0
        var index = 0
        for length in 1...16 {
            let count = Int(counts[length - 1])
            let position = (bits >> (16 - length)) - next
            if position < count { return (length, Int(symbols[index + position])) }
            index += count
            next = (next + count) << 1
        }
        return nil
    }

    /// The symbols by the next ``EntropyTables/indexBits``: length times 256 plus the value; 0 where the code is longer, or there is none.
    func shortCodes() -> [UInt16] {
        let bits = EntropyTables.indexBits
        var table = [UInt16](repeating: 0, count: 1 << bits)
        var place = 0
        var index = 0
        for length in 1...bits {
            let width = 1 << (bits - length)
            for _ in 0..<counts[length - 1] {
                let entry = UInt16(length << 8) | UInt16(symbols[index])
                for i in place..<place + width { table[i] = entry }
                place += width
                index += 1
            }
        }
        return table
    }
}
