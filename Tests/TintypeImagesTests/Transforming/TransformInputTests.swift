import FoundationEssentials
import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeImages

@Suite("Transformers: parameters and keys", .timeLimited)
struct TransformInputTests {
    private static let hostile: [any ImageTransformer] = {
        let nan = Double.nan
        let infinity = Double.infinity
        let bad = PixelColor(red: .nan, green: 0, blue: 0)
        return [
            .resize(), .resize(width: 0), .resize(width: -4, height: 4), .resize(width: .max, height: 4, mode: .fill),
            .resize(width: .min),
            .resize(width: 4, height: 4, mode: .aspectFill, position: .anchor(ImageAnchor(x: nan, y: 0))),
            .crop(PixelRect(x: 0, y: 0, width: 0, height: 4)),
            .crop(PixelRect(x: .max, y: 0, width: .max, height: .max)),
            .crop(PixelRect(x: .min, y: .min, width: 5, height: 5)), .crop(PixelRect(x: 17, y: 0, width: 5, height: 5)),
            .crop(width: 0, height: 1), .crop(width: 1, height: .min), .crop(aspectRatio: nan), .crop(aspectRatio: 0),
            .crop(aspectRatio: -infinity), .crop(width: 2, height: 2, position: .focus(ImageAnchor(x: infinity, y: 0))),
            .rotate(degrees: nan), .rotate(degrees: infinity), .rotate(degrees: 3, background: bad),
            .pad(top: -1, left: -1, bottom: -1, right: -1), .pad(left: .max, right: .max), .pad(top: .min),
            .pad(toWidth: 0, height: 3), .pad(top: 2, left: 2, bottom: 2, right: 2, color: bad),
            .pad(toWidth: .max, height: .max), .trim(tolerance: -1), .trim(tolerance: nan),
            .rounded(radius: nan), .rounded(radius: -1), .rounded(radius: infinity),
            .rounded(radius: 1, borderWidth: nan), .rounded(radius: 1, borderWidth: -2),
            .rounded(radius: 1, borderWidth: 1, borderColor: bad), .circle(borderWidth: infinity),
            .blur(radius: nan), .blur(radius: infinity), .blur(radius: -1), .sharpen(amount: nan),
            .sharpen(amount: -1), .sharpen(radius: 1e9), .sharpen(threshold: 2), .brightness(nan),
            .contrast(infinity), .saturation(1e300), .hueRotation(degrees: infinity), .colorMatrix([1, 2, 3]),
            .tint(bad),
            .tint(PixelColor.white.withAlpha(2)), .background(bad), .background(PixelColor.white.withAlpha(-1)),
        ]
    }()

    @Test("What makes no difference is no error, and what is an error has a key of its own", .capability("TRF-14"))
    func harmlessParameters() throws {
        let image = try Image.sample(17, 13)
        let bad = ImageAnchor(x: .nan, y: 0)
        let pairs: [(any ImageTransformer, any ImageTransformer)] = [
            (.rounded(radius: -4), .rounded(radius: 0)), (.rounded(radius: .nan), .rounded(radius: 0)),
            (.rounded(radius: .nan, corners: []), .rounded(radius: 0)),
            (.rounded(radius: 5, borderWidth: -1, borderColor: .clear), .rounded(radius: 5)),
            (.sharpen(amount: 0, radius: 5_000), .sharpen(amount: 0)),
            (.sharpen(radius: 0, threshold: .nan), .sharpen(amount: 0)),
            (.resize(width: 9, height: 9, position: .focus(bad)), .resize(width: 9, height: 9)),
            (.resize(width: 9, mode: .aspectFill, position: .focus(bad)), .resize(width: 9)),
            (.rotate(degrees: 90, background: PixelColor.white.withAlpha(2)), .rotate(degrees: 90)),
            (.tint(PixelColor(red: .nan, green: 0, blue: 0, alpha: 0)), .tint(.clear)),
        ]
        func outcome(_ transformer: any ImageTransformer) -> PixelBuffer? { try? transformer.transform(image).pixels }
        for (one, other) in pairs {
            #expect(one.key != other.key || outcome(one) == outcome(other), "\(one.key)")
            #expect(one.key == other.key || outcome(one) == nil, "\(one.key)")
        }
        for transformer in [.blur(radius: .leastNormalMagnitude), .sharpen(radius: 1e-200)] as [any ImageTransformer] {
            #expect(outcome(transformer) == image.pixels, "\(transformer.key)")
        }
    }

    @Test("Impossible parameters are errors that name them, without a crash", .capability("TRF-14"))
    func hostileParameters() throws {
        let image = try Image.sample(17, 13)
        for transformer in Self.hostile {
            do {
                _ = try image.transformed(transformer)
                Issue.record("\(transformer.key) has to fail")
            } catch {
                #expect(error.code == .transformFailed && error.stage == .transform, "\(transformer.key): \(error)")
                #expect(error.reason.contains(" of "), "\(error)")
            }
        }
    }

    @Test("Results beyond the limits are errors before memory is taken")
    func limits() throws {
        let image = try Image.sample(3, 2)
        let pool = PixelBufferPool(limit: .megabytes(1))
        let context = ProcessingContext(limits: DecodeLimits(maximumPixels: 10_000), pool: pool)
        let transformers: [any ImageTransformer] = [
            .resize(width: 200, height: 100, mode: .fill), .resize(width: 4_000_000),
            .resize(width: 101, height: 101, mode: .letterbox),
            .resize(width: 4_000_000, height: 4_000_000, mode: .aspectFill),
            .pad(top: 100, left: 100, bottom: 100, right: 100),
            .pad(top: 4_000_000, left: 4_000_000, bottom: 4_000_000, right: 4_000_000),
            .pad(toWidth: 4_000_000, height: 4_000_000),
            .resize(width: 150, height: 150, mode: .aspectFill, inLinearLight: true),
            .resize(width: 100, height: 80, mode: .fill).rotate(degrees: 45),
        ]
        for transformer in transformers {
            do throws(any Error) {
                _ = try ProcessingContext.$current.withValue(context) { try image.transformed(transformer) }
                Issue.record("\(transformer.key) has to fail")
            } catch {
                #expect((error as? ImageError)?.code == .limitExceeded, "\(transformer.key): \(error)")
            }
        }
        #expect(pool.statistics.peakBytes < 200_000)
    }

    @Test("A transform ends soon after its result is no longer needed")
    func cancellation() throws {
        let image = try Image.sample(64, 300)
        let transformers: [any ImageTransformer] = [
            .resize(width: 50), .resize(width: 50, inLinearLight: true), .blur(radius: 1), .blur(radius: 9),
            .rotate(degrees: 3),
            .sepia(), .rounded(radius: 4), .tint(.white), .sharpen(), .trim(), .background(.white),
        ]
        for transformer in transformers {
            let checks = Lock(0)
            let context = ProcessingContext(isCancelled: {
                checks.withLock { count in
                    count += 1
                    return count > 2
                }
            })
            do throws(any Error) {
                _ = try ProcessingContext.$current.withValue(context) { try image.transformed(transformer) }
                Issue.record("\(transformer.key) has to end")
            } catch {
                #expect((error as? ImageError)?.code == .cancelled, "\(transformer.key): \(error)")
            }
        }
    }

    @Test("Equal work has equal keys, with one spelling of each number", .capability("TRF-14"))
    func equalKeys() {
        let pairs: [(any ImageTransformer, any ImageTransformer)] = [
            (.rotate(degrees: -0.0), .rotate(degrees: 360)), (.rotate(degrees: 370), .rotate(degrees: 10)),
            (.rotate(degrees: -90), .rotate(degrees: 270, background: .white)),
            (.rotate(degrees: 180, expands: false), .rotate(degrees: 180)),
            (.blur(radius: 1e9), .blur(radius: 2_000)), (.blur(radius: -0.0), .blur(radius: 0, inLinearLight: true)),
            (.pad(top: 3, left: 3, bottom: 3, right: 3), .pad(top: 3, left: 3, bottom: 3, right: 3)),
            (.rounded(radius: 4, borderColor: .white), .rounded(radius: 4)),
            (.rounded(radius: 4, corners: []), .rounded(radius: 0)),
            (.resize(width: 4, mode: .aspectFill), .resize(width: 4)),
            (.resize(width: 4, height: 4, position: .smart), .resize(width: 4, height: 4)),
            (.tint(.clear, mode: .xor), .tint(.clear)), (.grayscale(), .saturation(0)),
            (.crop(width: 3, height: 3, position: .anchor(ImageAnchor(x: 0.5, y: 0.5))), .crop(width: 3, height: 3)),
        ]
        for (one, other) in pairs { #expect(one.key == other.key) }
        let tenth: any ImageTransformer = .blur(radius: 0.1 + 0.2)
        #expect(tenth.key == "blur(radius=0.30000000000000004)")
        let sized: any ImageTransformer = .resize(width: 400, height: 300, mode: .aspectFill).rounded(radius: 12.0)
        #expect(sized.key == "resize(width=400,height=300,mode=aspectFill)|rounded(radius=12)")
        let tinted: any ImageTransformer = .tint(PixelColor(red: -0.0, green: 0.25, blue: 1, alpha: 0.5), mode: .screen)
        #expect(tinted.key == "tint(color=0:0.25:1:0.5,mode=screen)")
    }

    @Test("Different work has different keys", .capability("TRF-14"))
    func differentKeys() throws {
        let mark = try Image.sample(3, 3)
        let other = try Image.sample(3, 3, seed: 2)
        var transformers: [any ImageTransformer] = [
            .resize(width: 4), .resize(height: 4), .resize(width: 4, height: 4), .resize(width: 4, inLinearLight: true),
            .resize(width: 4, upscales: false), .resize(width: 44), .crop(width: 4, height: 4),
            .crop(width: 44, height: 4),
            .crop(PixelRect(x: 0, y: 0, width: 4, height: 4)), .crop(aspectRatio: 1), .crop(aspectRatio: 1 + 1e-9),
            .crop(aspectRatio: 1, position: .smart), .crop(aspectRatio: 1, position: .focus(.top)),
            .crop(aspectRatio: 1, position: .anchor(.top)), .flip(horizontally: true), .flip(vertically: true),
            .flip(horizontally: true, vertically: true), .rotate(degrees: 30), .rotate(degrees: 30, expands: false),
            .rotate(degrees: 30, background: .white), .rotate(degrees: -30), .pad(top: 3, left: 3, bottom: 3, right: 3),
            .pad(top: 3, left: 3, bottom: 3, right: 3, color: .black),
            .pad(top: 3), .pad(left: 3), .pad(bottom: 3), .pad(right: 3), .pad(toWidth: 3, height: 3),
            .pad(toWidth: 3, height: 3, anchor: .top), .trim(), .trim(tolerance: 0), .rounded(radius: 4),
            .rounded(radius: 4, corners: [.topLeft, .topRight]), .rounded(radius: 4, borderWidth: 1),
            .rounded(radius: 4, borderWidth: 1, borderColor: .white), .circle(), .circle(borderWidth: 1),
            .blur(radius: 4), .blur(radius: 4.0001), .blur(radius: 4, inLinearLight: true), .sharpen(),
            .sharpen(amount: 1), .sharpen(radius: 2), .sharpen(threshold: 0.1), .grayscale(), .grayscale(0.5), .sepia(),
            .invert(),
            .brightness(2), .contrast(2), .saturation(2), .hueRotation(degrees: 2), .background(.white),
            .background(.black), .background(PixelColor.black.withAlpha(1e-7)), .overlay(mark), .overlay(other),
            .overlay(mark, anchor: .top), .overlay(mark, offsetX: 1), .overlay(mark, offsetY: 1),
            .overlay(mark, width: 9), .overlay(mark, opacity: 0.5), .overlay(mark, mode: .multiply),
        ]
        for mode in ResizeMode.allCases where mode != .aspectFit {
            transformers.append(.resize(width: 4, height: 4, mode: mode))
        }
        for mode in BlendMode.allCases { transformers.append(.tint(.white, mode: mode)) }
        let keys = transformers.map(\.key)
        let repeated = Dictionary(grouping: keys) { $0 }.filter { $0.value.count > 1 }.keys
        #expect(repeated.isEmpty)
        #expect(!keys.contains(""))
        // The key of an overlay comes from its pixels, whatever memory they are in.
        let copy = try Image.sample(3, 3)
        #expect(ImageTransformers([ImageTransformers.overlay(mark)]).key == ImageTransformers.overlay(copy).key)
    }

    @Test("Random parameters have equal keys if and only if they are equal", .capability("TRF-14"))
    func randomKeys() {
        var state: UInt64 = 5
        func random() -> Double {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let choice = [0, -0.0, 1, 1.5, 1e-9, 250, Double(state >> 44) / 1_024]
            return choice[Int(state >> 33) % choice.count]
        }
        for _ in 0..<2_000 {
            let (one, other) = ((random(), random()), (random(), random()))
            let keys = [one, other].map { ImageTransformers.sharpen(amount: $0.0 + 1, radius: 1 + $0.1).key }
            #expect((keys[0] == keys[1]) == (one == other))
            let blurs = [one.0, other.0].map { ImageTransformers.blur(radius: $0).key }
            #expect((blurs[0] == blurs[1]) == (one.0 == other.0))
        }
    }

    @Test("Built-in transformers keep the metadata of the source, or nothing that tells of it", .capability("TRF-02"))
    func metadata() throws {
        var properties = Image.Properties()
        properties.format = .jpeg
        properties.metadata = ImageMetadata(exif: Data([1, 2, 3]), xmp: Data([4]))
        properties.sourceSize = PixelSize(width: 40, height: 30)
        properties.sourceOrientation = .right
        properties.decodeOptions.allowsPartialImage = true
        properties.scale = 2
        let image = try Image(pixels: Image.sample(12, 8, seed: 1).pixels, properties: properties)
        let transformers: [any ImageTransformer] = [
            .resize(width: 6), .crop(width: 4, height: 4), .flip(horizontally: true), .rotate(degrees: 30), .circle(),
            .blur(radius: 1), .sepia(), .pad(toWidth: 20, height: 20), .resize(width: 6).flip(vertically: true),
        ]
        for transformer in transformers {
            let kept = try image.transformed(transformer)
            #expect(kept.metadata == properties.metadata && kept.format == .jpeg, "\(transformer.key)")
            #expect(kept.properties.sourceSize == properties.sourceSize && kept.properties.sourceOrientation == .right)
            #expect(kept.properties.decodeOptions == properties.decodeOptions && kept.scale == 2)
            let bare = try image.transformed(transformer.withoutMetadata())
            #expect(
                bare.pixels == kept.pixels && bare.scale == 2 && bare.isTransformed && bare.hasAlpha == kept.hasAlpha)
            #expect(bare.metadata == ImageMetadata() && bare.format == nil && bare.properties.sourceSize == nil)
            #expect(bare.properties.sourceOrientation == .up && bare.properties.decodeOptions == DecodeOptions())
            #expect(transformer.withoutMetadata().key != transformer.key && !transformer.withoutMetadata().hasEmptyKey)
        }
        #expect(ClosureTransformer(key: "") { $0 }.withoutMetadata().hasEmptyKey)
    }

    @Test("The result of a transformer is no vector image", .capability("OPT-23", "MET-04"))
    func vectorImages() throws {
        let image = try Image.sample(12, 8, seed: 1).with { $0.isVector = true }
        let half = ImageTransformers.closure(key: "half") { try $0.resized(to: PixelSize(width: 6, height: 4)) }
        let transformers: [any ImageTransformer] = [
            .resize(width: 6), .circle(), .blur(radius: 1), half, .resize(width: 6).then(half),
        ]
        for transformer in transformers {
            #expect(try !image.transformed(transformer).isVector, "\(transformer.key)")
            #expect(try !image.transformed(transformer.withoutMetadata()).isVector, "\(transformer.key)")
        }
        #expect(try image.transformed(ImageTransformers([])).isVector)
    }

    @Test("Every frame of an animation is transformed", .capability("TRF-01"))
    func animation() throws {
        let frames = try (1...3).map { seed in
            ImageFrame(try Image.sample(8, 6, seed: UInt64(seed)), duration: .milliseconds(100 * seed))
        }
        let animation = try #require(Image(frames: frames))
        let result = try animation.transformed(.resize(width: 4).flip(horizontally: true).sepia())
        #expect(result.frames.count == 3 && result.size == PixelSize(width: 4, height: 3))
        #expect(result.frames.map(\.duration) == frames.map(\.duration))
        for (one, frame) in zip(result.frames, frames) {
            let alone = try Image(pixels: frame.pixels).transformed(.resize(width: 4).flip(horizontally: true).sepia())
            #expect(one.pixels == alone.pixels)
        }
    }
}
