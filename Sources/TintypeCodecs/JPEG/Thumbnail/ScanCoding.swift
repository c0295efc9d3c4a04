/// The tables for the blocks of an MCU.
struct ScanCoding {
    let tables: EntropyTables
    /// The successors of an entry of the tables, by the block of the MCU and the coefficient that it arrived at: a table instead of
    /// branches, whose outcome no processor could predict. In each: the base of the next table (16 bits), the next state (16 bits), and
    /// the step to the next record (32 bits).
    let steps: [UInt64]
    /// By block: the index of its coding, and the last coefficient that is needed.
    private let codings: [Int]
    let last: [Int]
    let recordSize: Int

    static let stepCount = 1 << 12

    /// - Parameter last: the last coefficient that is needed of each component, in zigzag order.
    init(_ frame: ThumbnailFrame, last: [Int]) throws(NotForThumbnails) {
        var distinct: [BlockCoding] = []
        var ofComponent: [Int] = []
        for (component, last) in zip(frame.components, last) {
            let coding = try BlockCoding(
                differences: frame.code(component.codes, isOfDifferences: true),
                coefficients: frame.code(component.codes, isOfDifferences: false), isNarrow: last == 5)
            if let index = distinct.firstIndex(of: coding) {
                ofComponent.append(index)
            } else {
                ofComponent.append(distinct.count)
                distinct.append(coding)
            }
        }
        tables = try EntropyTables.tables(for: distinct)
        codings = frame.blocks.map { ofComponent[$0.component] }
        self.last = frame.blocks.map { last[$0.component] }
        recordSize = BlockFormat.recordSize(last: last)
        steps = Self.steps(codings, last: self.last, recordSize: recordSize)
    }

    var blocks: Int { codings.count }

    /// The state at the start of a block of an MCU. States count coefficients, 256 for each block, and are inverted, so that adding 1 to
    /// an address of a record moves down by a coefficient.
    static func beginning(of block: Int) -> Int { ~(block << 8 - 1) }

    private static func steps(_ codings: [Int], last: [Int], recordSize: Int) -> [UInt64] {
        var steps = [UInt64](repeating: 0, count: stepCount)
        for block in codings.indices {
            let next = (block + 1) % codings.count
            for position in 0..<256 {
                let isComplete = position >= 63
                let kind = isComplete ? EntropyTables.Kind.difference : position >= last[block] ? .skipped : .needed
                let base = EntropyTables.base(coding: codings[isComplete ? next : block], kind)
                let state = isComplete ? beginning(of: next) : ~(block << 8 + position)
                let step = isComplete ? 256 * (next - block) - recordSize : 0
                steps[~(block << 8 + position) & (stepCount - 1)] =
                    UInt64(base) | UInt64(UInt16(bitPattern: Int16(state))) << 16
                    | UInt64(UInt32(bitPattern: Int32(step))) << 32
            }
        }
        return steps
    }

    /// The symbol that 64 bits start with.
    func symbol(at bits: UInt64, block: Int, isDifference: Bool) -> (length: Int, value: Int)? {
        let coding = codings[block]
        let table = (2 * coding + (isDifference ? 0 : 1)) << EntropyTables.indexBits
        let code = tables.symbols[table + Int(bits >> UInt64(64 - EntropyTables.indexBits))]
        if code != 0 { return (Int(code >> 8), Int(code & 255)) }
        let codes = tables.codings[coding]
        return (isDifference ? codes.differences : codes.coefficients).symbol(at: Int(bits >> 48))
    }
}
