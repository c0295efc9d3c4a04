/// The spelling of values in a canonical list of parts, such as an image variant.
package enum VariantText {
    /// A value with the separators of parts and values percent-encoded.
    package static func escaped(_ value: String) -> String {
        guard value.utf8.contains(where: { [UInt8(ascii: "%"), UInt8(ascii: ";"), UInt8(ascii: "|")].contains($0) })
        else { return value }
        var escaped = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "%": escaped += "%25"
            case ";": escaped += "%3B"
            case "|": escaped += "%7C"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
