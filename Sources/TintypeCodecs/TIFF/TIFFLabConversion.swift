#if TIFF
internal import CLCMS2

/// Takes CIE L*a*b* of 8 bits, with the white of D50, to sRGB.
final class TIFFLabConversion {
    private let context: cmsContext
    private let transform: cmsHTRANSFORM

    /// - Returns: `nil` if there is no memory for it.
    init?() {
        guard let context = cmsCreateContext(nil, nil) else { return nil }
        let created: cmsHTRANSFORM? = {
            guard let lab = cmsCreateLab4ProfileTHR(context, nil) else { return nil }
            defer { cmsCloseProfile(lab) }
            guard let sRGB = cmsCreate_sRGBProfileTHR(context) else { return nil }
            defer { cmsCloseProfile(sRGB) }
            // Three channels of a byte each and one to skip, as lcms2.h's macros write it.
            let skippingOne = UInt32(1 << 7 | 3 << 3 | 1)
            return cmsCreateTransformTHR(
                context, lab, UInt32(PT_Lab) << 16 | skippingOne, sRGB, UInt32(PT_RGB) << 16 | skippingOne,
                UInt32(INTENT_RELATIVE_COLORIMETRIC), UInt32(cmsFLAGS_NOCACHE))
        }()
        guard let transform = created else {
            cmsDeleteContext(context)
            return nil
        }
        self.context = context
        self.transform = transform
    }

    deinit {
        cmsDeleteTransform(transform)
        cmsDeleteContext(context)
    }

    /// Converts in place.
    func convert(_ row: UnsafeMutableRawPointer, count: Int) {
        let bytes = row.assumingMemoryBound(to: UInt8.self)
        for x in 0..<count {
            // TIFF's a and b are signed; Little CMS wants zero at 128.
            bytes[x * 4 + 1] ^= 0x80
            bytes[x * 4 + 2] ^= 0x80
        }
        cmsDoTransform(transform, row, row, UInt32(count))
    }
}
#endif
