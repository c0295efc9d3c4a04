internal import TintypeLoading

/// Header fields as they are given on a command line.
enum HeaderFields {
    /// Returns the fields of lines such as `Accept: image/webp`; `nil` if a line is malformed (RFC 9110, sections 5.1 and 5.5).
    ///
    /// The values of a field that is given several times are joined.
    static func parsed(_ lines: [String]) -> [String: String]? {
        var fields: [String: (name: String, value: String)] = [:]
        for line in lines {
            guard let field = parsed(line) else { return nil }
            let key = field.name.lowercased()
            if let earlier = fields[key], !earlier.value.isEmpty, !field.value.isEmpty {
                // RFC 6265, section 5.4, has its own separator for cookies.
                let separator = key == "cookie" ? "; " : ", "
                fields[key] = (earlier.name, earlier.value + separator + field.value)
            } else {
                fields[key] = field
            }
        }
        return Dictionary(uniqueKeysWithValues: fields.values.map { ($0.name, $0.value) })
    }

    /// Returns a command line with a separate argument for each field that follows `-H` immediately. The parser would take it for
    /// an unknown option, and print it.
    static func separated(_ arguments: [String]) -> [String] {
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        let options = arguments[..<end].flatMap { argument in
            argument.hasPrefix("-H") && argument.utf8.count > 2 ? ["-H", String(argument.dropFirst(2))] : [argument]
        }
        return options + arguments[end...]
    }

    /// Returns the argument for which the parser shows its help although nobody asked for it: in the name of a file such as `-photo.jpg` it
    /// sees the option `-h`.
    static func mistakenForHelp(_ arguments: [String]) -> String? {
        let options = arguments.prefix { $0 != "--" }
        let asking = ["-h", "-help", "help", "--help", "--help-hidden", "--version", "--experimental-dump-help"]
        guard !options.contains(where: { asking.contains($0) || $0.hasPrefix("--generate-completion-script") })
        else { return nil }
        return options.first { $0.hasPrefix("-") && $0.contains("h") }
    }

    private static func parsed(_ line: String) -> (name: String, value: String)? {
        guard let colon = line.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let name = String(line[..<colon])
        guard HTTPFields.isToken(name) else { return nil }
        let value = line.utf8[line.utf8.index(after: colon)...]
        // Line breaks would start another field.
        guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }) else { return nil }
        return (name, String(line[line.utf8.index(after: colon)...]).trimmed)
    }
}
