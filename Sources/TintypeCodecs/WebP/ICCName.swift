internal import FoundationEssentials

/// The name that an ICC profile gives itself (ICC.1:2010, section 9.2.41, and the older type of ICC.1:1998).
enum ICCName {
    static func read(_ profile: Data) -> String {
        let bytes = [UInt8](profile.prefix(1 << 20))
        func number(_ offset: Int) -> Int? {
            guard offset >= 0, offset + 4 <= bytes.count else { return nil }
            return bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
        }
        func isTag(_ name: String, at offset: Int) -> Bool {
            offset >= 0 && offset + 4 <= bytes.count && bytes[offset..<offset + 4].elementsEqual(name.utf8)
        }
        for entry in 0..<min(number(128) ?? 0, 100) where isTag("desc", at: 132 + 12 * entry) {
            guard let place = number(136 + 12 * entry) else { break }
            if isTag("desc", at: place), let length = number(place + 8) {
                let text = bytes.dropFirst(place + 12).prefix(min(length, 256)).prefix { $0 != 0 }
                return String(decoding: text, as: UTF8.self)
            }
            if isTag("mluc", at: place), let length = number(place + 20), let start = number(place + 24) {
                let text = bytes.dropFirst(place + start).prefix(min(length, 512))
                let units = stride(from: text.startIndex, to: text.endIndex - 1, by: 2).map {
                    UInt16(text[$0]) << 8 | UInt16(text[$0 + 1])
                }
                return String(decoding: units, as: UTF16.self)
            }
        }
        return "ICC profile"
    }
}
