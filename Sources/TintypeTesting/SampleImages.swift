public import FoundationEssentials
public import TintypeLoading

/// An image file that was drawn for a demo or a test.
public struct SampleImage: Sendable {
    /// The file name, with the extension of the format.
    public var name: String
    /// The encoded image.
    public var data: Data
    /// The format of the data.
    public var format: ImageFormat
    /// The size of the upright image.
    public var size: PixelSize
    /// The number of frames.
    public var frameCount = 1
}

/// Sample images in every format that can be read without package traits. They are drawn, so that no files have to be
/// shipped.
///
/// ```swift
/// let png = try SampleImages.draw(.colorWheel, scale: 0.1).data
/// ```
public enum SampleImages {
    /// The samples, named by file.
    public enum Kind: String, Sendable, CaseIterable {
        /// A JPEG of twelve megapixels.
        case mountains = "mountains-12-megapixels.jpg"
        /// A progressive JPEG.
        case sea = "sea-progressive.jpg"
        /// An opaque PNG.
        case spheres = "spheres.png"
        /// A WebP with loss.
        case aurora = "aurora.webp"
        /// A JPEG in portrait format.
        case dunes = "dunes-portrait.jpg"
        /// A lossless WebP.
        case julia = "julia-lossless.webp"
        /// A wide JPEG.
        case panorama = "sea-panorama.jpg"
        /// A tall WebP.
        case tall = "aurora-tall.webp"
        /// A GIF of a scene, with 256 colors.
        case spheresGIF = "spheres-256-colors.gif"
        /// A JPEG that is stored upside down, with the Exif orientation 3.
        case orientationDown = "orientation-3.jpg"
        /// A JPEG with the Exif orientation 6. Upright, it shows the same picture as the others.
        case orientationRight = "orientation-6.jpg"
        /// A JPEG with the Exif orientation 8. Upright, it shows the same picture as the others.
        case orientationLeft = "orientation-8.jpg"
        /// A JPEG with the Exif orientation 7. Upright, it shows the same picture as the others.
        case orientationRightMirrored = "orientation-7.jpg"
        /// A PNG with transparency.
        case colorWheel = "color-wheel-alpha.png"
        /// A WebP with transparency.
        case flower = "flower-alpha.webp"
        /// An interlaced PNG with transparency.
        case interlacedFlower = "flower-interlaced.png"
        /// A GIF with few colors.
        case bars = "bars.gif"
        /// A BMP.
        case barsBMP = "bars.bmp"
        /// An icon with two sizes.
        case icon = "icon.ico"
        /// An animated GIF of 12 frames.
        case pinwheel = "pinwheel.gif"
        /// An animated WebP of 16 frames.
        case ripple = "ripple.webp"
        /// An animated PNG of 10 frames.
        case spinner = "spinner.png"
        /// A gray PNG.
        case gray = "dunes-gray.png"
        /// A PNG with a palette of 16 colors.
        case palette = "mosaic-palette.png"
        /// A PNG with 16 bits per component.
        case sixteenBits = "gradient-16-bit.png"
    }

    /// Draws all samples.
    /// - Parameter scale: the factor of the sizes, from 0 to 10. Tests draw small images.
    /// - Returns: the samples in the order of ``Kind``.
    /// - Throws: the errors of the encoders, and `encodeFailed` for another factor.
    public static func all(scale: Double = 1) throws(ImageError) -> [SampleImage] {
        var samples: [SampleImage] = []
        for kind in Kind.allCases { samples.append(try draw(kind, scale: scale)) }
        return samples
    }

    /// Draws a sample.
    /// - Parameters:
    ///   - kind: the sample.
    ///   - scale: the factor of its size, from 0 to 10. No side is shorter than 16 pixels.
    /// - Returns: the encoded image.
    /// - Throws: the errors of the encoder, and `encodeFailed` for another factor.
    public static func draw(_ kind: Kind, scale: Double = 1) throws(ImageError) -> SampleImage {
        let name = kind.rawValue
        guard (0...10).contains(scale) else {
            throw ImageError(
                .encodeFailed, stage: .encode, source: name, reason: "the scale \(scale) isn't from 0 to 10")
        }
        let draw = SamplePainter(scale: scale)
        return switch kind {
        case .mountains: try draw.scene(.mountains, 4000, 3000, name, .jpeg, enlarging: 2)
        case .sea: try draw.scene(.sea, 1600, 1000, name, .jpeg) { $0.progressive = true }
        case .spheres: try draw.scene(.spheres, 1200, 900, name, .png)
        case .aurora: try draw.scene(.aurora, 1600, 900, name, .webp)
        case .dunes: try draw.scene(.dunes, 900, 1200, name, .jpeg)
        case .julia: try draw.scene(.julia, 1000, 1000, name, .webp) { $0.lossless = true }
        case .panorama: try draw.scene(.sea, 2400, 500, name, .jpeg)
        case .tall: try draw.scene(.aurora, 320, 1200, name, .webp)
        case .spheresGIF: try draw.scene(.spheres, 640, 480, name, .gif)
        case .orientationDown: try draw.oriented(.down, name)
        case .orientationRight: try draw.oriented(.right, name)
        case .orientationLeft: try draw.oriented(.left, name)
        case .orientationRightMirrored: try draw.oriented(.rightMirrored, name)
        case .colorWheel: try draw.still(800, 800, name, .png, draw: SampleShapes.colorWheel)
        case .flower: try draw.still(700, 700, name, .webp, draw: SampleShapes.flower)
        case .interlacedFlower:
            try draw.still(640, 640, name, .png, draw: SampleShapes.flower) { $0.progressive = true }
        case .bars: try draw.still(640, 480, name, .gif, draw: SampleShapes.bars)
        case .barsBMP: try draw.still(480, 360, name, .bmp, isOpaque: true, draw: SampleShapes.bars)
        case .icon: try draw.icon(name)
        case .pinwheel:
            try draw.animation(320, frames: 12, name, .gif, isOpaque: true) { size, time throws(ImageError) in
                try SampleShapes.pinwheel(size, at: time / 4)
            }
        case .ripple:
            try draw.animation(320, frames: 16, name, .webp) { size, time throws(ImageError) in
                try SampleShapes.ripple(size, at: time)
            }
        case .spinner:
            try draw.animation(256, frames: 10, name, .png) { size, time throws(ImageError) in
                try SampleShapes.spinner(size, at: time)
            }
        case .gray: try draw.gray(name)
        case .palette: try draw.palette(name)
        case .sixteenBits: draw.sixteenBits(name)
        }
    }
}
