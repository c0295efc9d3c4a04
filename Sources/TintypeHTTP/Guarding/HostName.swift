internal import FoundationEssentials
internal import TintypeLoading

/// A host in the form in which two spellings of one are equal: in lowercase ASCII, without brackets and without the period at the end of a complete
/// name; an address as ``IPAddress`` writes it.
///
/// Rules about hosts (of guards, certificates, and proxies) are compared in this form alone.
struct HostName: Hashable, Sendable {
    let text: String

    init(_ host: String) {
        var name = host[...]
        if name.hasPrefix("["), name.hasSuffix("]") { name = name.dropFirst().dropLast() }
        if name.hasSuffix(".") { name = name.dropLast() }
        let written = String(name)
        text = IPAddress(written)?.description ?? InternationalName.ascii(written) ?? written.lowercased()
    }

    /// The address that it is; `nil` for a name.
    var address: IPAddress? { IPAddress(text) }

    /// Returns true if it is below a domain.
    func isBelow(_ domain: HostName) -> Bool { text.hasSuffix("." + domain.text) }
}

extension URL {
    /// The host for a connection, without the brackets of an address of version 6.
    var connectionHost: String? {
        guard var host = host(percentEncoded: false), !host.isEmpty else { return nil }
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        return host.isEmpty ? nil : host
    }
}
