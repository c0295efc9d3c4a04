public import FoundationEssentials
internal import Tintype
public import TintypeCore

/// An image file that was drawn for a demo or a test.
public struct SampleImage: Sendable {
    /// A name with the ending of the format.
    public var name: String
    public var data: Data
    public var format: ImageFormat
    /// The upright size.
    public var size: PixelSize
    public var frameCount = 1
}

/// Draws sample images in every format that can be read without package traits, so that no files have to be shipped: landscapes,
/// transparency, animations, tagged orientations, palettes, sixteen bits, and one of twelve megapixels.
public enum SampleImages {
    /// All samples.
    /// - Parameter scale: what the sizes are multiplied by; tests draw small pictures.
    /// - Throws: what the encoders throw.
    public static func all(scale: Double = 1) throws(ImageError) -> [SampleImage] {
        let draw = SamplePainter(scale: scale)
        var samples = try photographs(draw)
        samples += try orientations(draw)
        samples += try shapes(draw)
        samples += try animations(draw)
        samples += try rarities(draw)
        return samples
    }

    private static func photographs(_ draw: SamplePainter) throws(ImageError) -> [SampleImage] {
        [
            try draw.scene(.mountains, 4000, 3000, "mountains-12-megapixels.jpg", .jpeg, enlarging: 2),
            try draw.scene(.sea, 1600, 1000, "sea-progressive.jpg", .jpeg) { $0.progressive = true },
            try draw.scene(.spheres, 1200, 900, "spheres.png", .png),
            try draw.scene(.aurora, 1600, 900, "aurora.webp", .webp),
            try draw.scene(.dunes, 900, 1200, "dunes-portrait.jpg", .jpeg),
            try draw.scene(.julia, 1000, 1000, "julia-lossless.webp", .webp) { $0.lossless = true },
            try draw.scene(.sea, 2400, 500, "sea-panorama.jpg", .jpeg),
            try draw.scene(.aurora, 320, 1200, "aurora-tall.webp", .webp),
            try draw.scene(.spheres, 640, 480, "spheres-256-colors.gif", .gif),
        ]
    }

    /// A JPEG for orientations that turn, turn over and mirror: all are to look alike.
    private static func orientations(_ draw: SamplePainter) throws(ImageError) -> [SampleImage] {
        var samples: [SampleImage] = []
        for orientation in [Orientation.down, .right, .left, .rightMirrored] {
            samples.append(try draw.oriented(orientation, "orientation-\(orientation.rawValue).jpg"))
        }
        return samples
    }

    private static func shapes(_ draw: SamplePainter) throws(ImageError) -> [SampleImage] {
        [
            try draw.still(800, 800, "color-wheel-alpha.png", .png, draw: SampleShapes.colorWheel),
            try draw.still(700, 700, "flower-alpha.webp", .webp, draw: SampleShapes.flower),
            try draw.still(640, 640, "flower-interlaced.png", .png, draw: SampleShapes.flower) {
                $0.progressive = true
            },
            try draw.still(640, 480, "bars.gif", .gif, draw: SampleShapes.bars),
            try draw.still(480, 360, "bars.bmp", .bmp, isOpaque: true, draw: SampleShapes.bars),
            try draw.icon("icon.ico"),
        ]
    }

    private static func animations(_ draw: SamplePainter) throws(ImageError) -> [SampleImage] {
        [
            try draw.animation(320, frames: 12, "pinwheel.gif", .gif, isOpaque: true) { size, time throws(ImageError) in
                try SampleShapes.pinwheel(size, at: time / 4)
            },
            try draw.animation(320, frames: 16, "ripple.webp", .webp) { size, time throws(ImageError) in
                try SampleShapes.ripple(size, at: time)
            },
            try draw.animation(256, frames: 10, "spinner.png", .png) { size, time throws(ImageError) in
                try SampleShapes.spinner(size, at: time)
            },
        ]
    }

    /// Kinds of PNG that few programs write.
    private static func rarities(_ draw: SamplePainter) throws(ImageError) -> [SampleImage] {
        [
            try draw.gray("dunes-gray.png"), try draw.palette("mosaic-palette.png"),
            draw.sixteenBits("gradient-16-bit.png"),
        ]
    }
}
