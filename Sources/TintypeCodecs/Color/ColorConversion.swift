internal import CLCMS2
internal import FoundationEssentials
internal import TintypeImages

/// Converts pixels from the color space of an embedded ICC profile to sRGB with LittleCMS, relative colorimetric.
///
/// Decodes share them: see ``RecentConversions``.
// Sendable: nothing changes after the initializer, as LittleCMS's transforms without its cache of a pixel don't (lcms2.h, `cmsFLAGS_NOCACHE`).
final class ColorConversion: @unchecked Sendable {
    /// The meaning of the numbers in a file's pixels.
    enum Source: Equatable {
        /// RGBA; for `gray`, red, green and blue are equal, and a gray profile applies.
        case rgb, gray
        /// Ink from 0 to 255, or inverted, as Adobe writes JPEG.
        case cmyk(inverted: Bool)
    }

    private enum Method {
        case transform(cmsHTRANSFORM)
        /// Three curves and a matrix, as in most profiles.
        case matrix(MatrixConversion)
        case deepMatrix(DeepMatrixConversion)
        /// The colors of the 256 grays.
        case table([UInt32])
        case deepTable(DeepGrayTable)
    }

    /// The format of the pixels before and after the conversion.
    let format: PixelFormat
    private let context: ColorContext
    private let method: Method

    /// - Parameters:
    ///   - profile: The profile of the pixels.
    ///   - source: The kind of pixels that the file has.
    ///   - format: The format of the pixels before and after. More than 8 bits are converted without rounding to 8.
    /// - Returns: `nil` if the profile is damaged, is for another kind of pixels, or is sRGB itself. The pixels then stay as they are.
    init?(profile: Data, source: Source, format: PixelFormat = .rgba8) {
        guard let context = ColorContext(), let method = Self.method(profile, source, format, context.handle) else {
            return nil
        }
        self.format = format
        self.context = context
        self.method = method
    }

    /// True if tables are used instead of LittleCMS.
    var usesTables: Bool {
        switch method {
        case .matrix, .deepMatrix, .table, .deepTable: true
        case .transform: false
        }
    }

    /// True if grays stay about the same, because the curve of the profile is like sRGB's. The average of converted pixels
    /// is then close to the converted average, and a picture can be reduced first.
    var keepsAverages: Bool {
        let most = 12
        switch format {
        case .rgba8:
            var grays = (0...255).map { SIMD4(repeating: UInt8($0)) }
            grays.withUnsafeMutableBytes { if let base = $0.baseAddress { convert(base, count: 256) } }
            return grays.enumerated().allSatisfy { abs(Int($1.y) - $0) <= most }
        case .rgba16:
            var grays = (0...255).map { SIMD4(repeating: UInt16($0) * 257) }
            grays.withUnsafeMutableBytes { if let base = $0.baseAddress { convert(base, count: 256) } }
            return grays.enumerated().allSatisfy { abs(Int($1.y) - $0 * 257) <= most * 257 }
        case .rgbaFloat16: return false
        }
    }

    deinit {
        if case .transform(let transform) = method { cmsDeleteTransform(transform) }
    }

    private static func method(
        _ data: Data, _ source: Source, _ format: PixelFormat, _ context: cmsContext
    ) -> Method? {
        guard let profile = open(data, context), let sRGB = cmsCreate_sRGBProfileTHR(context) else { return nil }
        defer {
            cmsCloseProfile(profile)
            cmsCloseProfile(sRGB)
        }
        func transform(
            _ layout: PixelLayout, _ input: KeyPath<PixelLayout, UInt32>, to output: cmsHPROFILE, _ flags: Int32
        ) -> cmsHTRANSFORM? {
            cmsCreateTransformTHR(
                context, profile, layout[keyPath: input], output, layout.rgba, UInt32(INTENT_RELATIVE_COLORIMETRIC),
                UInt32(cmsFLAGS_NOCACHE | flags))
        }
        guard let input = input(source, cmsGetColorSpace(profile)) else { return nil }
        if input == \.rgba {
            // LittleCMS's own shortcuts are up to 6 % off in 16 bits, so that they cannot judge others.
            guard let exact = transform(PixelLayout(.rgba16), input, to: sRGB, cmsFLAGS_NOOPTIMIZE) else { return nil }
            let colors = sampleColors
            var converted = colors
            cmsDoTransform(exact, colors, &converted, UInt32(colors.count))
            cmsDeleteTransform(exact)
            if isClose(colors, converted) { return nil }
            // Profiles may have tables besides the matrix, which take precedence; then the results differ.
            switch format {
            case .rgba8:
                if let matrix = MatrixConversion(profile), isClose(convert(colors, matrix), converted) {
                    return .matrix(matrix)
                }
            case .rgba16:
                if let matrix = DeepMatrixConversion(profile), isClose(convert(colors, matrix), converted) {
                    return .deepMatrix(matrix)
                }
            case .rgbaFloat16: break
            }
        }
        if input == \.gray, format != .rgbaFloat16 {
            guard let exact = transform(PixelLayout(.rgba16), input, to: sRGB, cmsFLAGS_NOOPTIMIZE) else { return nil }
            defer { cmsDeleteTransform(exact) }
            return format == .rgba8 ? .table(grayColors(exact)) : .deepTable(DeepGrayTable(exact))
        }
        guard format == .rgbaFloat16 else {
            return transform(PixelLayout(format), input, to: sRGB, format == .rgba8 ? 0 : cmsFLAGS_HIGHRESPRECALC)
                .map { .transform($0) }
        }
        guard let linear = CodePoints(primaries: 1, transfer: 8).profile, let light = open(linear, context) else {
            return nil
        }
        defer { cmsCloseProfile(light) }
        return transform(PixelLayout(format), input, to: light, 0).map { .transform($0) }
    }

    private static func grayColors(_ transform: cmsHTRANSFORM) -> [UInt32] {
        let grays = (0...255).map { SIMD4<UInt16>(repeating: $0 * 257) }
        var colors = grays
        cmsDoTransform(transform, grays, &colors, UInt32(colors.count))
        return colors.map { color in
            func byte(_ component: Int) -> UInt32 { UInt32(DepthRounding.rounded(color[component])) }
            return byte(0) | byte(1) << 8 | byte(2) << 16
        }
    }

    /// The layout of pixels that a profile of a color space can convert; `nil` for a profile of other pixels.
    private static func input(
        _ source: Source, _ signature: cmsColorSpaceSignature
    ) -> KeyPath<PixelLayout, UInt32>? {
        switch source {
        // A gray file may carry an RGB profile, but a color file no gray profile.
        case .gray where signature == cmsSigGrayData: \.gray
        case .rgb, .gray: signature == cmsSigRgbData ? \.rgba : nil
        case .cmyk(let inverted): signature == cmsSigCmykData ? inverted ? \.invertedCMYK : \.cmyk : nil
        }
    }

    /// 729 colors throughout the cube, and all grays, with 16 bits.
    private static let sampleColors: [SIMD4<UInt16>] = {
        let steps: [UInt16] = [0, 32, 64, 96, 128, 160, 192, 224, 255]
        var colors: [SIMD4<UInt16>] = (0...255).map { SIMD4($0, $0, $0, 255) }
        for red in steps {
            for green in steps {
                for blue in steps { colors.append(SIMD4(red, green, blue, 255)) }
            }
        }
        return colors.map { $0 &* 257 }
    }()

    /// Returns true if colors are equal within a step of 8 bits.
    private static func isClose(_ colors: [SIMD4<UInt16>], _ others: [SIMD4<UInt16>]) -> Bool {
        zip(colors, others).allSatisfy { color, other in
            (0..<3).allSatisfy { abs(Int(color[$0]) - Int(other[$0])) <= 257 }
        }
    }

    private static func convert(_ colors: [SIMD4<UInt16>], _ matrix: MatrixConversion) -> [SIMD4<UInt16>] {
        var bytes = colors.map { SIMD4<UInt8>(truncatingIfNeeded: $0) }
        bytes.withUnsafeMutableBytes { bytes in
            if let base = bytes.baseAddress { matrix.convert(base, count: bytes.count / 4) }
        }
        return bytes.map { SIMD4<UInt16>(truncatingIfNeeded: $0) &* 257 }
    }

    private static func convert(_ colors: [SIMD4<UInt16>], _ matrix: DeepMatrixConversion) -> [SIMD4<UInt16>] {
        var colors = colors
        colors.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            matrix.convert(base.assumingMemoryBound(to: UInt16.self), count: bytes.count / 8)
        }
        return colors
    }

    private static func open(_ data: Data, _ context: cmsContext?) -> cmsHPROFILE? {
        data.withoutProcessingElements.withUnsafeBytes { bytes in
            UInt32(exactly: bytes.count).flatMap { cmsOpenProfileFromMemTHR(context, bytes.baseAddress, $0) }
        }
    }

    private static func description(of profile: cmsHPROFILE) -> String {
        var name = [CChar](repeating: 0, count: 128)
        let written = cmsGetProfileInfoASCII(profile, cmsInfoDescription, "en", "US", &name, UInt32(name.count))
        let bytes = name.prefix(Int(written)).prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the name that a profile gives itself, or `nil` for a profile that LittleCMS cannot read.
    static func name(of data: Data) -> String? {
        guard let context = ColorContext(), let profile = open(data, context.handle) else { return nil }
        defer { cmsCloseProfile(profile) }
        let name = description(of: profile)
        return name.isEmpty ? "ICC profile" : name
    }

    /// Returns true if RGB pixels can be converted from a profile, also if it is sRGB. Any other profile is damaged or for other pixels, and
    /// gives numbers no meaning; libjxl ends the program for some of them.
    static func isUsable(_ data: Data) -> Bool {
        guard let context = ColorContext(), let profile = open(data, context.handle),
            let sRGB = cmsCreate_sRGBProfileTHR(context.handle)
        else { return false }
        defer {
            cmsCloseProfile(profile)
            cmsCloseProfile(sRGB)
        }
        guard cmsGetColorSpace(profile) == cmsSigRgbData else { return false }
        let layout = PixelLayout(.rgbaFloat16).rgba
        // A profile has tables for each intent, of which one may be damaged. LittleCMS knows no intent above 3 but some of its own.
        let stated = cmsGetHeaderRenderingIntent(profile)
        let intents = [UInt32(INTENT_RELATIVE_COLORIMETRIC), stated > 3 ? UInt32(INTENT_PERCEPTUAL) : stated]
        return intents.allSatisfy { intent in
            let transform = cmsCreateTransformTHR(
                context.handle, profile, layout, sRGB, layout, intent, UInt32(cmsFLAGS_NOCACHE | cmsFLAGS_NOOPTIMIZE))
            if let transform { cmsDeleteTransform(transform) }
            return transform != nil
        }
    }

    /// Returns the color space of pixels that keep their numbers; `nil` for a profile that RGB pixels can't have: see ``isUsable(_:)``.
    static func keptColorSpace(_ data: Data) -> ColorSpace? {
        guard isUsable(data) else { return nil }
        return name(of: data).map { ColorSpace(name: $0, profile: data) }
    }

    /// Converts straight or opaque RGBA in place; alpha stays.
    func convert(_ row: UnsafeMutableRawPointer, count: Int) {
        switch method {
        case .transform(let transform) where format == .rgbaFloat16: convertToLight(transform, row, count: count)
        case .transform(let transform): cmsDoTransform(transform, row, row, UInt32(count))
        case .matrix(let matrix): matrix.convert(row, count: count)
        case .deepMatrix(let matrix): matrix.convert(row.assumingMemoryBound(to: UInt16.self), count: count)
        case .deepTable(let table): table.convert(row.assumingMemoryBound(to: UInt16.self), count: count)
        case .table(let table):
            table.withUnsafeBufferPointer { table in
                for offset in stride(from: 0, to: count * 4, by: 4) {
                    let pixel = row.load(fromByteOffset: offset, as: UInt32.self)
                    let color = table[Int(pixel & 0xFF)] & 0x00FF_FFFF | pixel & 0xFF00_0000
                    row.storeBytes(of: color, toByteOffset: offset, as: UInt32.self)
                }
            }
        }
    }

    /// Converts half precision to light, and that to extended sRGB. Below 0, LittleCMS continues the straight part of sRGB's curve,
    /// where extended sRGB mirrors the curve.
    private func convertToLight(_ transform: cmsHTRANSFORM, _ row: UnsafeMutableRawPointer, count: Int) {
        withUnsafeTemporaryAllocation(of: Float.self, capacity: count * 4) { floats in
            guard let floats = floats.baseAddress else { return }
            HalfFloat.unpack(row, to: floats, count: count * 4)
            cmsDoTransform(transform, floats, floats, UInt32(count))
            for pixel in 0..<count {
                for place in pixel * 4..<pixel * 4 + 3 {
                    let number = Float(TransferCurves.sRGBValue(Double(floats[place].magnitude)))
                    floats[place] = floats[place] < 0 ? -number : number
                }
            }
            HalfFloat.pack(floats, to: row, pixels: count)
        }
    }

    /// Converts CMYK to opaque RGBA.
    func convert(cmyk: UnsafeRawPointer, to row: UnsafeMutableRawPointer, count: Int) {
        guard case .transform(let transform) = method else { return }
        // Alpha is not written: all bits set is opaque in 8 and in 16 bits.
        row.initializeMemory(as: UInt8.self, repeating: 255, count: count * format.bytesPerPixel)
        cmsDoTransform(transform, cmyk, row, UInt32(count))
    }

    /// Converts straight RGBA of 16 bits in place and rounds it to 8. The conversion has 16 bits.
    func convert(_ deep: UnsafeMutablePointer<UInt16>, roundingTo row: UnsafeMutableRawPointer, count: Int) {
        convert(UnsafeMutableRawPointer(deep), count: count)
        DepthRounding.round(deep, to: row, count: count)
    }

    /// Converts opaque pixels.
    func convert(opaque pixels: PixelBuffer, pool: PixelBufferPool) throws(ImageError) -> PixelBuffer {
        let converted = try MutablePixelBuffer(size: pixels.size, format: pixels.format, cleared: false, pool: pool)
        for y in 0..<pixels.height {
            let row = converted.row(y)
            pixels.withRow(y) { bytes in
                if let base = bytes.baseAddress { row.copyMemory(from: base, byteCount: bytes.count) }
            }
            convert(row, count: pixels.width)
        }
        return converted.freeze()
    }
}

/// The layout of pixels in memory, as LittleCMS writes it (lcms2.h: `COLORSPACE_SH` and the like, macros that Swift cannot import):
/// floating point at bit 22, the color space from bit 16 on, inverted values at bit 13, further channels from bit 7, channels
/// from bit 3, bytes each.
private struct PixelLayout {
    private let sample: UInt32
    private let isDeep: Bool

    /// Half precision is converted as single precision.
    init(_ format: PixelFormat) {
        isDeep = format != .rgba8
        sample =
            switch format {
            case .rgba8: 1
            case .rgba16: 2
            case .rgbaFloat16: 1 << 22 | 4
            }
    }

    /// `TYPE_GRAY_8`; of deep pixels the red of RGBA, with three further channels.
    var gray: UInt32 { UInt32(PT_GRAY) << 16 | (isDeep ? 3 << 7 : 0) | 1 << 3 | sample }
    /// `TYPE_RGBA_8`, `TYPE_RGBA_16`, or `TYPE_RGBA_FLT`
    var rgba: UInt32 { UInt32(PT_RGB) << 16 | 1 << 7 | 3 << 3 | sample }
    /// `TYPE_CMYK_8`
    var cmyk: UInt32 { UInt32(PT_CMYK) << 16 | 4 << 3 | sample }
    /// `TYPE_CMYK_8_REV`
    var invertedCMYK: UInt32 { cmyk | 1 << 13 }
}
