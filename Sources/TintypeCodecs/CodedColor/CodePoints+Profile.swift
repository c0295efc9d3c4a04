internal import CLCMS2
internal import FoundationEssentials
internal import TintypeImages

extension CodePoints {
    /// An ICC profile for pixels of these code points; `nil` for sRGB, and without memory for a profile.
    var profile: Data? {
        guard !isSRGB, let context = ColorContext(), let curve = curve(context.handle) else { return nil }
        defer { cmsFreeToneCurve(curve) }
        let points = chromaticities
        func point(_ point: SIMD2<Double>) -> cmsCIExyY { cmsCIExyY(x: point.x, y: point.y, Y: 1) }
        var white = point(points.white)
        var primaries = cmsCIExyYTRIPLE(
            Red: point(points.red), Green: point(points.green), Blue: point(points.blue))
        let created = [Optional(curve), curve, curve].withUnsafeBufferPointer {
            cmsCreateRGBProfileTHR(context.handle, &white, &primaries, $0.baseAddress)
        }
        guard let profile = created else { return nil }
        defer { cmsCloseProfile(profile) }
        name(profile, context.handle)
        var count: cmsUInt32Number = 0
        guard cmsSaveProfileToMem(profile, nil, &count) != 0 else { return nil }
        var bytes = Data(count: Int(count))
        let saved = bytes.withUnsafeMutableBytes { cmsSaveProfileToMem(profile, $0.baseAddress, &count) }
        return saved != 0 ? bytes : nil
    }

    private func curve(_ context: cmsContext) -> OpaquePointer? {
        if isHighDynamicRange {
            let isPQ = transfer == Transfer.pq
            let values = (0..<4_096).map { index in
                let value = Double(index) / 4_095
                return Float(isPQ ? TransferCurves.pqLight(value) / 10_000 : TransferCurves.hlgLight(value))
            }
            return cmsBuildTabulatedToneCurveFloat(context, 4_096, values)
        }
        if let gamma = Transfer.gamma[transfer] { return cmsBuildGamma(context, gamma) }
        // IEC 61966-2-1: a power with an offset above 0.04045, a line below.
        return cmsBuildParametricToneCurve(context, 4, [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.040_45])
    }

    /// Writes the name into the profile, in place of Little CMS's own.
    private func name(_ profile: cmsHPROFILE, _ context: cmsContext) {
        guard let text = cmsMLUalloc(context, 1) else { return }
        defer { cmsMLUfree(text) }
        cmsMLUsetASCII(text, "en", "US", name)
        cmsWriteTag(profile, cmsSigProfileDescriptionTag, UnsafeRawPointer(text))
    }
}
