/// A format of image files. Programs can add formats under any name.
public struct ImageFormat: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
    /// A short lower-case name, such as `jpeg`.
    public let rawValue: String
    /// Creates a format.
    /// - Parameter rawValue: the name, in lowercase.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// The name of the format.
    public var description: String { rawValue }
}

extension ImageFormat {
    /// JPEG (ITU-T T.81).
    public static let jpeg = Self(rawValue: "jpeg")
    /// PNG, and animated PNG (PNG, third edition).
    public static let png = Self(rawValue: "png")
    /// GIF, and animated GIF (GIF89a).
    public static let gif = Self(rawValue: "gif")
    /// WebP, lossy, lossless, and animated (RFC 9649).
    public static let webp = Self(rawValue: "webp")
    /// A Windows or OS/2 bitmap.
    public static let bmp = Self(rawValue: "bmp")
    /// A Windows icon or cursor.
    public static let ico = Self(rawValue: "ico")
    /// TIFF and BigTIFF (TIFF 6.0).
    public static let tiff = Self(rawValue: "tiff")
    /// AVIF, with images and sequences in AV1.
    public static let avif = Self(rawValue: "avif")
    /// HEIF whose brands state that its images are coded in HEVC, such as many `.heif` files.
    public static let heic = Self(rawValue: "heic")
    /// HEIF with another coding than ``heic`` and ``avif``, or whose brands don't state the coding.
    public static let heif = Self(rawValue: "heif")
    /// JPEG XL (ISO/IEC 18181).
    public static let jxl = Self(rawValue: "jxl")
    /// SVG, compressed with gzip or not.
    public static let svg = Self(rawValue: "svg")
    /// PDF (ISO 32000).
    public static let pdf = Self(rawValue: "pdf")
    /// A camera file, such as DNG, CR2, or NEF.
    public static let raw = Self(rawValue: "raw")

    /// The formats that ``init(sniffing:)`` recognizes, and RAW, which needs a hint to distinguish it from TIFF.
    public static let known: [ImageFormat] = [
        .jpeg, .png, .gif, .webp, .bmp, .ico, .tiff, .avif, .heic, .heif, .jxl, .svg, .pdf, .raw,
    ]
}

extension ImageFormat {
    private struct Facts {
        var mimeTypes: [String]
        var extensions: [String]
        var trait: String?
        var storesAlpha = true
    }

    private static let builtIn: [ImageFormat: Facts] = [
        .jpeg: Facts(
            mimeTypes: ["image/jpeg", "image/jpg", "image/pjpeg"], extensions: ["jpg", "jpeg", "jpe", "jfif"],
            storesAlpha: false),
        .png: Facts(mimeTypes: ["image/png", "image/apng", "image/x-png"], extensions: ["png", "apng"]),
        .gif: Facts(mimeTypes: ["image/gif"], extensions: ["gif"]),
        .webp: Facts(mimeTypes: ["image/webp"], extensions: ["webp"]),
        .bmp: Facts(
            mimeTypes: ["image/bmp", "image/x-bmp", "image/x-ms-bmp", "image/x-win-bitmap"],
            extensions: ["bmp", "dib"]),
        .ico: Facts(mimeTypes: ["image/x-icon", "image/vnd.microsoft.icon", "image/ico"], extensions: ["ico", "cur"]),
        .tiff: Facts(mimeTypes: ["image/tiff", "image/tif"], extensions: ["tiff", "tif"], trait: "TIFF"),
        .avif: Facts(mimeTypes: ["image/avif", "image/avif-sequence"], extensions: ["avif", "avifs"], trait: "AVIF"),
        .heic: Facts(mimeTypes: ["image/heic", "image/heic-sequence"], extensions: ["heic", "heics"], trait: "HEIF"),
        .heif: Facts(
            mimeTypes: ["image/heif", "image/heif-sequence"], extensions: ["heif", "heifs", "hif"], trait: "HEIF"),
        .jxl: Facts(mimeTypes: ["image/jxl"], extensions: ["jxl"], trait: "JXL"),
        .svg: Facts(mimeTypes: ["image/svg+xml"], extensions: ["svg", "svgz"], trait: "SVG"),
        .pdf: Facts(mimeTypes: ["application/pdf"], extensions: ["pdf"], trait: "PDF"),
        .raw: Facts(
            mimeTypes: [
                "image/x-dcraw", "image/x-adobe-dng", "image/x-canon-cr2", "image/x-canon-cr3", "image/x-canon-crw",
                "image/x-nikon-nef", "image/x-nikon-nrw", "image/x-sony-arw", "image/x-sony-sr2", "image/x-olympus-orf",
                "image/x-panasonic-rw2", "image/x-fuji-raf", "image/x-pentax-pef", "image/x-samsung-srw",
            ],
            extensions: [
                "dng", "nef", "nrw", "cr2", "cr3", "crw", "arw", "sr2", "srf", "orf", "rw2", "rwl", "raf", "pef", "srw",
                "3fr", "iiq", "erf", "mef", "mos", "mrw", "x3f", "kdc", "dcr",
            ], trait: "RAW"),
    ]

    private static let registered = Lock<[ImageFormat: Facts]>([:])

    private var facts: Facts? { Self.builtIn[self] ?? Self.registered.withLock { $0[self] } }

    private static func registeredFormat(_ isMatch: (Facts) -> Bool) -> ImageFormat? {
        registered.withLock { $0 }.first { isMatch($0.value) }?.key
    }

    private static let builtInTypes = table(\.mimeTypes)
    private static let builtInExtensions = table(\.extensions)

    private static func table(_ names: (Facts) -> [String]) -> [String: ImageFormat] {
        let pairs = builtIn.flatMap { format, facts in names(facts).map { ($0, format) } }
        return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
    }

    /// Adds the media types and file name extensions of a custom format, for the whole process.
    ///
    /// A type or an extension that Tintype knows keeps its meaning. Registering a format again replaces the earlier registration; the
    /// formats in ``known`` can't be changed.
    /// - Parameters:
    ///   - format: The format.
    ///   - mimeTypes: Its media types, the most common first. Entries on disk are stored with it.
    ///   - fileExtensions: Its file name extensions without the dot, the most common first.
    ///   - storesAlpha: True if its pixels can be transparent.
    public static func register(
        _ format: ImageFormat, mimeTypes: [String], fileExtensions: [String], storesAlpha: Bool = true
    ) {
        let facts = Facts(
            mimeTypes: mimeTypes.map { $0.lowercased() }, extensions: fileExtensions.map { $0.lowercased() },
            storesAlpha: storesAlpha)
        registered.withLock { $0[format] = facts }
    }

    /// The media type of the format in HTTP (RFC 9110, section 8.3), or `nil` for a format that is neither known nor registered.
    public var mimeType: String? { facts?.mimeTypes.first }

    /// The usual file name extension, without the dot.
    public var fileExtension: String { facts?.extensions.first ?? rawValue }

    /// The package trait that provides the format's coder, or `nil` if the coder is always available or unknown.
    package var trait: String? { facts?.trait }

    /// True if pixels of the format can be transparent.
    package var storesAlpha: Bool { facts?.storesAlpha ?? true }

    /// Creates the format with a media type. Parameters such as `; charset=` are ignored.
    /// - Parameter mimeType: the media type, such as `image/jpeg`.
    public init?(mimeType: String) {
        // ASCII, so that nothing is looked up in the tables of Unicode: each load asks.
        let type = String(
            decoding: mimeType.utf8.prefix { $0 != UInt8(ascii: ";") }.filter { $0 > UInt8(ascii: " ") }.map {
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0
            }, as: UTF8.self)
        guard let match = Self.builtInTypes[type] ?? Self.registeredFormat({ $0.mimeTypes.contains(type) }) else {
            return nil
        }
        self = match
    }

    /// Creates the format with a file name extension, in any case, without the dot.
    /// - Parameter fileExtension: the extension, such as `jpg`.
    public init?(fileExtension: String) {
        let wanted = fileExtension.lowercased()
        let match = Self.builtInExtensions[wanted] ?? Self.registeredFormat { $0.extensions.contains(wanted) }
        guard let match else { return nil }
        self = match
    }
}

extension ImageFormat {
    /// Returns the format to assume if the signature is ambiguous: ``raw`` for the file name or media type of a camera file,
    /// whose signature is often TIFF's; `nil` for all others.
    ///
    /// The result is meant for ``DecodeOptions/formatHint``. Loads use it if their request has no hint.
    /// - Parameters:
    ///   - fileName: a file name or a path.
    ///   - mimeType: the media type, if it is known.
    package static func hint(fileName: String, mimeType: String? = nil) -> ImageFormat? {
        if let mimeType, ImageFormat(mimeType: mimeType) == .raw { return .raw }
        return ImageFormat(fileName: fileName) == .raw ? .raw : nil
    }

    /// The format that the extension of a file's name or path stands for.
    package init?(fileName: String) {
        let name = fileName.utf8
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), name.distance(from: dot, to: name.endIndex) < 20 else {
            return nil
        }
        self.init(fileExtension: String(fileName[name.index(after: dot)...]))
    }
}
