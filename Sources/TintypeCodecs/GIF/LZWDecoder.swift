internal import TintypeImages

/// Decodes the LZW variant of GIF (GIF89a, appendix F) into palette indices.
///
/// Every string of the dictionary, beyond the single indices, has been written to the output before: a string is the
/// previous code's string plus the index that came next. So an entry is only a place in the output and a length, and a code
/// is a single copy of 16 bytes in nearly all cases. Single indices lie in front of the output, so that they are no special
/// case.
///
/// The codes may arrive gradually. Each call continues where the previous call ended.
struct LZWDecoder: ~Copyable {
    enum Outcome: Equatable {
        /// All indices that were asked for are there.
        case complete
        /// The codes ended, or an end code came, before.
        case notEnough
        /// A code that no string belongs to.
        case invalidCode
    }

    private static let literals = 256
    /// The longest string has an index more than the dictionary entries, and copies write up to 16 bytes too many.
    private static let slack = 4_096 + 32

    private let entries: UnsafeMutablePointer<UInt64>
    private var buffer: UnsafeMutablePointer<UInt8>
    private var capacity = 0
    private var codes: [UInt8] = []
    /// The progress through the sub-blocks: the next byte, and the number of bytes that the current sub-block still has.
    private var offset = 0
    private var blockRest = 0
    private var wanted = 0
    private var state: State?

    /// The state of decoding between calls.
    private struct State {
        var rootBits: Int
        var next: Int
        var width: Int
        var position = LZWDecoder.literals
        var previous = (offset: 0, length: 0)
        var bit = 0
        /// Set when no more codes count: there was an end code, or an invalid code.
        var end: Outcome?

        init(rootBits: Int) {
            self.rootBits = rootBits
            next = 1 << rootBits + 2
            width = rootBits + 1
        }
    }

    init() {
        entries = .allocate(capacity: 4_096)
        entries.initialize(repeating: 0, count: 4_096)
        buffer = .allocate(capacity: 1)
    }

    deinit {
        entries.deallocate()
        buffer.deallocate()
    }

    /// The indices of the frame that was started with last; ``count`` of them are valid.
    var indices: UnsafePointer<UInt8> { UnsafePointer(buffer + Self.literals) }

    /// The number of its indices.
    var count: Int { state.map { min($0.position - Self.literals, wanted) } ?? 0 }

    /// The number of indices between two checks for cancellation.
    private static let slice = 1 << 22

    /// Starts with a frame.
    /// - Parameter wanted: the number of indices to decode; less than 2³¹.
    mutating func begin(wanted: Int) {
        self.wanted = wanted
        codes.removeAll(keepingCapacity: true)
        offset = 1
        blockRest = 0
        state = nil
    }

    /// Decodes as far as the bytes allow.
    /// - Parameter bytes: the size of the first codes and the sub-blocks that follow it. They may be cut off anywhere, and start
    ///   with the bytes of the last call.
    mutating func update(_ bytes: UnsafeRawBufferPointer, context: ProcessingContext) throws(ImageError) -> Outcome {
        guard wanted > 0 else { return .complete }
        guard let first = bytes.first else { return .notEnough }
        if state == nil {
            let rootBits = Int(first)
            // Over 8 is against the rules, but in the wild; no index needs more than its low 8 bits then.
            guard (1...11).contains(rootBits) else { return .invalidCode }
            start(rootBits)
            reserve(wanted)
        }
        if let end = state?.end { return end }
        join(bytes)
        let bits = (codes.count - 8) * 8
        while true {
            let end = min(wanted, count + Self.slice)
            let outcome = codes.withUnsafeBytes { run($0.baseAddress, bits: bits, end: Self.literals + end) }
            guard outcome == .complete, end < wanted else { return outcome }
            try context.checkCancellation()
        }
    }

    /// The dictionary as it is after a clear code.
    private mutating func start(_ rootBits: Int) {
        state = State(rootBits: rootBits)
        let clear = 1 << rootBits
        for literal in 0..<clear { entries[literal] = Self.entry(at: literal & 0xFF, length: 1) }
        // Length 0 marks the two codes that stand for no string.
        entries[clear] = 0
        entries[clear + 1] = 0
    }

    /// Puts the contents of the sub-blocks side by side, and eight zeros behind them, so that codes are read with a single load.
    private mutating func join(_ bytes: UnsafeRawBufferPointer) {
        codes.removeLast(min(8, codes.count))
        while offset < bytes.count {
            if blockRest == 0 {
                guard bytes[offset] != 0 else { break }
                blockRest = Int(bytes[offset])
                offset += 1
            }
            let end = min(offset + blockRest, bytes.count)
            codes.append(contentsOf: bytes[offset..<end])
            blockRest -= end - offset
            offset = end
        }
        for _ in 0..<8 { codes.append(0) }
    }

    /// Memory that is never touched costs nothing: a frame that only claims to be large takes no pages.
    private mutating func reserve(_ wanted: Int) {
        let needed = Self.literals + wanted + Self.slack
        guard capacity < needed else { return }
        buffer.deallocate()
        buffer = .allocate(capacity: needed)
        capacity = needed
        for index in 0..<Self.literals { buffer[index] = UInt8(index) }
    }

    private mutating func run(_ base: UnsafeRawPointer?, bits: Int, end: Int) -> Outcome {
        guard let base, let state else { return .notEnough }
        let clear = 1 << state.rootBits
        let entries = entries
        let out = UnsafeMutableRawPointer(buffer)
        var next = state.next
        var width = state.width
        var position = state.position
        var previous = state.previous
        var bit = state.bit
        defer {
            self.state?.next = next
            self.state?.width = width
            self.state?.position = position
            self.state?.previous = previous
            self.state?.bit = bit
        }
        while position < end {
            guard bit + width <= bits else { return .notEnough }
            let word = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: bit >> 3, as: UInt64.self))
            let code = Int(truncatingIfNeeded: (word >> UInt64(bit & 7)) & ((1 << UInt64(width)) - 1))
            bit += width
            // The new string's last index is the first that this code is about to write.
            if previous.length > 0, next < 4_096 {
                entries[next] = Self.entry(at: previous.offset, length: previous.length + 1)
                next += 1
                if next == 1 << width, width < 12 { width += 1 }
            }
            guard code < next else { return stop(.invalidCode) }
            let source = Int(entries[code] >> 16)
            let length = Int(entries[code] & 0xFFFF)
            if length == 0 {
                if code != clear { return stop(.notEnough) }
                next = clear + 2
                width = state.rootBits + 1
                previous.length = 0
                continue
            }
            var done = 0
            repeat {
                let chunk = out.loadUnaligned(fromByteOffset: source + done, as: SIMD16<UInt8>.self)
                out.storeBytes(of: chunk, toByteOffset: position + done, as: SIMD16<UInt8>.self)
                done += 16
            } while done < length
            // The string that was only now started ends with its own first index.
            if source + length > position {
                let last = out.load(fromByteOffset: source + length - 1, as: UInt8.self)
                out.storeBytes(of: last, toByteOffset: position + length - 1, as: UInt8.self)
            }
            previous = (position, length)
            position += length
        }
        return .complete
    }

    private mutating func stop(_ outcome: Outcome) -> Outcome {
        state?.end = outcome
        return outcome
    }

    @inline(__always)
    private static func entry(at offset: Int, length: Int) -> UInt64 {
        UInt64(truncatingIfNeeded: offset) << 16 | UInt64(truncatingIfNeeded: length)
    }
}
