import Tintype

/// Where decoders disagree and Tintype has decided: what is not compared for which file. Why stands in
/// `Documentation/development/conformance.md`.
enum Decision: Sendable {
    /// Another size than the manifest's, and so other pixels and frames.
    case size
    /// Other pixels of the first frame than the digest's. A reference picture is compared all the same.
    case pixels
    /// Other pixels of further frames.
    case frames
    /// Another answer to whether pixels are transparent.
    case alpha
    /// Another orientation.
    case orientation
    /// Another number of frames.
    case frameCount
    /// Another noise over the same picture, which is compared reduced.
    case noise
    /// Other chroma between its samples; the picture is compared at half of its size.
    case chroma
    /// Another error.
    case error

    static let table: [String: Set<Decision>] = [
        // The logical screen with the first frame is the size, and what later frames have beyond it is cut off.
        "gif-wuffs/frame-out-of-bounds.gif": [.size],
        // A second GIF behind the first is not part of it.
        "gif-pillow/test_extents_transparency.gif": [.size],
        // What no frame covers is transparent.
        "gif-wuffs/background-color.gif": [.pixels, .frames, .alpha],
        "gif-wuffs/metadata-empty.gif": [.pixels, .alpha],
        "gif-wuffs/metadata-full.gif": [.pixels, .alpha],
        "gif-wuffs/multiple-loop-counts.gif": [.pixels, .frames, .alpha],
        "gif-wuffs/small-frame-interlaced.gif": [.pixels, .alpha],
        // What is disposed of to the background is transparent.
        "gif-pillow/dispose_bgnd.gif": [.frames, .alpha],
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
        "bmp-suite/pal4rletrns.bmp": [.pixels, .alpha],
        "bmp-suite/pal8rletrns.bmp": [.pixels, .alpha],
        // A gray profile cannot be kept by RGBA pixels, so they are always converted.
        "sdwebimage-coders/TestImageGrayscale.jpg": [.pixels],
        "jxl-conformance/grayscale_jpeg.jxl": [.pixels],
        // What metadata says of the orientation does not count in AVIF.
        "avif-pillow/xmp_tags_orientation.avif": [.orientation],
        // The reference is of what a clean aperture cuts off, too, and is made smaller.
        "avif-microsoft/Chimera_10bit_cropped_to_1920x1008.avif": [.pixels],
        // Studio range is expanded; the reference's is not.
        "avif-microsoft/Monochrome.avif": [.pixels],
        // Two images beside each other, which are no sequence.
        "heic-libheif/example.heic": [.frameCount],
        // Chroma is interpolated; the references repeat it.
        "heic-pillow-heif/RGB_8__29x100.heif": [.chroma],
        "heic-pillow-heif/RGB_10__29x100.heif": [.chroma],
        "heic-pillow-heif/RGB_12__29x100.heif": [.chroma],
        // Linear light becomes sRGB, whatever is to be kept: 8 bits of it would have no dark tones.
        "jxl-conformance/progressive.jxl": [.pixels],
        // Synthetic noise is another with each version of libjxl.
        "jxl-conformance/noise.jxl": [.noise],
        // Pages of a document are no frames.
        "tiff-pillow/compression.tif": [.frameCount],
        "tiff-pillow/multipage-mmap.tiff": [.frameCount],
        "tiff-pillow/multipage.tiff": [.frameCount],
        "tiff-pillow/multipage_multiple_frame_loop.tiff": [.frameCount],
        "tiff-pillow/multipage_out_of_order.tiff": [.frameCount],
        "tiff-pillow/total-pages-zero.tif": [.frameCount],
        "tiff-pillow/g4-multi.tiff": [.frameCount],
        // 12 and 16 bits are rounded; the digests are below.
        "tiff-pillow/12bit.cropped.tif": [],
        "tiff-pillow/tiff_16bit_RGB.tiff": [],
        "tiff-pillow/tiff_strip_planar_16bit_RGB.tiff": [],
        "tiff-pillow/tiff_tiled_planar_16bit_RGB.tiff": [],
        // L*a*b* is converted in floating point; the manifest's decoder has tables of 8 bits. The digest is below.
        "tiff-pillow/lab.tif": [],
        // The directory is cut off behind what the header claims too much of.
        "hostile-bombs/oom-225817ca0f8c663be7ab4b9e717b02c661e66834.tif": [.error],
    ]

    /// Digests in the place of the manifest's, of the rounded samples, computed apart from Tintype.
    static let digests: [String: String] = [
        "tiff-pillow/lab.tif": "f086fd71f568e2126a50dacb2de2037a",
        "tiff-pillow/12bit.cropped.tif": "28e1662965c8aadecccb142deec9a112",
        "tiff-pillow/tiff_16bit_RGB.tiff": "27bcf83e92ab478e1e4a3408ccfc7e50",
        "tiff-pillow/tiff_strip_planar_16bit_RGB.tiff": "27bcf83e92ab478e1e4a3408ccfc7e50",
        "tiff-pillow/tiff_tiled_planar_16bit_RGB.tiff": "27bcf83e92ab478e1e4a3408ccfc7e50",
    ]

    /// What a clean aperture leaves of a picture, computed from the file's box `clap` apart from Tintype; the manifest and its
    /// references have the whole of it.
    static let crops: [String: Crop] = [
        "avif-libavif-android/blue-and-magenta-crop.avif": Crop(x: 40, y: 80, width: 180, height: 100),
        "avif-microsoft/Chimera_10bit_cropped_to_1920x1008.avif": Crop(x: 0, y: 36, width: 1920, height: 1008),
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

/// A part of a picture.
struct Crop: Sendable {
    var x: Int, y: Int, width: Int, height: Int

    var size: PixelSize { PixelSize(width: width, height: height) }

    func callAsFunction(_ pixels: PixelBuffer) throws -> PixelBuffer {
        let part = try MutablePixelBuffer(size: size)
        for line in 0..<height {
            pixels.withRow(y + line) { row in
                guard let base = row.baseAddress else { return }
                part.row(line).copyMemory(from: base + x * 4, byteCount: width * 4)
            }
        }
        return part.freeze()
    }
}

extension CorpusFile {
    /// What of the picture is shown, if not the whole.
    var crop: Crop? { Decision.crops[path] }

    func has(_ decision: Decision) -> Bool { Decision.table[path]?.contains(decision) ?? false }
}
