#if JXL || TIFF
import CLCMS2
import Foundation
import Testing

extension ProfileSamples {
    /// A profile in which each ink takes its part of the light.
    static func inks() throws -> Data {
        let profile = try #require(cmsCreateProfilePlaceholder(nil))
        defer { cmsCloseProfile(profile) }
        // The placeholder is of version 2, whose L*a*b* has other numbers.
        cmsSetProfileVersion(profile, 4.3)
        cmsSetDeviceClass(profile, cmsSigOutputClass)
        cmsSetColorSpace(profile, cmsSigCmykData)
        cmsSetPCS(profile, cmsSigLabData)
        let pipeline = try #require(cmsPipelineAlloc(nil, 4, 3))
        defer { cmsPipelineFree(pipeline) }
        let table = try labOfCorners()
        for stage in [
            cmsStageAllocToneCurves(nil, 4, nil), cmsStageAllocCLut16bit(nil, 2, 4, 3, table),
            cmsStageAllocToneCurves(nil, 3, nil),
        ] { try #require(cmsPipelineInsertStage(pipeline, cmsAT_END, stage) != 0) }
        try #require(cmsWriteTag(profile, cmsSigAToB0Tag, UnsafeRawPointer(pipeline)) != 0)
        try #require(cmsWriteTag(profile, cmsSigMediaWhitePointTag, UnsafeRawPointer(cmsD50_XYZ())) != 0)
        return try saved(profile)
    }

    /// L*a*b* of the 16 ways of printing with all or nothing of each ink; black changes fastest.
    private static func labOfCorners() throws -> [UInt16] {
        let sRGB = try #require(cmsCreate_sRGBProfile())
        defer { cmsCloseProfile(sRGB) }
        let lab = try #require(cmsCreateLab4Profile(nil))
        defer { cmsCloseProfile(lab) }
        // TYPE_RGB_8 to TYPE_Lab_16
        let (input, output) = (UInt32(PT_RGB) << 16 | 3 << 3 | 1, UInt32(PT_Lab) << 16 | 3 << 3 | 2)
        let transform = try #require(cmsCreateTransform(sRGB, input, lab, output, 1, UInt32(cmsFLAGS_NOOPTIMIZE)))
        defer { cmsDeleteTransform(transform) }
        let colors = (0..<16).flatMap { corner -> [UInt8] in
            (0..<3).map { corner & 1 == 1 || corner >> (3 - $0) & 1 == 1 ? 0 : 255 }
        }
        var table = [UInt16](repeating: 0, count: 48)
        cmsDoTransform(transform, colors, &table, 16)
        return table
    }
}
#endif
