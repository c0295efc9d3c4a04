#if TIFF
internal import CTIFF
internal import FoundationEssentials
internal import TintypeCore

/// The first page of a TIFF file, opened.
///
/// Valid as long as the bytes, which libtiff refers to.
final class TIFFFile {
    let handle: OpaquePointer
    let info: ImageInfo
    let profile: Data?
    let metadata: ImageMetadata
    /// Rows that lie together in the file: those of a strip or of a row of tiles.
    let rowsPerBand: Int
    private let memory: TIFFMemory
    private let byteCount: Int

    init(_ bytes: UnsafeRawBufferPointer, limits: DecodeLimits) throws(ImageError) {
        let memory = TIFFMemory(bytes)
        // Sums of a header are checked before; this is for what a file claims elsewhere.
        guard let handle = memory.open(maximumAllocation: max(1 << 20, limits.maximumBytes.bytes)) else {
            throw Self.openingError(bytes, memory.message)
        }
        self.memory = memory
        self.handle = handle
        byteCount = bytes.count
        let size = PixelSize(
            width: Int(Self.long(handle, TIFFTAG_IMAGEWIDTH)), height: Int(Self.long(handle, TIFFTAG_IMAGELENGTH)))
        let rows =
            TIFFIsTiled(handle) != 0
            ? Self.long(handle, TIFFTAG_TILELENGTH) : Self.long(handle, TIFFTAG_ROWSPERSTRIP)
        rowsPerBand = rows == 0 ? max(1, size.height) : max(1, min(Int(rows), size.height))
        profile = Self.bytes(handle, TIFFTAG_ICCPROFILE)
        metadata = ImageMetadata(
            exif: ExifReader(bytes).flatMap { ExifTree($0)?.block }, xmp: Self.bytes(handle, TIFFTAG_XMLPACKET))
        info = ImageInfo(
            format: .tiff, size: size,
            orientation: Orientation(rawValue: Int(Self.short(handle, TIFFTAG_ORIENTATION))) ?? .up,
            hasAlpha: Self.hasAlpha(handle), bitsPerComponent: Int(Self.short(handle, TIFFTAG_BITSPERSAMPLE)),
            colorProfile: profile.map { ColorConversion.name(of: $0) ?? "ICC profile" })
        guard !size.isEmpty else {
            throw .corrupt("the TIFF file states no size")
        }
    }

    deinit { TIFFClose(handle) }

    private static func openingError(_ bytes: UnsafeRawBufferPointer, _ message: String) -> ImageError {
        if message.contains("exceed") || message.contains("allocat") || message.contains("memory") {
            return ImageError(
                .limitExceeded, stage: .decode, reason: "the TIFF file is over a limit (libtiff: \(message))")
        }
        guard hasWholeDirectory(bytes) else { return .truncated("the TIFF file ends before its directory does") }
        return .corrupt("the TIFF file is damaged (libtiff: \(message))")
    }

    /// Whether the first directory, which stands anywhere in the file and often at the end, lies within the bytes (TIFF 6.0,
    /// section 2; BigTIFF has longer offsets, counts and entries).
    private static func hasWholeDirectory(_ bytes: UnsafeRawBufferPointer) -> Bool {
        let isLittle = bytes.count > 0 && bytes[0] == 0x49
        func number(_ offset: Int, _ size: Int) -> Int? {
            guard offset >= 0, offset <= bytes.count - size else { return nil }
            let digits = bytes[offset..<offset + size]
            let value = (isLittle ? Array(digits.reversed()) : Array(digits)).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return Int(exactly: value)
        }
        let isBig = number(2, 2) == 43
        guard let directory = isBig ? number(8, 8) : number(4, 4), let entries = number(directory, isBig ? 8 : 2) else {
            return false
        }
        // No directory has as many entries as would overflow.
        guard entries < 1 << 32 else { return true }
        return directory + (isBig ? 8 + entries * 20 : 2 + entries * 12) <= bytes.count
    }

    // MARK: Fields

    static func short(_ handle: OpaquePointer, _ tag: Int32) -> UInt16 {
        var value: UInt16 = 0
        withUnsafeMutablePointer(to: &value) { value in
            _ = withVaList([value]) { TIFFVGetFieldDefaulted(handle, UInt32(tag), $0) }
        }
        return value
    }

    static func long(_ handle: OpaquePointer, _ tag: Int32) -> UInt32 {
        var value: UInt32 = 0
        withUnsafeMutablePointer(to: &value) { value in
            _ = withVaList([value]) { TIFFVGetFieldDefaulted(handle, UInt32(tag), $0) }
        }
        return value
    }

    /// A count and an array of that length, which belongs to the handle.
    private static func array<Count: FixedWidthInteger, Element>(
        _ handle: OpaquePointer, _ tag: Int32, count: Count.Type, of: Element.Type
    ) -> UnsafeBufferPointer<Element>? {
        var count: Count = 0
        var values: UnsafePointer<Element>?
        let found = withUnsafeMutablePointer(to: &count) { count in
            withUnsafeMutablePointer(to: &values) { values in
                withVaList([count, values]) { TIFFVGetField(handle, UInt32(tag), $0) }
            }
        }
        guard found != 0, let values, count > 0 else { return nil }
        return UnsafeBufferPointer(start: values, count: Int(count))
    }

    private static func bytes(_ handle: OpaquePointer, _ tag: Int32) -> Data? {
        array(handle, tag, count: UInt32.self, of: UInt8.self).map { Data($0) }
    }

    /// What the first sample behind the colours means; `nil` if there is none.
    var firstExtraSample: UInt16? { Self.extraSamples(handle)?.first }

    private static func extraSamples(_ handle: OpaquePointer) -> UnsafeBufferPointer<UInt16>? {
        array(handle, TIFFTAG_EXTRASAMPLES, count: UInt16.self, of: UInt16.self)
    }

    private static func hasAlpha(_ handle: OpaquePointer) -> Bool {
        let photometric = Int32(short(handle, TIFFTAG_PHOTOMETRIC))
        guard let first = extraSamples(handle)?.first else {
            return photometric == PHOTOMETRIC_RGB && short(handle, TIFFTAG_SAMPLESPERPIXEL) == 4
        }
        let isInk = photometric == PHOTOMETRIC_SEPARATED
        // A fourth sample of RGB that the file says nothing of is alpha, as libtiff has it.
        return !isInk && (Int32(first) != EXTRASAMPLE_UNSPECIFIED || short(handle, TIFFTAG_SAMPLESPERPIXEL) > 3)
    }

    // MARK: Errors

    /// Why reading failed.
    func failure(_ detail: String = "") -> ImageError {
        let message = detail.isEmpty ? memory.message : detail
        let reason = message.isEmpty ? "" : " (libtiff: \(message))"
        return isTruncated
            ? .truncated("the TIFF file ends before its pixels do\(reason)")
            : .corrupt("the TIFF file cannot be read\(reason)")
    }

    /// Whether some of the pixels would lie beyond the end of the bytes.
    private var isTruncated: Bool {
        let count = TIFFIsTiled(handle) != 0 ? TIFFNumberOfTiles(handle) : TIFFNumberOfStrips(handle)
        return (0..<min(count, 1 << 20)).contains { index in
            let end = TIFFGetStrileOffset(handle, index).addingReportingOverflow(TIFFGetStrileByteCount(handle, index))
            return end.overflow || end.partialValue > UInt64(byteCount)
        }
    }
}
#endif
