import FoundationEssentials
import TestSupport

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

/// A picture that a load can ask for: a source, and everything that changes its pixels.
struct ModelPicture: Hashable {
    enum Shape: Hashable, CaseIterable { case full, box, smallBox, stretched, limited }

    /// The number of the source. The last one is an animation.
    var source = 0
    var shape = Shape.full
    var isFast = false
    var firstFrameOnly = false
    var keepsColorSpace = false
    var isDoubleScale = false
    /// The marks of the transformers, in order.
    var transformers: [UInt8] = []
    var transformsFrames = false
    /// True for a stored variant of less than the usual quality, which has a key of its own.
    var isLowQuality = false

    static let sourceCount = 3
    static let sourceSize = PixelSize(width: 24, height: 12)

    var original: ModelPicture { ModelPicture(source: source) }
    var isOriginal: Bool { self == original }
    var isAnimated: Bool { source == ModelPicture.sourceCount - 1 && !firstFrameOnly }
    var isTransformed: Bool { !transformers.isEmpty && (!isAnimated || transformsFrames) }

    var size: PixelSize {
        switch shape {
        case .full: Self.sourceSize
        case .box, .limited: PixelSize(width: 12, height: 6)
        case .smallBox: PixelSize(width: 6, height: 3)
        case .stretched: PixelSize(width: 12, height: 12)
        }
    }

    /// The same picture without the transformers.
    var untransformed: ModelPicture {
        var plain = self
        (plain.transformers, plain.transformsFrames, plain.isLowQuality) = ([], false, false)
        return plain
    }

    /// True if this picture can be made of a stored one when the original is gone: both are thumbnails of one kind, and the other one is
    /// no smaller.
    func canBeMade(of other: ModelPicture) -> Bool {
        var (small, large) = (untransformed, other)
        let isNoSmaller = small.shape == large.shape || small.shape == .smallBox && large.shape == .box
        guard isNoSmaller, [.box, .smallBox, .stretched].contains(small.shape), !small.keepsColorSpace else {
            return false
        }
        // Neither the scale nor the other frames of an animation matter.
        (small.shape, small.isDoubleScale, large.isDoubleScale) = (large.shape, false, false)
        if !large.firstFrameOnly { small.firstFrameOnly = false }
        return small == large
    }

    /// The pixel that the picture has everywhere, by source, frame, version, transformers, and options.
    func pixel(version: Int, frame: Int = 0) -> SIMD4<UInt8> {
        let mark = isTransformed ? transformers.reduce(0) { $0 * 4 + $1 } : 0
        return SIMD4(
            UInt8(source * 16 + frame), UInt8(version), mark, (isFast ? 1 : 0) + (keepsColorSpace ? 2 : 0))
    }

    /// The differences of an image from this picture; empty if it is the one. The version is the image's own.
    func differences(from image: Image) -> [String] {
        var found: [String] = []
        func check(_ isRight: Bool, _ message: String) { if !isRight { found.append(message) } }
        check(image.size == size, "size \(image.size)")
        check(image.frames.count == (isAnimated ? 3 : 1), "\(image.frames.count) frames")
        let version = Int(image.pixels[0, 0].y)
        for (index, frame) in image.frames.enumerated() {
            for (x, y) in [(0, 0), (image.size.width - 1, image.size.height - 1)] {
                check(frame.pixels[x, y] == pixel(version: version, frame: index), "pixel \(frame.pixels[x, y])")
            }
        }
        let properties = image.properties
        check(properties.sourceSize == Self.sourceSize, "source size \(String(describing: properties.sourceSize))")
        check(image.isThumbnail == (shape != .full), "is thumbnail: \(image.isThumbnail)")
        check(image.isTransformed == isTransformed, "is transformed: \(image.isTransformed)")
        check(image.scale == (isDoubleScale ? 2 : 1), "scale \(image.scale)")
        check(image.loopCount == (isAnimated ? 3 : 0), "loop count \(image.loopCount)")
        check(image.format == .picture, "format \(String(describing: image.format))")
        check(image.metadata.exif == Data([UInt8(version)]), "metadata")
        check(!image.isPartial && !image.hasAlpha, "partial, or with alpha")
        return found
    }

    /// The bytes of the original.
    static func bytes(source: Int, version: Int) -> Data {
        let frames = source == sourceCount - 1 ? 3 : 1
        return Data("PICTURE \(source * 16) \(version) 0 0 \(sourceSize.width) \(sourceSize.height) \(frames)".utf8)
    }
}

extension ImageRequest {
    /// Asks for a picture.
    init(_ picture: ModelPicture) {
        self.init(URL(string: "test:\(picture.source)")!)
        switch picture.shape {
        case .full: break
        case .box: thumbnailSize = PixelSize(width: 12, height: 12)
        case .smallBox: thumbnailSize = PixelSize(width: 6, height: 6)
        case .stretched:
            thumbnailSize = PixelSize(width: 12, height: 12)
            decode.preservesAspectRatio = false
        case .limited: decode.maximumBytes = ByteCount(300)
        }
        if picture.isFast { decode.prefersFastThumbnail = true }
        decode.firstFrameOnly = picture.firstFrameOnly
        decode.keepsColorSpace = picture.keepsColorSpace
        decode.scale = picture.isDoubleScale ? 2 : nil
        if !picture.transformers.isEmpty { transformer = ImageTransformers(picture.transformers.map(Mark.init)) }
        transformsAnimatedImages = picture.transformsFrames
        if picture.isLowQuality { cache.encoding.quality = 0.5 }
    }
}

extension ImageFormat {
    static let picture = ImageFormat(rawValue: "picture")
}

/// A transformer that leaves a mark behind those of earlier ones.
struct Mark: ImageTransformer {
    let number: UInt8
    var key: String { "mark\(number)" }

    func transform(_ image: Image) throws -> Image {
        var pixel = image.pixels[0, 0]
        pixel.z = pixel.z * 4 + number
        return Image(pixels: try PictureCoder.pixels(pixel, image.size), properties: image.properties)
    }
}

/// Decodes the bytes of pictures as the options say, and encodes images so that decoding them gives the same pixels.
struct PictureCoder: ImageCoder {
    var decodableFormats: Set<ImageFormat> { [.picture] }
    var encodableFormats: Set<ImageFormat> { [.picture] }

    static func pixels(_ pixel: SIMD4<UInt8>, _ size: PixelSize) throws(ImageError) -> PixelBuffer {
        var buffer = try MutablePixelBuffer(size: size)
        buffer.withUnsafeMutableBytes { bytes in
            bytes.bindMemory(to: SIMD4<UInt8>.self).update(repeating: pixel)
        }
        return buffer.freeze()
    }

    func canDecode(_ data: Data, format: ImageFormat?) -> Bool { data.starts(with: Data("PICTURE".utf8)) }

    private func numbers(_ data: Data) throws(ImageError) -> [Int] {
        let numbers = String(decoding: data, as: UTF8.self).split(separator: " ").dropFirst().compactMap { Int($0) }
        guard numbers.count == 7 else {
            throw ImageError(.corruptImage, stage: .decode, reason: "not a picture: \(data.count) bytes")
        }
        return numbers
    }

    func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        let numbers = try numbers(data)
        return ImageInfo(
            format: .picture, size: PixelSize(width: numbers[4], height: numbers[5]), frameCount: numbers[6],
            loopCount: numbers[6] > 1 ? 3 : nil, hasAlpha: false)
    }

    func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        let numbers = try numbers(data)
        let frameCount = options.firstFrameOnly ? 1 : numbers[6]
        let source = PixelSize(width: numbers[4], height: numbers[5])
        let size = options.outputSize(for: source, frameCount: frameCount)
        var pixel = SIMD4(numbers[..<4].map { UInt8($0) })
        if options.prefersFastThumbnail { pixel.w |= 1 }
        if options.keepsColorSpace { pixel.w |= 2 }
        var frames: [ImageFrame] = []
        for index in 0..<frameCount {
            var pixel = pixel
            pixel.x += UInt8(index)
            frames.append(ImageFrame(pixels: try Self.pixels(pixel, size), duration: .milliseconds(50)))
        }
        var properties = Image.Properties()
        properties.format = .picture
        properties.hasAlpha = false
        properties.loopCount = frameCount > 1 ? 3 : 0
        properties.sourceSize = source
        properties.scale = options.scale ?? 1
        properties.metadata = ImageMetadata(exif: Data([pixel.y]))
        properties.decodeOptions = options
        guard let image = Image(frames: frames, properties: properties) else {
            throw ImageError(.corruptImage, stage: .decode, reason: "no frames")
        }
        return image
    }

    func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: ProcessingContext
    ) throws(ImageError) -> Data {
        let pixel = image.pixels[0, 0]
        let numbers = (0..<4).map { String(pixel[$0]) }.joined(separator: " ")
        return Data("PICTURE \(numbers) \(image.size.width) \(image.size.height) \(image.frames.count)".utf8)
    }
}
