package import FoundationEssentials
package import TintypeImages

/// The gain map of a JPEG file: a second, smaller image that tells by how much each pixel becomes brighter on a display with high
/// dynamic range.
///
/// It lies behind the image, where the file's index of pictures says (CIPA DC-007). Tintype applies it with
/// ``DecodeOptions/decodeToHDR``, and decodes the image itself, in standard range, without. A map is a JPEG file like any other.
package struct JPEGGainMap: Sendable, Equatable {
    /// The description of the gain map in the file.
    package enum Standard: String, Sendable, Hashable, CaseIterable {
        /// ISO 21496-1.
        case iso
        /// The XMP properties of Adobe and of Ultra HDR, version 1.
        case adobe
        /// The gain maps that Apple's cameras wrote before the standard, whose parameters are not public.
        case apple
    }

    /// The bytes of the gain map, a JPEG file.
    package var data: Data
    /// The size of the gain map, in pixels.
    package var size: PixelSize
    /// The number of its components: 1 for brightness alone, 3 for each color.
    package var components: Int
    /// The description that ``parameters`` come from.
    package var standard: Standard
    /// The parameters; `nil` if they are missing or make no sense.
    package var parameters: GainMapParameters?

    /// Finds the gain map of a JPEG file.
    /// - Parameter file: the whole file.
    /// - Returns: `nil` if the bytes are not a JPEG, or have no complete gain map.
    /// - Complexity: O(bytes of the headers); the gain map is copied.
    package init?(of file: Data) {
        let found = file.withUnsafeBytes { bytes -> JPEGGainMap? in
            guard bytes.bigEndian16(at: 0) == 0xFFD8 else { return nil }
            for range in JPEGSegments(bytes).pictures(in: bytes) {
                if let gainMap = JPEGGainMap(picture: UnsafeRawBufferPointer(rebasing: bytes[range])) {
                    return gainMap
                }
            }
            return nil
        }
        guard let found else { return nil }
        self = found
    }

    /// Returns true if the start of a JPEG file has an index of further pictures, which may include a gain map.
    /// - Parameter beginning: the start of the file.
    package static func mayBe(in beginning: Data) -> Bool {
        beginning.withUnsafeBytes { JPEGSegments($0).pictureIndex != nil }
    }

    /// - Returns: `nil` for a picture that is not a gain map, such as a preview.
    private init?(picture bytes: UnsafeRawBufferPointer) {
        guard bytes.bigEndian16(at: 0) == 0xFFD8 else { return nil }
        let segments = JPEGSegments(bytes)
        guard let size = segments.size, !size.isEmpty else { return nil }
        let xmp = segments.xmp.map { String(decoding: $0, as: UTF8.self) } ?? ""
        // Later versions of one description may stand beside one that is understood.
        if let parameters = segments.gainMapParameters.flatMap({ GainMapParameters(iso: [UInt8](bytes[$0])) }) {
            standard = .iso
            self.parameters = parameters
        } else if xmp.contains("hdrgm:Version"), let parameters = GainMapParameters(xmp: xmp) {
            standard = .adobe
            self.parameters = parameters
        } else if segments.gainMapParameters != nil || xmp.contains("hdrgm:Version") {
            standard = segments.gainMapParameters != nil ? .iso : .adobe
            parameters = nil
        } else if xmp.contains("urn:com:apple:photo:2020:aux:hdrgainmap") {
            standard = .apple
            parameters = nil
        } else {
            return nil
        }
        self.size = size
        components = segments.components
        data = Data(bytes)
    }
}

extension JPEGSegments {
    private static let mostPictures = 16

    /// The places of the pictures after the first that have arrived, in the order of the index.
    fileprivate func pictures(in bytes: UnsafeRawBufferPointer) -> [Range<Int>] {
        guard let index = pictureIndex, let reader = ExifReader(UnsafeRawBufferPointer(rebasing: bytes[index])),
            let entries = reader.main?[0xB002]?.value
        else { return [] }
        // Each entry has 16 bytes: attributes, size, offset from the start of the index, and two numbers of other entries.
        var pictures: [Range<Int>] = []
        var behind = 0
        let places = stride(from: entries.lowerBound + 16, to: entries.upperBound - 15, by: 16)
        // Real files have a handful, and each is looked through.
        for entry in places.prefix(Self.mostPictures).reversed() {
            guard let size = reader.long(entry + 4), let offset = reader.long(entry + 8), size > 0 else { continue }
            behind += size
            // Programs that change metadata leave offsets wrong. The pictures are still at the end of the file.
            for start in [index.lowerBound + offset, bytes.count - behind]
            where start > index.upperBound && start + size <= bytes.count && bytes.bigEndian16(at: start) == 0xFFD8 {
                pictures.append(start..<start + size)
                break
            }
        }
        return pictures.reversed()
    }
}
