internal import Glibc

/// An address of the Internet protocol, version 4 or 6.
package struct IPAddress: Sendable, Hashable, CustomStringConvertible {
    /// The 4 or 16 bytes, in network order.
    package let bytes: [UInt8]

    /// Creates an address from text such as `192.0.2.1` or `2001:db8::1`.
    ///
    /// Other forms that systems accept as a host, such as `127.1` and `2130706433`, are not addresses here.
    /// - Parameter text: the text of the address.
    package init?(_ text: String) {
        var four = in_addr()
        if inet_pton(AF_INET, text, &four) == 1 {
            bytes = withUnsafeBytes(of: &four) { Array($0) }
            return
        }
        var six = in6_addr()
        guard inet_pton(AF_INET6, text, &six) == 1 else { return nil }
        bytes = withUnsafeBytes(of: &six) { Array($0) }
    }

    /// Creates an address from 4 or 16 bytes; `nil` for another number.
    /// - Parameter bytes: the bytes, in network order.
    package init?(bytes: [UInt8]) {
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        self.bytes = bytes
    }

    /// True for version 6.
    package var isVersion6: Bool { bytes.count == 16 }

    /// The IPv4 address that the system connects to in place of an IPv6 address (RFC 4291, section 2.5.5), or that a translator
    /// does (RFC 6052, section 2.1).
    var mappedVersion4: IPAddress? {
        guard isVersion6 else { return nil }
        let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        let isTranslated = bytes[..<4].elementsEqual([0, 0x64, 0xFF, 0x9B]) && bytes[4..<12].allSatisfy { $0 == 0 }
        return isMapped || isTranslated ? IPAddress(bytes: Array(bytes[12...])) : nil
    }

    /// The addresses that it stands for: itself, the one of version 4 that it carries, and, for one of zeros, this computer, which Linux connects to.
    var forms: [IPAddress] {
        let forms = [self] + [mappedVersion4].compactMap { $0 }
        return forms + forms.filter { $0.bytes.allSatisfy { $0 == 0 } }.map(\.loopback)
    }

    /// The loopback address of the same version.
    private var loopback: IPAddress {
        isVersion6
            ? IPAddress(validBytes: Array(repeating: 0, count: 15) + [1]) : IPAddress(validBytes: [127, 0, 0, 1])
    }

    package var description: String {
        var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN) + 1)
        let family = isVersion6 ? AF_INET6 : AF_INET
        let size = socklen_t(text.count)
        guard bytes.withUnsafeBytes({ inet_ntop(family, $0.baseAddress, &text, size) }) != nil else { return "" }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// True for addresses of public servers.
    ///
    /// False for private, loopback, link-local, shared, multicast, documentation, and reserved addresses, and for IPv6 addresses
    /// that carry such an IPv4 address (mapped, NAT64, 6to4, Teredo), according to IANA's registries of special-purpose addresses
    /// (RFC 6890). Also false for addresses where providers of virtual machines offer credentials.
    package var isPublic: Bool {
        if isVersion6 {
            return IPNetwork.globalUnicast.contains(self) && !IPNetwork.specialVersion6.contains { $0.contains(self) }
        }
        return !IPNetwork.specialVersion4.contains { $0.contains(self) }
    }
}

/// A range of addresses with a common prefix, such as `10.0.0.0/8`.
public struct IPNetwork: Sendable, Hashable, CustomStringConvertible {
    /// An address of the network.
    let address: IPAddress
    /// The number of leading bits that all addresses share.
    let prefixLength: Int

    /// Creates a network.
    /// - Parameter text: an address and the length of the prefix, such as `10.0.0.0/8`, or an address alone.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count <= 2, let first = parts.first, let address = IPAddress(String(first)) else { return nil }
        let bits = address.bytes.count * 8
        guard parts.count == 2 else {
            (self.address, prefixLength) = (address, bits)
            return
        }
        guard parts[1].utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let length = Int(parts[1]), length <= bits else {
            return nil
        }
        (self.address, prefixLength) = (address, length)
    }

    /// The address and the length of the prefix, such as `10.0.0.0/8`.
    public var description: String { "\(address)/\(prefixLength)" }

    /// Returns true if an address belongs to the network.
    /// - Parameter other: the address.
    func contains(_ other: IPAddress) -> Bool {
        guard other.bytes.count == address.bytes.count else { return false }
        let whole = prefixLength / 8
        guard other.bytes[..<whole] == address.bytes[..<whole] else { return false }
        let rest = prefixLength % 8
        guard rest > 0 else { return true }
        let mask = UInt8(truncatingIfNeeded: 0xFF00 >> rest)
        return other.bytes[whole] & mask == address.bytes[whole] & mask
    }
}

extension IPNetwork {
    /// All addresses of version 6 that belong to public servers are in it.
    static let globalUnicast = IPNetwork(of: "2000::/3")

    static let specialVersion4 = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/4", "240.0.0.0/4",
        // A service of Azure that its virtual machines reach at a public address.
        "168.63.129.16",
    ].map { IPNetwork(of: $0) }

    /// The parts of ``globalUnicast`` that are not for public servers.
    static let specialVersion6 = [
        "2001::/23",  // Teredo, benchmarking, ORCHID, and other protocols
        "2001:db8::/32", "3fff::/20",  // documentation
        "2002::/16",  // 6to4
    ].map { IPNetwork(of: $0) }

    /// Creates a network from a constant, or an empty network that contains only the address zero.
    private init(of text: String) {
        self = IPNetwork(text) ?? IPNetwork(address: IPAddress.zero, prefixLength: 32)
    }

    private init(address: IPAddress, prefixLength: Int) {
        self.address = address
        self.prefixLength = prefixLength
    }
}

extension IPAddress {
    fileprivate static let zero = IPAddress(validBytes: [0, 0, 0, 0])

    private init(validBytes: [UInt8]) { bytes = validBytes }
}
