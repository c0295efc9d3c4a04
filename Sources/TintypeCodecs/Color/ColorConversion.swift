internal import CLCMS2
internal import FoundationEssentials
internal import TintypeCore

/// Takes pixels from the colour space of an embedded ICC profile to sRGB, with LittleCMS, relative colorimetric.
///
/// Made anew for each decode, with a context of its own and without LittleCMS's cache of one pixel, so that nothing is shared
/// between threads.
///
/// When it is applied: pixels with alpha are converted row by row, straight, before they are premultiplied. Opaque pixels
/// that shrink are converted after that, which is cheaper by the factor of the areas (LittleCMS takes about as long per
/// pixel as decoding does) and changes nothing that is seen: the resampler works on encoded values in either space.
final class ColorConversion {
    /// What the numbers of a file's pixels are.
    enum Source {
        /// RGBA, or gray repeated in R, G and B, in which case a gray profile is asked for.
        case rgb, gray
        /// Ink from 0 to 255, or inverted, as Adobe writes JPEG.
        case cmyk(inverted: Bool)
    }

    private enum Method {
        case transform(cmsHTRANSFORM)
        /// Three curves and a matrix, which most profiles are.
        case matrix(MatrixConversion)
        case deepMatrix(DeepMatrixConversion)
        /// The colours of the 256 grays.
        case table([UInt32])
    }

    private let context: cmsContext
    private let method: Method
    private let format: PixelFormat

    /// - Parameter format: of the pixels before and after; what has more than 8 bits is converted with as many.
    /// - Returns: `nil` if the profile is broken, is for other kinds of pixels, or is sRGB itself: the pixels stay.
    init?(profile: Data, source: Source, format: PixelFormat = .rgba8) {
        guard let context = cmsCreateContext(nil, nil) else { return nil }
        cmsSetLogErrorHandlerTHR(context) { _, _, _ in }
        guard let method = Self.method(profile, source, format, context) else {
            cmsDeleteContext(context)
            return nil
        }
        self.format = format
        self.context = context
        self.method = method
    }

    /// Whether tables do the work, and not LittleCMS.
    var usesTables: Bool {
        if case .matrix = method { true } else { false }
    }

    deinit {
        if case .transform(let transform) = method { cmsDeleteTransform(transform) }
        cmsDeleteContext(context)
    }

    private static func method(
        _ data: Data, _ source: Source, _ format: PixelFormat, _ context: cmsContext
    ) -> Method? {
        guard let profile = open(data, context), let sRGB = cmsCreate_sRGBProfileTHR(context) else { return nil }
        defer {
            cmsCloseProfile(profile)
            cmsCloseProfile(sRGB)
        }
        let signature = cmsGetColorSpace(profile)
        let layout = PixelLayout(format)
        let input: UInt32
        switch source {
        case .rgb, .gray:
            // A gray file may carry an RGB profile, but a colour file no gray one.
            if signature == cmsSigGrayData, case .gray = source {
                input = layout.gray
            } else if signature == cmsSigRgbData {
                if cmsIsMatrixShaper(profile) != 0, description(of: profile).hasPrefix("sRGB") { return nil }
                input = layout.rgba
            } else {
                return nil
            }
        case .cmyk(let inverted):
            guard signature == cmsSigCmykData else { return nil }
            input = inverted ? layout.invertedCMYK : layout.cmyk
        }
        guard
            let transform = cmsCreateTransformTHR(
                context, profile, input, sRGB, layout.rgba, UInt32(INTENT_RELATIVE_COLORIMETRIC),
                UInt32(format == .rgba8 ? cmsFLAGS_NOCACHE : cmsFLAGS_NOCACHE | cmsFLAGS_HIGHRESPRECALC))
        else { return nil }
        guard format == .rgba8 else { return deepMethod(transform, profile, input == layout.rgba, format) }
        if input == layout.gray {
            let grays = (0...255).map(UInt8.init)
            var colors = [UInt32](repeating: .max, count: 256)
            cmsDoTransform(transform, grays, &colors, 256)
            cmsDeleteTransform(transform)
            return .table(colors)
        }
        guard input == layout.rgba else { return .transform(transform) }
        let (colors, converted) = probe(transform)
        if isClose(colors, converted) {
            cmsDeleteTransform(transform)
            return nil
        }
        if let matrix = MatrixConversion(profile), isClose(convert(colors, matrix), converted) {
            cmsDeleteTransform(transform)
            return .matrix(matrix)
        }
        return .transform(transform)
    }

    /// - Parameter isRGB: whether the transform is from RGBA, of 16 bits or half precision.
    private static func deepMethod(
        _ transform: cmsHTRANSFORM, _ profile: cmsHPROFILE, _ isRGB: Bool, _ format: PixelFormat
    ) -> Method {
        guard isRGB, format == .rgba16, let matrix = DeepMatrixConversion(profile) else { return .transform(transform) }
        // Profiles may have tables besides the matrix, which count more: LittleCMS's result shows which it uses.
        let colors = sampleColors.map { SIMD4<UInt16>(truncatingIfNeeded: $0) &* 257 }
        var (converted, byMatrix) = (colors, colors)
        cmsDoTransform(transform, colors, &converted, UInt32(colors.count))
        byMatrix.withUnsafeMutableBytes { bytes in
            guard let base = bytes.baseAddress else { return }
            matrix.convert(base.assumingMemoryBound(to: UInt16.self), count: colors.count)
        }
        let isClose = zip(converted, byMatrix).allSatisfy { color, other in
            (0..<3).allSatisfy { abs(Int(color[$0]) - Int(other[$0])) <= 257 }
        }
        guard isClose else { return .transform(transform) }
        cmsDeleteTransform(transform)
        return .deepMatrix(matrix)
    }

    /// 729 colours all over the cube, and all grays.
    private static var sampleColors: [SIMD4<UInt8>] {
        let steps: [UInt8] = [0, 32, 64, 96, 128, 160, 192, 224, 255]
        var colors: [SIMD4<UInt8>] = (0...255).map { SIMD4(UInt8($0), UInt8($0), UInt8($0), 255) }
        for red in steps {
            for green in steps {
                for blue in steps { colors.append(SIMD4(red, green, blue, 255)) }
            }
        }
        return colors
    }

    /// Some colours before and after a transform.
    private static func probe(_ transform: cmsHTRANSFORM) -> (colors: [SIMD4<UInt8>], converted: [SIMD4<UInt8>]) {
        let colors = sampleColors
        var converted = colors
        cmsDoTransform(transform, colors, &converted, UInt32(colors.count))
        return (colors, converted)
    }

    /// Whether colours are the same within one step.
    private static func isClose(_ colors: [SIMD4<UInt8>], _ others: [SIMD4<UInt8>]) -> Bool {
        zip(colors, others).allSatisfy { color, other in
            (0..<3).allSatisfy { abs(Int(color[$0]) - Int(other[$0])) <= 1 }
        }
    }

    private static func convert(_ colors: [SIMD4<UInt8>], _ matrix: MatrixConversion) -> [SIMD4<UInt8>] {
        var colors = colors
        colors.withUnsafeMutableBytes { bytes in
            if let base = bytes.baseAddress { matrix.convert(base, count: bytes.count / 4) }
        }
        return colors
    }

    private static func open(_ data: Data, _ context: cmsContext?) -> cmsHPROFILE? {
        data.withUnsafeBytes { bytes in
            UInt32(exactly: bytes.count).flatMap { cmsOpenProfileFromMemTHR(context, bytes.baseAddress, $0) }
        }
    }

    private static func description(of profile: cmsHPROFILE) -> String {
        var name = [CChar](repeating: 0, count: 128)
        let written = cmsGetProfileInfoASCII(profile, cmsInfoDescription, "en", "US", &name, UInt32(name.count))
        let bytes = name.prefix(Int(written)).prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
        return String(decoding: bytes, as: UTF8.self)
    }

    /// What a profile calls itself; `nil` for one that LittleCMS cannot read.
    static func name(of data: Data) -> String? {
        guard let context = cmsCreateContext(nil, nil) else { return nil }
        defer { cmsDeleteContext(context) }
        cmsSetLogErrorHandlerTHR(context) { _, _, _ in }
        guard let profile = open(data, context) else { return nil }
        defer { cmsCloseProfile(profile) }
        let name = description(of: profile)
        return name.isEmpty ? "ICC profile" : name
    }

    /// The colour space of pixels whose numbers are kept: that of an RGB profile, or else sRGB.
    static func keptColorSpace(_ data: Data) -> ColorSpace? {
        // The signature of the colour space stands at byte 16 (ICC.1, section 7.2).
        guard data.count >= 128, data.dropFirst(16).prefix(4).elementsEqual("RGB ".utf8) else { return nil }
        return name(of: data).map { ColorSpace(name: $0, profile: data) }
    }

    /// Converts straight or opaque RGBA in place; alpha stays.
    func convert(_ row: UnsafeMutableRawPointer, count: Int) {
        switch method {
        case .transform(let transform): cmsDoTransform(transform, row, row, UInt32(count))
        case .matrix(let matrix): matrix.convert(row, count: count)
        case .deepMatrix(let matrix): matrix.convert(row.assumingMemoryBound(to: UInt16.self), count: count)
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

    /// Converts CMYK to opaque RGBA.
    func convert(cmyk: UnsafeRawPointer, to row: UnsafeMutableRawPointer, count: Int) {
        guard case .transform(let transform) = method else { return }
        // Alpha is not written: all ones are opaque in 8 and in 16 bits.
        row.initializeMemory(as: UInt8.self, repeating: 255, count: count * format.bytesPerPixel)
        cmsDoTransform(transform, cmyk, row, UInt32(count))
    }

    /// Converts opaque pixels.
    func convert(opaque pixels: PixelBuffer, pool: PixelBufferPool) throws(ImageError) -> PixelBuffer {
        let converted = try MutablePixelBuffer(size: pixels.size, format: pixels.format, pool: pool)
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

/// How pixels lie in memory, as LittleCMS writes it (lcms2.h: `COLORSPACE_SH` and the like, macros that Swift cannot import):
/// floating point at bit 22, the colour space from bit 16 on, inverted values at bit 13, further channels from bit 7, channels
/// from bit 3, bytes each.
private struct PixelLayout {
    private let sample: UInt32
    private let isDeep: Bool

    init(_ format: PixelFormat) {
        isDeep = format != .rgba8
        sample = (format == .rgbaFloat16 ? 1 << 22 : 0) | (isDeep ? 2 : 1)
    }

    /// `TYPE_GRAY_8`; of deep pixels the red of RGBA, with three further channels.
    var gray: UInt32 { UInt32(PT_GRAY) << 16 | (isDeep ? 3 << 7 : 0) | 1 << 3 | sample }
    /// `TYPE_RGBA_8`, `TYPE_RGBA_16`, or `TYPE_RGBA_HALF_FLT`
    var rgba: UInt32 { UInt32(PT_RGB) << 16 | 1 << 7 | 3 << 3 | sample }
    /// `TYPE_CMYK_8`
    var cmyk: UInt32 { UInt32(PT_CMYK) << 16 | 4 << 3 | sample }
    /// `TYPE_CMYK_8_REV`
    var invertedCMYK: UInt32 { cmyk | 1 << 13 }
}
