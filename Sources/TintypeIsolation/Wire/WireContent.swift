internal import FoundationEssentials
internal import TintypeImages

/// The bytes of a message: JSON, and the contents of each `Data` in the message, such as metadata, which follow in order.
struct WireContent {
    /// The longest JSON. Reading JSON takes up to 30 times its length in memory.
    static let maximumText = 1 << 20
    /// The longest string in the JSON, in bytes. To hash or compare a string, Swift normalizes it, in time that grows with the square of its
    /// combining marks: 320 KB of them take 12 seconds.
    static let maximumString = 8 << 10
    /// The most frames of an animation, whose durations have up to 33 bytes of JSON each.
    static let maximumFrames = 1 << 14
    /// The longest contents: four blocks of metadata, and a profile.
    static let maximumBlocks = 32 << 20

    let text: Data
    let blocks: Data

    private static let infinity = (positive: "inf", negative: "-inf", none: "nan")
}

extension WireContent {
    init(_ message: some Encodable) throws(WireSocket.Failure) {
        let blocks = Lock(Data())
        let encoder = JSONEncoder()
        encoder.dataEncodingStrategy = .custom { data, encoder in
            blocks.withLock { $0.append(data) }
            try data.count.encode(to: encoder)
        }
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: Self.infinity.positive, negativeInfinity: Self.infinity.negative, nan: Self.infinity.none)
        guard let text = try? encoder.encode(message) else { throw .garbage }
        self.init(text: text, blocks: blocks.withLock { $0 })
        guard text.count <= Self.maximumText, self.blocks.count <= Self.maximumBlocks else { throw .garbage }
    }

    /// True for JSON in UTF-8 without a long string. Every message is an object, and JSON in another encoding has a zero among its first bytes.
    private var isReadable: Bool {
        guard text.starts(with: Array("{\"".utf8)) else { return false }
        return text.withUnsafeBytes { bytes in
            var (length, isString, isEscaped) = (0, false, false)
            for byte in bytes {
                if isString, !isEscaped, byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\""), !isEscaped {
                    (length, isString) = (0, !isString)
                } else {
                    isEscaped = false
                }
                if isString { length += 1 }
                if length > Self.maximumString { return false }
            }
            return true
        }
    }

    /// Reads the message. The bytes may be anything.
    func message<Message: Decodable>(_ type: Message.Type) throws(WireSocket.Failure) -> Message {
        guard isReadable else { throw .garbage }
        let rest = Lock(blocks)
        let decoder = JSONDecoder()
        decoder.dataDecodingStrategy = .custom { decoder in
            let count = try Int(from: decoder)
            return try rest.withLock { rest in
                guard (0...rest.count).contains(count) else { throw WireSocket.Failure.garbage }
                defer { rest = rest.dropFirst(count) }
                return Data(rest.prefix(count))
            }
        }
        decoder.nonConformingFloatDecodingStrategy = .convertFromString(
            positiveInfinity: Self.infinity.positive, negativeInfinity: Self.infinity.negative, nan: Self.infinity.none)
        guard let message = try? decoder.decode(type, from: text), rest.withLock({ $0.isEmpty }) else { throw .garbage }
        return message
    }
}
