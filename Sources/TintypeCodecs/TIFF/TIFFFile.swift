#if TIFF
internal import CTIFF
internal import FoundationEssentials
internal import TintypeImages

/// A page of a TIFF file, opened.
///
/// Valid as long as the bytes, which libtiff refers to.
final class TIFFFile {
    let handle: OpaquePointer
    let info: ImageInfo
    let profile: Data?
    /// Rows that lie together in the file: the rows of a strip or of a row of tiles.
    let rowsPerBand: Int
    /// The samples of the page; `nil` if libtiff converts them itself.
    let layout: TIFFLayout?
    private let memory: TIFFMemory
    let bytes: UnsafeRawBufferPointer
    /// The pixels of JPEG images with several scans so far.
    var scannedPixels = 0

    /// The page's directory as the bytes have it.
    private let stated: TIFFDirectory

    /// - Parameter page: the page, counted from 0.
    init(_ bytes: UnsafeRawBufferPointer, page: Int, limits: DecodeLimits) throws(ImageError) {
        let (pages, areCut) = TIFFDirectory.pages(bytes, limit: max(1, limits.mostFrames))
        var options = DecodeOptions()
        options.page = page
        if page != 0 { try options.checkPage(count: max(1, pages.count)) }
        let directory = page > 0 ? pages[page] : nil
        // libtiff reads the first directory in any case.
        for offset in [pages.first, directory].compactMap(\.self) {
            try Self.checkFields(of: offset, in: bytes)
        }
        let memory = TIFFMemory(bytes)
        // Sums of a header are checked before; this is for claims elsewhere in the file.
        guard let handle = memory.open(maximumAllocation: max(1 << 20, limits.maximumBytes.bytes)) else {
            throw Self.openingError(bytes, memory.message)
        }
        if let directory, TIFFSetSubDirectory(handle, UInt64(directory)) == 0 {
            TIFFClose(handle)
            throw .corrupt("page \(page + 1) of the TIFF file is damaged (libtiff: \(memory.message))")
        }
        self.memory = memory
        self.handle = handle
        self.bytes = bytes
        stated = TIFFDirectory(bytes, at: directory)
        do throws(ImageError) {
            layout = try TIFFLayout(handle, stated)
        } catch {
            TIFFClose(handle)
            throw error
        }
        let size = PixelSize(
            width: Int(Self.long(handle, TIFFTAG_IMAGEWIDTH)), height: Int(Self.long(handle, TIFFTAG_IMAGELENGTH)))
        let rows =
            TIFFIsTiled(handle) != 0
            ? Self.long(handle, TIFFTAG_TILELENGTH) : Self.long(handle, TIFFTAG_ROWSPERSTRIP)
        rowsPerBand = rows == 0 ? max(1, size.height) : max(1, min(Int(rows), size.height))
        profile = Self.bytes(handle, TIFFTAG_ICCPROFILE)
        var info = ImageInfo(
            format: .tiff, size: size,
            orientation: Orientation(rawValue: Int(Self.short(handle, TIFFTAG_ORIENTATION))) ?? .up,
            hasAlpha: layout?.alpha != nil, bitsPerComponent: layout?.bitsPerComponent ?? 8,
            colorProfile: profile.map { ColorConversion.name(of: $0) ?? "ICC profile" })
        info.pageCount = max(1, pages.count)
        if areCut || stated.isCut { info.isComplete = false }
        if let reader = ExifReader(bytes, allowsBigTIFF: true) {
            info.metadata = ImageMetadata(tiff: reader, page: directory)
        }
        self.info = info
        guard !size.isEmpty else {
            throw .corrupt("the TIFF file doesn't state the size of its image")
        }
    }

    deinit { TIFFClose(handle) }

    /// The most fields of a directory. TIFF 6.0 and its supplements define fewer than 200.
    private static let maximumFields = 1_024

    /// Refuses directories of very many fields, which libtiff sorts anew for each that it doesn't know, and values that share their bytes,
    /// which it copies for each field: 1 MB took 1 GB.
    private static func checkFields(of directory: Int, in bytes: UnsafeRawBufferPointer) throws(ImageError) {
        let count = TIFFDirectory.fieldCount(bytes, at: directory)
        guard count <= maximumFields else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "a directory of the TIFF file has \(count) fields, over the limit of \(maximumFields)")
        }
        // Writers share a few numbers, such as resolutions.
        guard TIFFDirectory(bytes, at: directory).valueBytes <= bytes.count + sharedBytes else {
            throw .corrupt("the fields of the TIFF file share their bytes: they add up to more than the file")
        }
    }

    /// The bytes that fields may share.
    private static let sharedBytes = 1 << 20

    private static func openingError(_ bytes: UnsafeRawBufferPointer, _ message: String) -> ImageError {
        if message.contains("exceed") || message.contains("allocat") || message.contains("memory") {
            return ImageError(
                .limitExceeded, stage: .decode, reason: "the TIFF file is over a limit (libtiff: \(message))")
        }
        return TIFFDirectory(bytes).isCut
            ? .truncated("the TIFF file ends within its directory")
            : .corrupt("the TIFF file is damaged (libtiff: \(message))")
    }

    // MARK: Fields

    static func short(_ handle: OpaquePointer, _ tag: Int32) -> UInt16 {
        var value: UInt16 = 0
        _ = tintype_tiff_field_or_default(handle, UInt32(tag), &value)
        return value
    }

    static func long(_ handle: OpaquePointer, _ tag: Int32) -> UInt32 {
        var value: UInt32 = 0
        _ = tintype_tiff_field_or_default(handle, UInt32(tag), &value)
        return value
    }

    /// A count and an array of that length, which belongs to the handle.
    static func array<Count: FixedWidthInteger, Element>(
        _ handle: OpaquePointer, _ tag: Int32, count: Count.Type, of: Element.Type
    ) -> UnsafeBufferPointer<Element>? {
        var count: Count = 0
        var values: UnsafePointer<Element>?
        guard tintype_tiff_fields(handle, UInt32(tag), &count, &values, nil) != 0, let values, count > 0
        else { return nil }
        return UnsafeBufferPointer(start: values, count: Int(count))
    }

    private static func bytes(_ handle: OpaquePointer, _ tag: Int32) -> Data? {
        array(handle, tag, count: UInt32.self, of: UInt8.self).map { Data($0) }
    }

    /// The color model; a file that doesn't state one has the usual model for its number of samples, as libtiff has it.
    static func photometric(_ handle: OpaquePointer) -> Int32 {
        var value: UInt16 = 0
        if tintype_tiff_field(handle, UInt32(TIFFTAG_PHOTOMETRIC), &value) != 0 { return Int32(value) }
        let faxes = [COMPRESSION_CCITTFAX3, COMPRESSION_CCITTFAX4, COMPRESSION_CCITTRLE, COMPRESSION_CCITTRLEW]
        if faxes.contains(Int32(short(handle, TIFFTAG_COMPRESSION))) { return PHOTOMETRIC_MINISWHITE }
        return short(handle, TIFFTAG_SAMPLESPERPIXEL) < 3 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_RGB
    }

    // MARK: Parts

    /// Refuses strips or tiles that share long parts of the file, where each takes time for all of its bytes.
    ///
    /// JPEG is searched for a header, bytes whose bits have the other order are copied, and Deflate has blocks that unpack to nothing, of
    /// which each byte takes 75 ns.
    /// - Throws: ``ImageError/Code/corruptImage``
    func checkSharedParts() throws(ImageError) {
        let compression = Int32(Self.short(handle, TIFFTAG_COMPRESSION))
        let isReversed = Int32(Self.short(handle, TIFFTAG_FILLORDER)) == FILLORDER_LSB2MSB
        guard isReversed || compression != COMPRESSION_NONE && compression != COMPRESSION_OJPEG else { return }
        let isTiled = TIFFIsTiled(handle) != 0
        // Equal parts may be stored once: as pixels, as JPEG with a header of its own, or, if they are blank, as a few bytes.
        let unpacked = max(0, Int(isTiled ? TIFFTileSize(handle) : TIFFStripSize(handle)))
        let isCheap = compression == COMPRESSION_NONE || compression == COMPRESSION_JPEG
        let (most, overflow) = isCheap ? unpacked.multipliedReportingOverflow(by: 10) : (unpacked / 64 + 256, false)
        // Some writers state more bytes than strips have, and equal tiles may be stored once.
        var room = 4 * bytes.count + (16 << 20)
        for part in 0..<(isTiled ? TIFFNumberOfTiles(handle) : TIFFNumberOfStrips(handle)) {
            // Of a file that is cut, the bytes that are there.
            let start = min(TIFFGetStrileOffset(handle, part), UInt64(bytes.count))
            let count = Int(min(TIFFGetStrileByteCount(handle, part), UInt64(bytes.count) - start))
            room -= max(0, count - (overflow ? .max : most))
            guard room >= 0 else {
                throw .corrupt("the strips of the TIFF file share their bytes: they add up to more than the file")
            }
        }
    }

    // MARK: Errors

    /// Returns the error that describes why reading failed.
    func failure(_ detail: String = "") -> ImageError {
        let message = detail.isEmpty ? memory.message : detail
        let reason = message.isEmpty ? "" : " (libtiff: \(message))"
        return isTruncated
            ? .truncated("the TIFF file ends before its pixels are complete\(reason)")
            : .corrupt("the TIFF file can't be read\(reason)")
    }

    /// True if some of the pixels, or of their description in the directory, lie beyond the end of the bytes.
    private var isTruncated: Bool { stated.isCut || stated.missesPixels }
}
#endif
