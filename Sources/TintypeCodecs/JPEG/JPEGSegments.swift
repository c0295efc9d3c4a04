internal import FoundationEssentials
internal import TintypeImages

/// The segments before the first scan of a JPEG file (ITU-T T.81, annex B): its size, and the metadata of applications.
struct JPEGSegments {
    /// The size of the frame; `nil` if no frame header was found.
    var size: PixelSize?
    var bitsPerComponent = 8
    var components = 3
    private(set) var samplings: [JPEGSampling] = []
    /// The marker of the frame header, which names the process (ITU-T T.81, table B.1); `nil` without a frame header.
    private(set) var process: UInt8?
    /// The Exif block, from its TIFF header on.
    var exif: Data?
    var xmp: Data?
    /// The image resources of Photoshop, put together of their parts.
    private var resources = Data()
    /// The ICC profile, put together of its parts.
    var profile: Data?
    /// The place of the index of pictures (CIPA DC-007), from its TIFF header on.
    private(set) var pictureIndex: Range<Int>?
    /// The place of the parameters of a gain map (ISO 21496-1, annex C).
    private(set) var gainMapParameters: Range<Int>?
    var orientation = Orientation.up
    /// True if the bytes end before the first scan starts.
    var isTruncated = false

    /// Reads the segments, skipping invalid segments, as decoders do.
    /// - Complexity: O(bytes before the first scan).
    init(_ bytes: UnsafeRawBufferPointer) {
        var profileParts: [Int: Range<Int>] = [:]
        var offset = 2
        while true {
            // A marker consists of FF and a code. Any number of FF may precede the code, and decoders skip everything else.
            while offset < bytes.count, bytes[offset] != 0xFF { offset += 1 }
            while offset < bytes.count, bytes[offset] == 0xFF { offset += 1 }
            guard offset < bytes.count else {
                isTruncated = true
                break
            }
            let marker = bytes[offset]
            offset += 1
            // Stuffed zero, TEM, restarts and SOI have no length.
            if marker <= 0x01 || (0xD0...0xD8).contains(marker) { continue }
            if marker == 0xD9 { break }
            guard let length = bytes.bigEndian16(at: offset) else {
                isTruncated = true
                break
            }
            if marker == 0xDA { break }
            guard length >= 2 else { continue }
            guard offset + length <= bytes.count else {
                isTruncated = true
                break
            }
            let payload = offset + 2..<offset + length
            read(marker, payload, of: bytes, profileParts: &profileParts)
            offset += length
        }
        profile = Self.join(profileParts, of: bytes)
        orientation = Orientation(exif: exif, xmp: xmp)
    }

    private mutating func read(
        _ marker: UInt8, _ payload: Range<Int>, of bytes: UnsafeRawBufferPointer, profileParts: inout [Int: Range<Int>]
    ) {
        func begins(_ signature: StaticString) -> Bool {
            let wanted = UnsafeRawBufferPointer(start: signature.utf8Start, count: signature.utf8CodeUnitCount)
            return bytes[payload].starts(with: wanted)
        }
        switch marker {
        case 0xC0...0xCF where marker != 0xC4 && marker != 0xC8 && marker != 0xCC, 0xF7:
            guard size == nil, payload.count >= 6, let height = bytes.bigEndian16(at: payload.lowerBound + 1),
                let width = bytes.bigEndian16(at: payload.lowerBound + 3)
            else { return }
            bitsPerComponent = Int(bytes[payload.lowerBound])
            size = PixelSize(width: width, height: height)
            components = Int(bytes[payload.lowerBound + 5])
            samplings = stride(from: payload.lowerBound + 7, to: payload.upperBound, by: 3).prefix(components).map {
                JPEGSampling(horizontal: max(1, Int(bytes[$0] >> 4)), vertical: max(1, Int(bytes[$0] & 15)))
            }
            process = marker
        case 0xE1 where begins("Exif\0"):
            // The first block counts.
            if exif == nil { exif = bytes.exifBlock(in: payload).map { bytes.data($0) } }
        case 0xE1 where begins("http://ns.adobe.com/xap/1.0/\0"):
            if xmp == nil { xmp = bytes.data(payload.dropFirst(29)) }
        case 0xED where begins("Photoshop 3.0\0"):
            if resources.count < ImageMetadata.maximumBlockBytes { resources += bytes[payload.dropFirst(14)] }
        case 0xE2 where begins("ICC_PROFILE\0"):
            // Then the number of this part, from 1, and the number of parts (ICC.1, annex B.4).
            guard payload.count > 14 else { return }
            let number = Int(bytes[payload.lowerBound + 12])
            if profileParts[number] == nil { profileParts[number] = payload.dropFirst(14) }
        case 0xE2 where begins("MPF\0"):
            if pictureIndex == nil { pictureIndex = payload.dropFirst(4) }
        case 0xE2 where begins("urn:iso:std:iso:ts:21496:-1\0"):
            if gainMapParameters == nil { gainMapParameters = payload.dropFirst(28) }
        default: break
        }
    }

    /// The parts in order; `nil` if a part is missing, since half a profile is useless.
    private static func join(_ parts: [Int: Range<Int>], of bytes: UnsafeRawBufferPointer) -> Data? {
        guard let first = parts[1], parts.count == Int(bytes[first.lowerBound - 1]) else { return nil }
        var profile = Data()
        for number in 1...parts.count {
            guard let part = parts[number] else { return nil }
            profile.append(contentsOf: bytes[part])
        }
        return profile
    }
}

extension JPEGSegments {
    var metadata: ImageMetadata {
        var metadata = ImageMetadata(exif: exif, xmp: xmp)
        metadata.readIPTC(fromPhotoshop: resources)
        return metadata
    }

    /// True if the pixels come in scans of growing precision.
    var isProgressive: Bool { process == 0xC2 || process == 0xCA }
    var isArithmetic: Bool { process == 0xC9 || process == 0xCA }

    /// Refuses a file that is made by a process that libjpeg does not have, and that nothing else is wrong with.
    /// - Throws: ``ImageError/Code/formatNotEnabled`` with the name of the process.
    func checkProcess() throws(ImageError) {
        guard let process else { return }
        let name =
            switch process {
            case _ where size?.height == 0: "a height stated after the image (DNL)"
            case 0xC3, 0xC7, 0xCB, 0xCF: "the lossless process"
            case 0xC5, 0xC6, 0xCD, 0xCE: "the hierarchical process"
            case 0xF7: "JPEG-LS"
            default: bitsPerComponent == 8 ? nil : "\(bitsPerComponent) bits per component" as String?
            }
        guard let name else { return }
        throw ImageError(
            .formatNotEnabled, stage: .decode, reason: "the JPEG file uses \(name), which isn't supported")
    }
}
