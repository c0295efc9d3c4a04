#if TIFF
internal import CTIFF
internal import TintypeImages

/// The layout of the samples of a page in its strips or tiles, for pages whose samples are read individually.
///
/// Pages without one are those whose samples aren't pixels until libtiff has put them together: YCbCr, JPEG of TIFF 6.0, and LogLuv.
struct TIFFLayout {
    enum Color: Equatable { case gray, invertedGray, rgb, cmyk, palette, lab(LabEncoding) }

    enum Sample: Equatable {
        /// Of 1 to 16 bits. Those that don't fill bytes follow each other from the high bits on (TIFF 6.0, section 8).
        case uint(bits: Int)
        case uint32, int32, float16, float32, float64
    }

    let color: Color
    let sample: Sample
    let alpha: TIFFAlpha?
    /// The colors of a palette, opaque.
    let palette: [SIMD4<UInt16>]
    let samplesPerPixel: Int
    /// True if each sample has its own strips or tiles.
    let isPlanar: Bool
    /// The width of a tile, `nil` for strips.
    let tileWidth: Int?
    let width: Int

    /// - Parameters:
    ///   - handle: the page, opened.
    ///   - stated: its directory as the bytes have it.
    /// - Returns: `nil` for pages that libtiff converts itself.
    /// - Throws: ``ImageError/Code/formatNotEnabled`` for samples or colors that aren't read, ``ImageError/Code/corruptImage``, and
    ///   ``ImageError/Code/truncatedImage``.
    init?(_ handle: OpaquePointer, _ stated: TIFFDirectory) throws(ImageError) {
        let photometric = TIFFFile.photometric(handle)
        let compression = TIFFFile.short(handle, TIFFTAG_COMPRESSION)
        let converted = [PHOTOMETRIC_YCBCR, PHOTOMETRIC_LOGL, PHOTOMETRIC_LOGLUV]
        guard Int32(compression) != COMPRESSION_OJPEG, !converted.contains(photometric)
        else { return nil }
        // The library for it takes memory for the size that the data states, and ends the process if there is none.
        guard Int32(compression) != COMPRESSION_JBIG else { throw Self.unsupported("JBIG compression") }
        guard TIFFIsCODECConfigured(compression) != 0 else {
            throw Self.unsupported("the compression \(compression)")
        }
        guard let color = Self.color(handle, photometric) else {
            throw Self.unsupported("the color model \(photometric) (PhotometricInterpretation)")
        }
        // libtiff shows the indices of a missing palette as gray.
        if color == .gray, stated.photometric == Int(PHOTOMETRIC_PALETTE) {
            throw stated.isCut ? .truncated("the TIFF file ends before its palette does") : Self.noPalette
        }
        sample = try Self.sample(handle, color)
        palette = try color == .palette ? Self.palette(handle) : []
        width = Int(TIFFFile.long(handle, TIFFTAG_IMAGEWIDTH))
        samplesPerPixel = Int(TIFFFile.short(handle, TIFFTAG_SAMPLESPERPIXEL))
        isPlanar = Int32(TIFFFile.short(handle, TIFFTAG_PLANARCONFIG)) == PLANARCONFIG_SEPARATE && samplesPerPixel > 1
        tileWidth = TIFFIsTiled(handle) != 0 ? Int(TIFFFile.long(handle, TIFFTAG_TILEWIDTH)) : nil
        alpha = TIFFAlpha(handle, color, samplesPerPixel)
        self.color = color
        // The limits on pixels expect a few samples for each.
        guard samplesPerPixel <= Self.mostSamples else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "the TIFF file has \(samplesPerPixel) samples per pixel, over the limit of \(Self.mostSamples)")
        }
        guard samplesPerPixel >= color.samples else {
            throw .corrupt("the TIFF file has \(samplesPerPixel) samples per pixel, too few for its color model")
        }
        guard let tileWidth, tileWidth < width else { return }
        guard (tileWidth % 8 * samplesTogether * bitsPerSample) % 8 == 0 else {
            throw Self.unsupported("a tile width that ends within a byte")
        }
    }

    private static let mostSamples = 256
    private static let noPalette = ImageError.corrupt("the TIFF file has no palette")

    private static func unsupported(_ what: String) -> ImageError {
        ImageError(.formatNotEnabled, stage: .decode, reason: "the TIFF file has \(what), which isn't supported")
    }

    private static func color(_ handle: OpaquePointer, _ photometric: Int32) -> Color? {
        switch photometric {
        case PHOTOMETRIC_MINISBLACK: .gray
        case PHOTOMETRIC_MINISWHITE: .invertedGray
        case PHOTOMETRIC_RGB: .rgb
        case PHOTOMETRIC_PALETTE: .palette
        case PHOTOMETRIC_SEPARATED: Int32(TIFFFile.short(handle, TIFFTAG_INKSET)) == INKSET_CMYK ? .cmyk : nil
        case PHOTOMETRIC_CIELAB: .lab(.cie)
        case PHOTOMETRIC_ICCLAB: .lab(.icc)
        default: nil
        }
    }

    private static func sample(_ handle: OpaquePointer, _ color: Color) throws(ImageError) -> Sample {
        let isLab = color == .lab(.cie) || color == .lab(.icc)
        let format = Int32(TIFFFile.short(handle, TIFFTAG_SAMPLEFORMAT))
        let bits = Int(TIFFFile.short(handle, TIFFTAG_BITSPERSAMPLE))
        let isInteger = format == SAMPLEFORMAT_UINT || format == SAMPLEFORMAT_VOID
        switch (bits, format) {
        case (1...16, _) where isInteger && (!isLab || bits == 8 || bits == 16): return .uint(bits: bits)
        // Lab's a and b are signed, and some writers say so of the whole pixel.
        case (8, SAMPLEFORMAT_INT): return .uint(bits: 8)
        // Other programs show the bits of such numbers without their sign.
        case (16, SAMPLEFORMAT_INT): return .uint(bits: 16)
        case (_, _) where color == .palette: break
        case (32, SAMPLEFORMAT_IEEEFP): return .float32
        case (64, SAMPLEFORMAT_IEEEFP): return .float64
        case (_, _) where isLab: break
        case (32, _) where isInteger: return .uint32
        case (32, SAMPLEFORMAT_INT): return .int32
        case (16, SAMPLEFORMAT_IEEEFP): return .float16
        default: break
        }
        throw unsupported("a color model with samples of \(bits) bits and the format \(format) (SampleFormat)")
    }

    /// The colors of a palette. Old writers gave them in 8 bits.
    private static func palette(_ handle: OpaquePointer) throws(ImageError) -> [SIMD4<UInt16>] {
        var (red, green, blue) = (UnsafePointer<UInt16>?.none, UnsafePointer<UInt16>?.none, UnsafePointer<UInt16>?.none)
        guard tintype_tiff_fields(handle, UInt32(TIFFTAG_COLORMAP), &red, &green, &blue) != 0, let red, let green,
            let blue
        else {
            throw noPalette
        }
        let colors = (0..<1 << Int(TIFFFile.short(handle, TIFFTAG_BITSPERSAMPLE))).map {
            SIMD4(red[$0], green[$0], blue[$0], .max)
        }
        let isShort = colors.contains { max($0.x, $0.y, $0.z) > 255 }
        return isShort ? colors : colors.map { SIMD4($0.x * 257, $0.y * 257, $0.z * 257, .max) }
    }

    var bitsPerSample: Int {
        switch sample {
        case .uint(let bits): bits
        case .float16: 16
        case .uint32, .int32, .float32: 32
        case .float64: 64
        }
    }

    /// The bits of a component of a color, 8 for a palette.
    var bitsPerComponent: Int { color == .palette ? 8 : bitsPerSample }

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
        case .gray, .invertedGray, .palette: 1
        case .rgb, .lab: 3
        case .cmyk: 4
        }
    }
}

/// The sample that is the transparency of a page's pixels.
struct TIFFAlpha {
    /// The index of the sample in a pixel.
    let sample: Int
    /// True if colors are premultiplied.
    let isPremultiplied: Bool

    /// - Returns: `nil` for opaque pixels.
    init?(_ handle: OpaquePointer, _ color: TIFFLayout.Color, _ samples: Int) {
        let extras =
            TIFFFile.array(handle, TIFFTAG_EXTRASAMPLES, count: UInt16.self, of: UInt16.self)
            .map { $0.map(Int32.init) } ?? []
        let kinds = [EXTRASAMPLE_ASSOCALPHA, EXTRASAMPLE_UNASSALPHA]
        if let index = extras.firstIndex(where: kinds.contains), samples - extras.count + index >= color.samples {
            sample = samples - extras.count + index
            // The color of an index can't be multiplied by anything.
            isPremultiplied = extras[index] == EXTRASAMPLE_ASSOCALPHA && color != .palette
            return
        }
        // A fourth sample of RGB that the file does not explain is alpha beside colors, as editors write it. Only libtiff takes it for premultiplied.
        guard color == .rgb, extras.isEmpty ? samples == 4 : samples > 3 else { return nil }
        (sample, isPremultiplied) = (3, false)
    }
}
#endif
