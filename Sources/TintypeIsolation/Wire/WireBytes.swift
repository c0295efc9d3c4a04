package import FoundationEssentials

/// A value that travels between a program and its workers.
package protocol WireValue {
    func write(to writer: inout WireWriter)
    init(from reader: inout WireReader) throws(WireSocket.Failure)
}

/// A value that consists of others, which travel in order. A single list of them serves writing and reading.
package protocol WireRecord: WireValue {
    /// A value whose parts are replaced by those that are read.
    static var blank: Self { get }

    mutating func pass(_ parts: inout some WireParts) throws(WireSocket.Failure)
}

/// Writes the parts of a record, or replaces them by those that it reads.
package protocol WireParts {
    mutating func pass(_ value: inout some WireValue) throws(WireSocket.Failure)
}

extension WireRecord {
    package func write(to writer: inout WireWriter) {
        var copy = self
        // Only a reader throws.
        try? copy.pass(&writer)
    }

    package init(from reader: inout WireReader) throws(WireSocket.Failure) {
        self = Self.blank
        try pass(&reader)
    }
}

extension WireWriter: WireParts {
    package mutating func pass(_ value: inout some WireValue) { write(value) }
}

extension WireReader: WireParts {
    package mutating func pass<Value: WireValue>(_ value: inout Value) throws(WireSocket.Failure) { value = try read() }
}

extension WireValue where Self: RawRepresentable, RawValue: WireValue {
    package func write(to writer: inout WireWriter) { writer.write(rawValue) }

    package init(from reader: inout WireReader) throws(WireSocket.Failure) {
        guard let value = Self(rawValue: try reader.read()) else { throw .garbage }
        self = value
    }
}

/// The bytes of a message: values in order, without names. Numbers have eight bytes, in the order of the machine.
package struct WireWriter {
    package private(set) var bytes: [UInt8]

    /// Starts with zeros, to be replaced by a header.
    init(headerLength: Int) { bytes = [UInt8](repeating: 0, count: headerLength) }

    package mutating func write(_ value: some WireValue) { value.write(to: &self) }

    fileprivate mutating func append(_ number: UInt64) { withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) } }

    fileprivate mutating func append(_ content: some Collection<UInt8>) {
        append(UInt64(content.count))
        bytes.append(contentsOf: content)
    }

    mutating func replaceHeader(_ header: [UInt8]) { bytes.replaceSubrange(0..<header.count, with: header) }
}

/// Reads the bytes of a message, which may be anything.
package struct WireReader {
    private let bytes: [UInt8]
    private var position = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    package mutating func read<Value: WireValue>(_ type: Value.Type = Value.self) throws(WireSocket.Failure) -> Value {
        try Value(from: &self)
    }

    fileprivate mutating func take(_ count: Int) throws(WireSocket.Failure) -> ArraySlice<UInt8> {
        guard count >= 0, count <= bytes.count - position else { throw .garbage }
        defer { position += count }
        return bytes[position..<position + count]
    }

    fileprivate mutating func number() throws(WireSocket.Failure) -> UInt64 {
        try take(8).withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
    }

    fileprivate mutating func content() throws(WireSocket.Failure) -> ArraySlice<UInt8> {
        guard let count = Int(exactly: try number()) else { throw .garbage }
        return try take(count)
    }
}

extension Int: WireValue {
    package func write(to writer: inout WireWriter) { writer.append(UInt64(bitPattern: Int64(self))) }
    package init(from reader: inout WireReader) throws(WireSocket.Failure) {
        self.init(Int64(bitPattern: try reader.number()))
    }
}

extension Bool: WireValue {
    package func write(to writer: inout WireWriter) { writer.write(self ? 1 : 0) }
    package init(from reader: inout WireReader) throws(WireSocket.Failure) {
        let value: Int = try reader.read()
        guard value == 0 || value == 1 else { throw .garbage }
        self = value == 1
    }
}

extension Double: WireValue {
    package func write(to writer: inout WireWriter) { writer.append(bitPattern) }
    package init(from reader: inout WireReader) throws(WireSocket.Failure) {
        self.init(bitPattern: try reader.number())
    }
}

extension String: WireValue {
    package func write(to writer: inout WireWriter) { writer.append(utf8) }
    package init(from reader: inout WireReader) throws(WireSocket.Failure) {
        self.init(decoding: try reader.content(), as: UTF8.self)
    }
}

extension Data: WireValue {
    package func write(to writer: inout WireWriter) { writer.append(self) }
    package init(from reader: inout WireReader) throws(WireSocket.Failure) { self.init(try reader.content()) }
}

extension Optional: WireValue where Wrapped: WireValue {
    package func write(to writer: inout WireWriter) {
        writer.write(self != nil)
        if let self { writer.write(self) }
    }

    package init(from reader: inout WireReader) throws(WireSocket.Failure) {
        let isPresent: Bool = try reader.read()
        self = isPresent ? try reader.read(Wrapped.self) : nil
    }
}

extension Array: WireValue where Element: WireValue {
    package func write(to writer: inout WireWriter) {
        writer.write(count)
        for element in self { writer.write(element) }
    }

    package init(from reader: inout WireReader) throws(WireSocket.Failure) {
        let count: Int = try reader.read()
        guard count >= 0 else { throw .garbage }
        self = []
        // Ends with the bytes, regardless of the count.
        var index = 0
        while index < count {
            append(try reader.read(Element.self))
            index += 1
        }
    }
}

extension Duration: WireValue {
    package func write(to writer: inout WireWriter) {
        let (seconds, attoseconds) = components
        writer.write(Int(seconds))
        writer.write(Int(attoseconds))
    }

    package init(from reader: inout WireReader) throws(WireSocket.Failure) {
        let seconds: Int = try reader.read()
        let attoseconds: Int = try reader.read()
        guard (0..<1 << 40).contains(seconds), (0..<1_000_000_000_000_000_000).contains(attoseconds) else {
            throw .garbage
        }
        self.init(secondsComponent: Int64(seconds), attosecondsComponent: Int64(attoseconds))
    }
}
