/// Where decoders disagree and Tintype has decided: what is not compared for which file. Why stands in
/// `Documentation/conformance.md`.
enum Decision: Sendable {
    /// Another size than the manifest's, and so other pixels and frames.
    case size
    /// Other pixels of the first frame than the digest's. A reference picture is compared all the same.
    case pixels
    /// Other pixels of further frames.
    case frames

    static let table: [String: Set<Decision>] = [
        // The logical screen is the size, and what lies beyond it is cut off.
        "gif-wuffs/frame-out-of-bounds.gif": [.size],
        // A second GIF behind the first is not part of it.
        "gif-pillow/test_extents_transparency.gif": [.size],
        // What no frame covers is transparent.
        "gif-wuffs/background-color.gif": [.pixels, .frames],
        "gif-wuffs/metadata-empty.gif": [.pixels],
        "gif-wuffs/metadata-full.gif": [.pixels],
        "gif-wuffs/multiple-loop-counts.gif": [.pixels, .frames],
        "gif-wuffs/small-frame-interlaced.gif": [.pixels],
        // What is disposed of to the background is transparent.
        "gif-pillow/dispose_bgnd.gif": [.frames],
        "gif-pillow/dispose_bgnd_rgba.gif": [.frames],
        // The manifest's frames have errors of the decoder that made them.
        "apng-pillow/dispose_op_previous.png": [.frames],
        "apng-pillow/dispose_op_previous_region.png": [.frames],
        "apng-pillow/mode_16bit.png": [.frames],
        "apng-pillow/mode_grayscale_alpha.png": [.frames],
        "apng-pillow/mode_palette_1bit_alpha.png": [.frames],
        "sdwebimage/TestImageAnimated.apng": [.frames],
        // A transparent gray of 4 bits is compared with the sample, not with what it is in 8 bits.
        "png-pngsuite/tbbn0g04.png": [.pixels],
        // Components of fewer or more than 8 bits are rounded exactly.
        "bmp-suite/rgb16.bmp": [.pixels],
        "bmp-suite/rgb16-565.bmp": [.pixels],
        "bmp-suite/rgb16-565pal.bmp": [.pixels],
        "bmp-suite/rgb32-111110.bmp": [.pixels],
        // Pixels that run lengths step over are transparent.
        "bmp-suite/pal4rletrns.bmp": [.pixels],
        "bmp-suite/pal8rletrns.bmp": [.pixels],
        // A gray profile cannot be kept by RGBA pixels, so they are always converted.
        "sdwebimage-coders/TestImageGrayscale.jpg": [.pixels],
    ]

    /// What the last frame is full of where the frames are not compared: what the suite's authors say, or what the frame
    /// controls of the file come to.
    static let lastFrames: [String: SIMD4<UInt8>] = [
        "apng-pillow/dispose_op_previous.png": [0, 255, 0, 255],
        "apng-pillow/dispose_op_previous_region.png": [0, 255, 0, 255],
        "apng-pillow/mode_16bit.png": [0, 0, 128, 255],
        "apng-pillow/mode_grayscale_alpha.png": [128, 128, 128, 255],
        "apng-pillow/mode_palette_1bit_alpha.png": [0, 0, 128, 255],
    ]
}

extension CorpusFile {
    func has(_ decision: Decision) -> Bool { Decision.table[path]?.contains(decision) ?? false }
}
