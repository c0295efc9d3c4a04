#if TIFF
internal import CTIFF
internal import TintypeImages

/// The layout of the samples of a page in its strips or tiles, for pages whose samples are read individually.
///
/// Those are pages that libtiff doesn't convert to RGBA (12 and 32 bits, floating point, CMYK of 16 bits, ICC Lab), or not
/// exactly: gray of 16 bits, which it truncates, CMYK with a profile, CIELab, and pages with more samples than colors.
struct TIFFLayout {
    enum Color: Equatable { case gray, invertedGray, rgb, cmyk, lab(LabEncoding) }
    enum Sample { case uint8, uint12, uint16, uint32, int32, float16, float32, float64 }

    let color: Color
    let sample: Sample
    let range: TIFFSampleRange
    let alpha: TIFFAlpha?
    let samplesPerPixel: Int
    /// True if each sample has its own strips or tiles.
    let isPlanar: Bool
    /// The width of a tile, `nil` for strips.
    let tileWidth: Int?
    let width: Int

    /// - Returns: `nil` for pages that libtiff converts itself.
    init?(_ file: TIFFFile) {
        let handle = file.handle
        width = file.info.size.width
        samplesPerPixel = Int(TIFFFile.short(handle, TIFFTAG_SAMPLESPERPIXEL))
        isPlanar = Int32(TIFFFile.short(handle, TIFFTAG_PLANARCONFIG)) == PLANARCONFIG_SEPARATE && samplesPerPixel > 1
        tileWidth = TIFFIsTiled(handle) != 0 ? Int(TIFFFile.long(handle, TIFFTAG_TILEWIDTH)) : nil
        guard let color = Self.color(handle), let sample = Self.sample(handle, color) else { return nil }
        self.color = color
        self.sample = sample
        range = TIFFSampleRange(handle, sample, isGray: color == .gray || color == .invertedGray)
        alpha = file.alpha
        // libtiff itself suffices for 8 bits without extra samples.
        let isPlain = color == .gray || color == .invertedGray || color == .rgb
        let isForLibrary = sample == .uint8 && isPlain && samplesPerPixel == color.samples
        let isOdd = sample == .uint12 && (samplesPerPixel > 1 || tileWidth != nil)
        guard !isForLibrary, !isOdd, samplesPerPixel >= color.samples else { return nil }
    }

    private static func color(_ handle: OpaquePointer) -> Color? {
        switch TIFFFile.photometric(handle) {
        case PHOTOMETRIC_MINISBLACK: .gray
        case PHOTOMETRIC_MINISWHITE: .invertedGray
        case PHOTOMETRIC_RGB: .rgb
        case PHOTOMETRIC_SEPARATED: Int32(TIFFFile.short(handle, TIFFTAG_INKSET)) == INKSET_CMYK ? .cmyk : nil
        case PHOTOMETRIC_CIELAB: .lab(.cie)
        case PHOTOMETRIC_ICCLAB: .lab(.icc)
        default: nil
        }
    }

    private static func sample(_ handle: OpaquePointer, _ color: Color) -> Sample? {
        let isLab = color == .lab(.cie) || color == .lab(.icc)
        let format = Int32(TIFFFile.short(handle, TIFFTAG_SAMPLEFORMAT))
        let bits = TIFFFile.short(handle, TIFFTAG_BITSPERSAMPLE)
        switch (bits, format) {
        case (8, SAMPLEFORMAT_UINT), (8, SAMPLEFORMAT_VOID): return .uint8
        // Lab's a and b are signed, and some writers say so of the whole pixel.
        case (8, SAMPLEFORMAT_INT): return .uint8
        case (16, SAMPLEFORMAT_INT) where isLab: return .uint16
        case (12, SAMPLEFORMAT_UINT) where !isLab, (12, SAMPLEFORMAT_VOID) where !isLab: return .uint12
        case (16, SAMPLEFORMAT_UINT), (16, SAMPLEFORMAT_VOID): return .uint16
        case (32, SAMPLEFORMAT_UINT) where !isLab, (32, SAMPLEFORMAT_VOID) where !isLab: return .uint32
        case (32, SAMPLEFORMAT_INT) where !isLab: return .int32
        case (16, SAMPLEFORMAT_IEEEFP) where !isLab: return .float16
        case (32, SAMPLEFORMAT_IEEEFP): return .float32
        case (64, SAMPLEFORMAT_IEEEFP): return .float64
        default: return nil
        }
    }

    var bitsPerSample: Int {
        switch sample {
        case .uint8: 8
        case .uint12: 12
        case .uint16, .float16: 16
        case .uint32, .int32, .float32: 32
        case .float64: 64
        }
    }

    /// The number of samples of a pixel that lie together.
    var samplesTogether: Int { isPlanar ? 1 : samplesPerPixel }

    /// The samples whose strips or tiles are read, each from its own; a single entry if they lie together.
    var planes: [Int] {
        guard isPlanar else { return [0] }
        return Array(0..<color.samples) + (alpha.map { [$0.sample] } ?? [])
    }

    /// Returns the bytes of a row of pixels in a plane.
    func rowBytes(_ pixels: Int) -> Int { (pixels * samplesTogether * bitsPerSample + 7) / 8 }
}

extension TIFFLayout.Color {
    /// The number of samples that a color takes.
    var samples: Int {
        switch self {
        case .gray, .invertedGray: 1
        case .rgb, .lab: 3
        case .cmyk: 4
        }
    }
}
#endif
