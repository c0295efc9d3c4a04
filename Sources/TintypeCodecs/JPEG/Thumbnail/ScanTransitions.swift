/// The successors of an entry of ``EntropyTables``, by the block of the MCU and the coefficient that it arrived at: a table instead of
/// branches, whose outcome no processor could predict.
struct ScanTransitions {
    /// In each: the base of the next table (16 bits), the next state (16 bits), and the step to the next record (32 bits).
    let steps: [UInt64]

    static let size = 1 << 12

    /// The state at the start of a block of an MCU. States count coefficients, 256 for each block, and are inverted, so that adding 1 to
    /// an address of a record moves down by a coefficient.
    static func beginning(of block: Int) -> Int { ~(block << 8 - 1) }

    /// - Parameters:
    ///   - codings: the coding of each block of an MCU, as an index.
    ///   - last: the last coefficient that is needed of each block.
    ///   - recordSize: see ``BlockFormat/recordSize(last:)``.
    init(codings: [Int], last: [Int], recordSize: Int) {
        var steps = [UInt64](repeating: 0, count: Self.size)
        for block in codings.indices {
            let next = (block + 1) % codings.count
            for position in 0..<256 {
                let isComplete = position >= 63
                let kind = isComplete ? EntropyTables.Kind.difference : position >= last[block] ? .skipped : .needed
                let base = EntropyTables.base(coding: codings[isComplete ? next : block], kind)
                let state = isComplete ? Self.beginning(of: next) : ~(block << 8 + position)
                let step = isComplete ? 256 * (next - block) - recordSize : 0
                steps[~(block << 8 + position) & (Self.size - 1)] =
                    UInt64(base) | UInt64(UInt16(bitPattern: Int16(state))) << 16
                    | UInt64(UInt32(bitPattern: Int32(step))) << 32
            }
        }
        self.steps = steps
    }
}
