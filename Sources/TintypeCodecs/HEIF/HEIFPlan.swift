#if HEIF
internal import FoundationEssentials
internal import TintypeImages

/// The way to the pixels of an image of a HEIF file: the decoded pictures, and where they go. All sizes have been checked.
struct HEIFPlan {
    indirect enum Content {
        /// A single coded picture.
        case coded(HEIFCodedItem)
        /// Pictures of the same size and layout, in rows that cover the image (ISO/IEC 23008-12, section 6.6.2.3).
        case grid(Grid)
        /// Images that lie on a canvas, the first at the bottom (section 6.6.2.2), or a grid of images of several kinds.
        case layers([Layer], background: SIMD4<UInt16>)
    }

    struct Grid {
        var columns: Int
        var rows: Int
        var tiles: [HEIFCodedItem]

        var tile: PixelSize { tiles.first?.size ?? PixelSize(width: 0, height: 0) }
    }

    struct Layer {
        var image: ItemImage
        var x: Int
        var y: Int
    }

    let item: Int
    let content: Content
    /// The size before ``view`` is applied.
    let size: PixelSize
    var view: HEIFView
    var color: StatedColor
    let bits: Int
    let isGray: Bool

    /// True if the colors are PQ or HLG, as far as the boxes of the file state them.
    var isHighDynamicRange: Bool { color.profile == nil && color.coding?.codePoints.isHighDynamicRange == true }

    /// True for a picture of AV1, or a grid of them.
    var isAV1: Bool {
        switch content {
        case .coded(let image): image.isAV1
        case .grid(let grid): grid.tiles.allSatisfy(\.isAV1)
        case .layers: false
        }
    }

    var isComposed: Bool { if case .layers = content { true } else { false } }

    /// The most of the memory that decoding takes at once, as the size of a picture of four bytes per pixel.
    var workingSize: PixelSize {
        switch content {
        case .coded(let image): image.codedSize
        case .grid(let grid):
            // The part of a row of tiles that is shown, and the whole tiles of the decoders.
            PixelSize(
                width: size.width,
                height: min(size.height, grid.tile.height) + 2
                    + (grid.tile.pixelCount * min(grid.columns, DividedWork.maximumThreads) + size.width - 1)
                    / size.width)
        case .layers(let layers, _):
            // The canvas, and the largest of the images with its coded pictures.
            PixelSize(
                width: size.width,
                height: size.height
                    + layers.map { ($0.image.plan.size.pixelCount + $0.image.workingSize.pixelCount) / size.width }
                    .reduce(
                        0, max))
        }
    }
}

extension ItemImage {
    /// The pixels of all coded pictures of the image and of its transparency.
    var decodedPixels: Int { plan.decodedPixels + (alpha?.decodedPixels ?? 0) }
}

extension HEIFPlan {
    var largestPicture: PixelSize {
        switch content {
        case .coded(let image): image.codedSize
        case .grid, .layers: size
        }
    }

    /// The pixels as shown or as coded, whichever are more: the margin of a thin picture is most of it.
    var mostPixels: Int { max(size.pixelCount, decodedPixels) }

    /// The pixels of all coded pictures.
    var decodedPixels: Int {
        switch content {
        case .coded(let image): image.codedSize.pixelCount
        case .grid(let grid): grid.tiles.count * grid.tile.pixelCount
        case .layers(let layers, _): layers.reduce(size.pixelCount) { $0 + $1.image.decodedPixels }
        }
    }
}

// MARK: Checks

extension HEIFPlan {
    /// Refuses pictures that are much larger than the part that is shown, which no honest file has.
    static func checkProportions(decoded: PixelSize, shown: PixelSize) throws(ImageError) {
        let most = max(shown.width, shown.height) * 2 + 4_096
        guard max(decoded.width, decoded.height) <= most else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason:
                    "the HEIF file shows only \(shown) of \(decoded) decoded pixels; the longer side may be at most \(most)"
            )
        }
    }

    /// Refuses canvases within each other that take much memory: each is kept while the images on it are drawn.
    func checkWorkingMemory(_ limits: DecodeLimits) throws(ImageError) {
        let (pixels, limit) = (workingSize.pixelCount, limits.maximumBytes.bytes / 2 + Self.freePixels)
        guard pixels <= limit else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason:
                    "drawing the images of the HEIF file onto each other takes \(Self.memory(pixels)), over the limit "
                    + "of \(Self.memory(limit))")
        }
    }

    /// The memory of pixels of four bytes.
    private static func memory(_ pixels: Int) -> ByteCount { ByteCount(min(pixels, .max / 4) * 4) }

    /// Pixels that are decoded for any canvas, however small: a large photograph.
    static let freePixels = 64 << 20
}

/// A coded picture, as its item and the header of its bitstream describe it.
struct HEIFCodedItem {
    enum Coding {
        case hevc(HEVCConfiguration, HEVCPictureParameters)
        case av1
    }

    let item: Int
    let coding: Coding
    let size: PixelSize
    let bits: Int
    let layout: PlanarPicture.Chroma

    var isAV1: Bool { if case .av1 = coding { true } else { false } }

    /// The size that the decoder takes memory for.
    var codedSize: PixelSize {
        switch coding {
        case .hevc(_, let pictures): pictures.codedSize
        case .av1: size
        }
    }

    /// True if the planes of both fit together.
    func matches(_ other: HEIFCodedItem) -> Bool {
        size == other.size && bits == other.bits && layout == other.layout
    }
}
#endif
