internal import FoundationEssentials
internal import TintypeImages

/// A block of metadata in a chunk of text, which writers used before PNG had a chunk for Exif: a line with the block's name, a line with
/// its length in decimal digits, and lines of hexadecimal digits.
///
/// Source: ImageMagick's documentation of PNG's profiles, and ExifTool's "PNG TextualData Tags".
enum PNGRawProfile {
    /// Two digits a byte, the ends of lines, and the two lines before them.
    static let maximumTextBytes = ImageMetadata.maximumBlockBytes * 5 / 2

    /// Returns the block.
    /// - Returns: `nil` if the length is over the limit of blocks, or isn't the number of bytes that the digits give.
    static func block(_ text: Data) -> Data? { text.withUnsafeBytes { block($0) } }

    /// - Parameter text: the text. A byte of a buffer takes a nanosecond, a byte of `Data` 50, and there are up to 10 MB.
    private static func block(_ text: UnsafeRawBufferPointer) -> Data? {
        let lines = text.drop(while: isBlank)
        let name = lines.prefix { !isBlank($0) }
        let number = lines[name.endIndex...].drop(while: isBlank)
        // No block that is kept has a length of more digits.
        let digits = number.prefix(8).prefix { (0x30...0x39).contains($0) }
        let length = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        guard length > 0, length <= ImageMetadata.maximumBlockBytes else { return nil }
        let hexadecimal = number[digits.endIndex...]
        guard let separator = hexadecimal.first, isBlank(separator), hexadecimal.count >= length * 2 else { return nil }
        var block: [UInt8] = []
        block.reserveCapacity(length)
        var high: UInt8?
        for digit in hexadecimal where !isBlank(digit) {
            guard let value = digit.hexDigitValue, block.count < length else { return nil }
            if let first = high.take() { block.append(first << 4 | value) } else { high = value }
        }
        return block.count == length && high == nil ? Data(block) : nil
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}

extension ImageMetadata {
    /// Takes a block in that was written in digits. What the block begins with counts, because writers use the names differently.
    mutating func read(rawProfile block: Data, _ kind: PNGText.Kind) {
        if block.starts(with: "http://ns.adobe.com/xap/1.0/\0".utf8) {
            xmp = xmp ?? Data(block.dropFirst(29))
        } else if block.starts(with: "8BIM".utf8) {
            readIPTC(fromPhotoshop: block)
        } else if let block = block.exifBlock {
            exif = exif ?? block
        } else {
            switch kind {
            case .rawXMP: xmp = xmp ?? block
            case .rawIPTC: iptc = iptc ?? block
            case .rawExif, .rawSegment, .rawResources, .xmp: break
            }
        }
    }
}
