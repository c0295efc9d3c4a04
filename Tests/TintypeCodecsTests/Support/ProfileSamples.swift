import CLCMS2
import Foundation
import Testing

/// ICC profiles that tests make for themselves.
enum ProfileSamples {
    /// An RGB space with the primaries of P3, the white of D65 and a gamma of 2.2.
    static func wide() throws -> Data { try rgb(gamma: 2.2) }

    /// The same primaries with a gamma of 1: numbers are light itself.
    static func linear() throws -> Data { try rgb(gamma: 1) }

    private static func rgb(gamma: Double) throws -> Data {
        let curve = try #require(cmsBuildGamma(nil, gamma))
        defer { cmsFreeToneCurve(curve) }
        var white = cmsCIExyY(x: 0.3127, y: 0.3290, Y: 1)
        var primaries = cmsCIExyYTRIPLE(
            Red: cmsCIExyY(x: 0.680, y: 0.320, Y: 1), Green: cmsCIExyY(x: 0.265, y: 0.690, Y: 1),
            Blue: cmsCIExyY(x: 0.150, y: 0.060, Y: 1))
        var curves: [OpaquePointer?] = [curve, curve, curve]
        return try bytes(cmsCreateRGBProfile(&white, &primaries, &curves))
    }

    /// The space of ``wide()`` with a green that gives no light, which has no place among colors.
    static func withoutGreen() throws -> Data {
        let wide = try wide()
        let profile = try #require(wide.withUnsafeBytes { cmsOpenProfileFromMem($0.baseAddress, UInt32($0.count)) })
        var dark = cmsCIEXYZ(X: 0, Y: 0, Z: 0)
        try #require(cmsWriteTag(profile, cmsSigGreenColorantTag, &dark) != 0)
        return try bytes(profile)
    }

    /// The space of ``wide()`` with matrices that leave no light, which take precedence in LittleCMS.
    static func withProcessingElements(_ count: Int) throws -> Data {
        let wide = try wide()
        let profile = try #require(wide.withUnsafeBytes { cmsOpenProfileFromMem($0.baseAddress, UInt32($0.count)) })
        let elements = try #require(cmsPipelineAlloc(nil, 3, 3))
        defer { cmsPipelineFree(elements) }
        for _ in 0..<count {
            let dark = [Double](repeating: 0, count: 9)
            try #require(cmsPipelineInsertStage(elements, cmsAT_END, cmsStageAllocMatrix(nil, 3, 3, dark, nil)) != 0)
        }
        try #require(cmsWriteTag(profile, cmsSigDToB1Tag, UnsafeRawPointer(elements)) != 0)
        return try bytes(profile)
    }

    /// Gray with a gamma of 1: light itself.
    static func linearGray() throws -> Data {
        let curve = try #require(cmsBuildGamma(nil, 1))
        defer { cmsFreeToneCurve(curve) }
        var white = cmsCIExyY(x: 0.3457, y: 0.3585, Y: 1)
        return try bytes(cmsCreateGrayProfile(&white, curve))
    }

    static func sRGB() throws -> Data { try bytes(cmsCreate_sRGBProfile()) }

    /// What LittleCMS makes of colors; alpha stays.
    static func convertedToSRGB(_ colors: [SIMD4<UInt8>], from profile: Data) throws -> [SIMD4<UInt8>] {
        let source = try #require(profile.withUnsafeBytes { cmsOpenProfileFromMem($0.baseAddress, UInt32($0.count)) })
        defer { cmsCloseProfile(source) }
        let target = try #require(cmsCreate_sRGBProfile())
        defer { cmsCloseProfile(target) }
        // TYPE_RGBA_8, and an intent of relative colorimetric.
        let layout = UInt32(PT_RGB) << 16 | 1 << 7 | 3 << 3 | 1
        let transform = try #require(cmsCreateTransform(source, layout, target, layout, 1, 0))
        defer { cmsDeleteTransform(transform) }
        var converted = colors
        cmsDoTransform(transform, colors, &converted, UInt32(colors.count))
        return converted
    }

    /// Converts colors as LittleCMS does without any of its shortcuts, from 16 bits to 16 bits; alpha stays.
    static func convertedExactly(_ colors: [SIMD4<UInt16>], from profile: Data) throws -> [SIMD4<UInt16>] {
        let source = try #require(profile.withUnsafeBytes { cmsOpenProfileFromMem($0.baseAddress, UInt32($0.count)) })
        defer { cmsCloseProfile(source) }
        let target = try #require(cmsCreate_sRGBProfile())
        defer { cmsCloseProfile(target) }
        // TYPE_RGBA_16
        let layout = UInt32(PT_RGB) << 16 | 1 << 7 | 3 << 3 | 2
        let transform = try #require(
            cmsCreateTransform(source, layout, target, layout, 1, UInt32(cmsFLAGS_NOOPTIMIZE)))
        defer { cmsDeleteTransform(transform) }
        var converted = colors
        cmsDoTransform(transform, colors, &converted, UInt32(colors.count))
        return converted
    }

    /// Converts L*a*b* with the white of D50 to sRGB from 0 to 255 with LittleCMS, in floating point.
    static func convertedFromLab(_ colors: [SIMD3<Double>]) throws -> [SIMD3<Double>] {
        let lab = try #require(cmsCreateLab4Profile(nil))
        defer { cmsCloseProfile(lab) }
        let target = try #require(cmsCreate_sRGBProfile())
        defer { cmsCloseProfile(target) }
        // TYPE_Lab_DBL and TYPE_RGB_DBL, where 0 bytes stand for 8.
        let (input, output) = (1 << 22 | UInt32(PT_Lab) << 16 | 3 << 3, 1 << 22 | UInt32(PT_RGB) << 16 | 3 << 3)
        let transform = try #require(cmsCreateTransform(lab, input, target, output, 1, UInt32(cmsFLAGS_NOOPTIMIZE)))
        defer { cmsDeleteTransform(transform) }
        let numbers = colors.flatMap { [$0.x, $0.y, $0.z] }
        var converted = numbers
        cmsDoTransform(transform, numbers, &converted, UInt32(colors.count))
        return colors.indices.map { index in
            func level(_ component: Int) -> Double { min(max(converted[index * 3 + component], 0), 1) * 255 }
            return SIMD3(level(0), level(1), level(2))
        }
    }

    /// An RGB space with a curve, primaries and a name of its own.
    static func rgb(gamma: Double, _ red: SIMD2<Double>, _ green: SIMD2<Double>, _ blue: SIMD2<Double>, name: String)
        throws -> Data
    {
        let curve = try #require(cmsBuildGamma(nil, gamma))
        defer { cmsFreeToneCurve(curve) }
        var white = cmsCIExyY(x: 0.3127, y: 0.3290, Y: 1)
        func point(_ point: SIMD2<Double>) -> cmsCIExyY { cmsCIExyY(x: point.x, y: point.y, Y: 1) }
        var primaries = cmsCIExyYTRIPLE(Red: point(red), Green: point(green), Blue: point(blue))
        var curves: [OpaquePointer?] = [curve, curve, curve]
        let profile = try #require(cmsCreateRGBProfile(&white, &primaries, &curves))
        defer { cmsCloseProfile(profile) }
        let text = try #require(cmsMLUalloc(nil, 1))
        defer { cmsMLUfree(text) }
        try #require(cmsMLUsetASCII(text, "en", "US", name) != 0)
        try #require(cmsWriteTag(profile, cmsSigProfileDescriptionTag, UnsafeRawPointer(text)) != 0)
        return try saved(profile)
    }

    /// The primaries of sRGB with linear light.
    static func linear(name: String = "linear") throws -> Data {
        try rgb(gamma: 1, [0.64, 0.33], [0.30, 0.60], [0.15, 0.06], name: name)
    }

    /// The bytes of a profile.
    static func saved(_ profile: cmsHPROFILE) throws -> Data {
        var count: UInt32 = 0
        try #require(cmsSaveProfileToMem(profile, nil, &count) != 0)
        var data = Data(count: Int(count))
        let isSaved = data.withUnsafeMutableBytes { cmsSaveProfileToMem(profile, $0.baseAddress, &count) }
        try #require(isSaved != 0)
        return data
    }

    private static func bytes(_ profile: cmsHPROFILE?) throws -> Data {
        let profile = try #require(profile)
        defer { cmsCloseProfile(profile) }
        return try saved(profile)
    }
}
