#if TIFF
internal import CTIFF
internal import TintypeCore

/// How the samples of a page lie in its strips or tiles, for pages whose samples are read one by one.
///
/// Those are pages of which libtiff makes no RGBA (12 and 32 bits, floating point, CMYK of 16 bits), or less exactly than
/// can be: gray of 16 bits, which it cuts off, CMYK with a profile, and Lab.
struct TIFFLayout {
    enum Color { case gray, invertedGray, rgb, cmyk, lab }
    enum Sample { case uint8, uint12, uint16, uint32, int32, float32, float64 }
    enum Alpha { case none, straight, premultiplied }

    let color: Color
    let sample: Sample
    let alpha: Alpha
    let samplesPerPixel: Int
    /// Whether each sample has strips or tiles of its own.
    let isPlanar: Bool
    /// Side by side in the file, `nil` for strips.
    let tileWidth: Int?
    let width: Int

    /// - Returns: `nil` for pages that libtiff's own conversion takes.
    init?(_ file: TIFFFile) {
        let handle = file.handle
        width = file.info.size.width
        samplesPerPixel = Int(TIFFFile.short(handle, TIFFTAG_SAMPLESPERPIXEL))
        isPlanar = Int32(TIFFFile.short(handle, TIFFTAG_PLANARCONFIG)) == PLANARCONFIG_SEPARATE && samplesPerPixel > 1
        tileWidth = TIFFIsTiled(handle) != 0 ? Int(TIFFFile.long(handle, TIFFTAG_TILEWIDTH)) : nil
        guard let color = Self.color(handle), let sample = Self.sample(handle) else { return nil }
        self.color = color
        self.sample = sample
        let colors =
            switch color {
            case .gray, .invertedGray: 1
            case .rgb, .lab: 3
            case .cmyk: 4
            }
        // libtiff does as well itself what is of 8 bits and no ink.
        let isForLibrary = sample == .uint8 && color != .cmyk && color != .lab
        let isOdd = sample == .uint12 && (samplesPerPixel > 1 || tileWidth != nil)
        guard !isForLibrary, !isOdd, samplesPerPixel >= colors, color != .lab || sample == .uint8 else { return nil }
        alpha = samplesPerPixel > colors && file.info.hasAlpha ? Self.alpha(file) : .none
    }

    private static func color(_ handle: OpaquePointer) -> Color? {
        switch Int32(TIFFFile.short(handle, TIFFTAG_PHOTOMETRIC)) {
        case PHOTOMETRIC_MINISBLACK: .gray
        case PHOTOMETRIC_MINISWHITE: .invertedGray
        case PHOTOMETRIC_RGB: .rgb
        case PHOTOMETRIC_SEPARATED: Int32(TIFFFile.short(handle, TIFFTAG_INKSET)) == INKSET_CMYK ? .cmyk : nil
        case PHOTOMETRIC_CIELAB: .lab
        default: nil
        }
    }

    private static func sample(_ handle: OpaquePointer) -> Sample? {
        let format = Int32(TIFFFile.short(handle, TIFFTAG_SAMPLEFORMAT))
        switch (TIFFFile.short(handle, TIFFTAG_BITSPERSAMPLE), format) {
        case (8, SAMPLEFORMAT_UINT), (8, SAMPLEFORMAT_VOID): return .uint8
        // Lab's a and b are signed, and some writers say so of the whole pixel.
        case (8, SAMPLEFORMAT_INT): return .uint8
        case (12, SAMPLEFORMAT_UINT), (12, SAMPLEFORMAT_VOID): return .uint12
        case (16, SAMPLEFORMAT_UINT), (16, SAMPLEFORMAT_VOID): return .uint16
        case (32, SAMPLEFORMAT_UINT), (32, SAMPLEFORMAT_VOID): return .uint32
        case (32, SAMPLEFORMAT_INT): return .int32
        case (32, SAMPLEFORMAT_IEEEFP): return .float32
        case (64, SAMPLEFORMAT_IEEEFP): return .float64
        default: return nil
        }
    }

    private static func alpha(_ file: TIFFFile) -> Alpha {
        file.firstExtraSample == UInt16(EXTRASAMPLE_UNASSALPHA) ? .straight : .premultiplied
    }

    var bitsPerSample: Int {
        switch sample {
        case .uint8: 8
        case .uint12: 12
        case .uint16: 16
        case .uint32, .int32, .float32: 32
        case .float64: 64
        }
    }

    /// The samples of a pixel that lie together.
    var samplesTogether: Int { isPlanar ? 1 : samplesPerPixel }

    /// The bytes of a row of so many pixels, in one plane.
    func rowBytes(_ pixels: Int) -> Int { (pixels * samplesTogether * bitsPerSample + 7) / 8 }
}
#endif
