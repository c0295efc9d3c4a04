package import FoundationEssentials

/// The contents of a `data:` URL (RFC 2397), in base64 or percent encoding, read as browsers do (WHATWG Fetch, section 6).
package struct DataURL {
    package let data: Data
    package let mimeType: String

    /// Parses `data:[<media type>][;base64],<data>`. White space around the names of the head doesn't count.
    /// - Parameters:
    ///   - bytes: the URL in UTF-8.
    ///   - limit: the largest number of bytes in the data.
    package init(_ bytes: [UInt8], limit: Int) throws(ImageError) {
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")),
            let comma = bytes[colon...].firstIndex(of: UInt8(ascii: ","))
        else { throw ImageError(.invalidURL, stage: .load, reason: "the data: URL has no comma before its data") }

        let fields = String(decoding: Self.percentDecoded(bytes[(colon + 1)..<comma]), as: UTF8.self)
            .split(separator: ";", omittingEmptySubsequences: false).map { $0.filter { !$0.isWhitespace }.lowercased() }
        let isBase64 = fields.dropFirst().last == "base64"
        // RFC 2397: the default media type is text/plain.
        mimeType = fields.first.flatMap { $0.isEmpty ? nil : $0 } ?? "text/plain"

        var payload = bytes[(comma + 1)...]
        if let fragment = payload.firstIndex(of: UInt8(ascii: "#")) { payload = payload[..<fragment] }
        // Percent encoding needs at most 3 characters for a byte, and base64 of that 4 for 3. So the data is at least a quarter
        // of the payload.
        guard payload.count / 4 <= limit else { throw Self.tooLarge(limit) }
        let unescaped = Self.percentDecoded(payload)
        data = isBase64 ? try Self.base64Decoded(unescaped, limit: limit) : Data(unescaped)
        guard data.count <= limit else { throw Self.tooLarge(limit) }
        guard !data.isEmpty else { throw ImageError(.emptyBody, stage: .load, reason: "the data: URL has no data") }
    }

    /// Decodes percent escapes (RFC 3986, section 2.1). A `%` that starts none stands for itself.
    package static func percentDecoded(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.endIndex, let high = bytes[index + 1].hexDigitValue,
                let low = bytes[index + 2].hexDigitValue
            {
                result.append(high << 4 | low)
                index += 3
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return result
    }

    /// Decodes base64 like browsers: white space is ignored, and the padding is optional.
    private static func base64Decoded(_ bytes: [UInt8], limit: Int) throws(ImageError) -> Data {
        var text = bytes.filter { $0 != 0x20 && !(0x09...0x0D).contains($0) }
        guard text.count / 4 * 3 - 2 <= limit else { throw tooLarge(limit) }
        while !text.count.isMultiple(of: 4) { text.append(UInt8(ascii: "=")) }
        guard let data = Data(base64Encoded: Data(text)) else {
            throw ImageError(.invalidURL, stage: .load, reason: "the base64 of the data: URL is invalid")
        }
        return data
    }

    private static func tooLarge(_ limit: Int) -> ImageError {
        ImageError(
            .bodyTooLarge, stage: .load, reason: "the data: URL holds more than the limit of \(ByteCount(limit))")
    }
}

extension UInt8 {
    /// The value of a hexadecimal digit in ASCII; `nil` for any other byte.
    package var hexDigitValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
