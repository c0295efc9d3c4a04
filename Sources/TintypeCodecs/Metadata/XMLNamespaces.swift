/// The namespaces that the prefixes of a document are bound to, from element to element (Namespaces in XML 1.0).
struct XMLNamespaces {
    private struct Binding {
        let prefix: ArraySlice<UInt8>
        let namespace: ArraySlice<UInt8>
    }

    /// More prefixes at once are not looked through for each name.
    private static let maximumBindings = 100
    /// The longest name that is told in full.
    private static let longestName = 100

    private var bindings: [Binding] = []
    /// The number of bindings outside of each open element.
    private var outside: [Int] = []

    /// - Parameter usual: The namespaces of prefixes that the document doesn't bind.
    init(usual: [(prefix: String, namespace: String)] = []) {
        bindings = usual.map { Binding(prefix: Array($0.prefix.utf8)[...], namespace: Array($0.namespace.utf8)[...]) }
    }

    /// The number of open elements.
    var depth: Int { outside.count }

    /// True if more prefixes are bound at once than are looked through.
    var isFull: Bool { bindings.count > Self.maximumBindings }

    /// Starts an element.
    mutating func begin(_ attributes: [XMLTokens.Attribute]) {
        outside.append(bindings.count)
        for attribute in attributes where !isFull {
            guard let prefix = Self.boundPrefix(attribute) else { continue }
            bindings.append(Binding(prefix: prefix, namespace: attribute.value.decoded))
        }
    }

    /// Ends the last element that has started.
    mutating func end() {
        guard let count = outside.popLast() else { return }
        bindings.removeLast(bindings.count - count)
    }

    /// Returns the name with its namespace in place of the prefix, or the start of a long one; `nil` without a namespace.
    func expanded(_ name: XMLTokens.Name) -> String? {
        guard let namespace = bindings.last(where: { $0.prefix == name.prefix })?.namespace else { return nil }
        let most = Self.longestName + 1
        return String(decoding: (namespace.prefix(most) + name.local.prefix(most)).prefix(most), as: UTF8.self)
    }

    /// The prefix that an attribute binds, empty for the namespace of names without one; `nil` for any other attribute.
    private static func boundPrefix(_ attribute: XMLTokens.Attribute) -> ArraySlice<UInt8>? {
        if attribute.name.prefix.elementsEqual("xmlns".utf8) { return attribute.name.local }
        return attribute.name.prefix.isEmpty && attribute.name.local.elementsEqual("xmlns".utf8) ? [] : nil
    }
}
