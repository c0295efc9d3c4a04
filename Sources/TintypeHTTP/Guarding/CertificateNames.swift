/// The names and addresses that a certificate is for: its `subjectAltName` (RFC 5280, section 4.2.1.6).
///
/// The common name isn't read (RFC 9525, section 2).
struct CertificateNames: Sendable {
    /// The names of hosts in lowercase, without a final period. The first label may be a wildcard.
    private var names: [String] = []
    private var addresses: [IPAddress] = []

    /// - Parameter der: a certificate in DER.
    init(der: some Sequence<UInt8>) {
        var certificate = DERReader(Array(der)[...])
        guard var content = certificate.next(.sequence).map(DERReader.init),
            var fields = content.next(.sequence).map(DERReader.init)
        else { return }
        while let field = fields.next() {
            guard field.tag == DERReader.Tag.extensions.rawValue else { continue }
            var wrapper = DERReader(field.content)
            guard var extensions = wrapper.next(.sequence).map(DERReader.init) else { return }
            while var one = extensions.next(.sequence).map(DERReader.init) {
                // 2.5.29.17
                guard let id = one.next(.objectIdentifier), id.elementsEqual([0x55, 0x1D, 0x11]) else { continue }
                // A Boolean value may come before.
                while let part = one.next() {
                    if part.tag == DERReader.Tag.octetString.rawValue { readNames(part.content) }
                }
            }
        }
    }

    private mutating func readNames(_ bytes: ArraySlice<UInt8>) {
        var reader = DERReader(bytes)
        guard var list = reader.next(.sequence).map(DERReader.init) else { return }
        while let name = list.next() {
            switch name.tag {
            case DERReader.Tag.dnsName.rawValue:
                // Other bytes could only be mistaken for something else.
                guard name.content.allSatisfy({ 0x21...0x7E ~= $0 }) else { continue }
                names.append(Self.canonical(String(decoding: name.content, as: UTF8.self)))
            case DERReader.Tag.ipAddress.rawValue:
                if let address = IPAddress(bytes: Array(name.content)) { addresses.append(address) }
            default: break
            }
        }
    }

    /// Returns true if the certificate is for a host: a name for a name, and an address for an address (RFC 9525, section 6).
    func include(_ host: String) -> Bool {
        if let address = IPAddress(host) { return addresses.contains(address) }
        let host = Self.canonical(host)
        guard !host.isEmpty, !host.hasPrefix("*") else { return false }
        return names.contains { $0 == host || Self.matches(host, wildcard: $0) }
    }

    /// Returns true if a name with a wildcard matches a host. The wildcard is a whole label, the first of at least three.
    private static func matches(_ host: String, wildcard: String) -> Bool {
        guard wildcard.hasPrefix("*."), let period = host.firstIndex(of: "."), period != host.startIndex else {
            return false
        }
        let domain = wildcard.dropFirst()
        return domain.dropFirst().contains(".") && !domain.contains("*") && domain == host[period...]
    }

    private static func canonical(_ name: String) -> String {
        let name = name.lowercased()
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }
}

/// Reads elements in DER, in order (X.690). Stops at anything that isn't well-formed.
private struct DERReader {
    enum Tag: UInt8 {
        case octetString = 0x04
        case objectIdentifier = 0x06
        case sequence = 0x30
        case dnsName = 0x82
        case ipAddress = 0x87
        case extensions = 0xA3
    }

    private var bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    /// Returns the content of the next element; `nil` at the end, or if it has another tag.
    mutating func next(_ tag: Tag) -> ArraySlice<UInt8>? {
        guard let element = next(), element.tag == tag.rawValue else { return nil }
        return element.content
    }

    mutating func next() -> (tag: UInt8, content: ArraySlice<UInt8>)? {
        guard let tag = bytes.popFirst(), let first = bytes.popFirst() else { return nil }
        var length = Int(first)
        if first >= 0x80 {
            let count = Int(first & 0x7F)
            guard 1...4 ~= count, bytes.count >= count else { return nil }
            length = bytes.prefix(count).reduce(0) { $0 << 8 | Int($1) }
            bytes = bytes.dropFirst(count)
        }
        guard bytes.count >= length else { return nil }
        defer { bytes = bytes.dropFirst(length) }
        return (tag, bytes.prefix(length))
    }
}
