import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages

/// A transformer that is only a key.
private struct Named: ImageTransformer {
    var key: String
    func transform(_ image: Image) throws -> Image { image }
}

/// The settings of a coder.
private struct Turned: FormatOptions {
    var isTurned = false
    var cacheKey: String { isTurned ? "turned" : "" }
}

private struct NumberOption: FormatOptions {
    var number = 0
}

private struct OtherOption: FormatOptions {
    var number = 0
}

@Suite("Keys of images", .timeLimited)
struct ImageKeyTests {
    /// One choice for each option that changes pixels, and the work that it stands for: choices that make no difference leave no trace.
    private struct Work {
        var options = DecodeOptions()
        var transformer: (any ImageTransformer)?
        var transformsAnimatedImages = false
        var coder: String?
        var coderToken = 0
        var encoding: EncodeOptions?
        var signature: [String] = []

        init(using random: inout SeededRandom) {
            let box = [
                nil, .zero, PixelSize(width: 10, height: 0), PixelSize(width: 4, height: 3),
                PixelSize(width: 43, height: 3),
            ]
            .randomElement(using: &random)!
            options.thumbnailSize = box
            options.preservesAspectRatio = .random(using: &random)
            options.allowsUpscaling = .random(using: &random)
            options.prefersFastThumbnail = Bool.random(using: &random)
            options.maximumBytes = [nil, 4, 40].randomElement(using: &random)!
            options.firstFrameOnly = .random(using: &random)
            options.allowsPartialImage = .random(using: &random)  // What is incomplete isn't cached, and so has no key.
            options.keepsColorSpace = .random(using: &random)
            options.decodeToHDR = .random(using: &random)
            options.scale = [nil, 1, 2, 2.5].randomElement(using: &random)!
            options.formatHint = [nil, .png, ImageFormat(rawValue: "png;transform=a"), ImageFormat(rawValue: "png%3B")]
                .randomElement(using: &random)!
            let keys = [
                [], ["a"], ["a", "b"], ["a|b"], ["a%7Cb"], ["a;b"], ["a;encode=lossless"], ["b", "a"], ["a", "a"],
                ["4x3"],
            ].randomElement(using: &random)!
            transformer = keys.isEmpty ? nil : ImageTransformers(keys.map { Named(key: $0) })
            if keys.count == 1, Bool.random(using: &random) { transformer = Named(key: keys[0]) }
            transformsAnimatedImages = .random(using: &random)
            coder = [nil, "gray", "gray;hdr", "#1"].randomElement(using: &random)!
            coderToken = coder == nil ? [0, 1, 2].randomElement(using: &random)! : 0
            if Bool.random(using: &random) {
                var encoding = EncodeOptions()
                encoding.quality = [0.85, 0.5].randomElement(using: &random)!
                encoding.lossless = .random(using: &random)
                encoding.maximumSize = [nil, PixelSize(width: 4, height: 3)].randomElement(using: &random)!
                self.encoding = encoding
            }
            sign(box, keys)
        }

        var variant: ImageVariant {
            ImageVariant(
                options, transformer: transformer, transformsAnimatedImages: transformsAnimatedImages, coder: coder,
                coderToken: coderToken, encoding: encoding)
        }

        private mutating func sign(_ box: PixelSize?, _ keys: [String]) {
            if let box, !box.isEmpty {
                signature.append("box \(box) \(options.preservesAspectRatio) \(options.allowsUpscaling)")
            }
            if let bytes = options.maximumBytes { signature.append("bytes \(bytes.bytes)") }
            if !signature.isEmpty { signature.append("fast \(options.prefersFastThumbnail)") }
            signature.append("\(options.firstFrameOnly) \(options.keepsColorSpace)")
            signature.append("\(options.decodeToHDR) \(options.formatHint?.rawValue ?? "none")")
            signature.append("scale \(options.scale.map { "\($0)" } ?? "none")")
            signature.append("coder \(coder ?? "none") \(coderToken)")
            if !keys.isEmpty { signature.append("\(keys) \(transformsAnimatedImages)") }
            let isOriginal = variant.isOriginal
            if let encoding = encoding, !isOriginal, encoding != EncodeOptions() {
                signature.append("\(encoding.quality) \(encoding.lossless) \(String(describing: encoding.maximumSize))")
            }
        }
    }

    @Test("Equal work has equal keys, and two different works never share one", .capability("3.9", "MGR-12", "MGR-13"))
    func variants() {
        let seed: UInt64 = 9
        var random = SeededRandom(seed: seed)
        var works: [ImageVariant: [String]] = [:]
        var variants: [[String]: ImageVariant] = [:]
        for _ in 0..<20_000 {
            let work = Work(using: &random)
            let variant = work.variant
            if let known = works[variant] { #expect(known == work.signature, "seed \(seed), \(variant)") }
            if let known = variants[work.signature] { #expect(known == variant, "seed \(seed), \(work.signature)") }
            works[variant] = work.signature
            variants[work.signature] = variant
        }
        #expect(works.count > 15_000)
    }

    @Test("Every option of decoding makes a key of its own, also one that is added later", .capability("3.9"))
    func everyOption() {
        // By the name of the property.
        let changes: [String: (inout DecodeOptions) -> Void] = [
            "thumbnailSize": { $0.thumbnailSize = PixelSize(width: 5, height: 5) },
            "preservesAspectRatio": { $0.preservesAspectRatio = false },
            "coversThumbnailSize": { $0.coversThumbnailSize = true }, "allowsUpscaling": { $0.allowsUpscaling = true },
            "prefersFastThumbnail": { $0.prefersFastThumbnail = true }, "maximumBytes": { $0.maximumBytes = 1_000 },
            "page": { $0.page = 2 }, "firstFrameOnly": { $0.firstFrameOnly = true }, "scale": { $0.scale = 3 },
            "allowsPartialImage": { $0.allowsPartialImage = true },
            "keepsColorSpace": { $0.keepsColorSpace = true }, "decodeToHDR": { $0.decodeToHDR = true },
            "formatHint": { $0.formatHint = .raw },
            "formatSettings": { $0[Turned.self].isTurned = true },
        ]
        let names = Mirror(reflecting: DecodeOptions()).children.compactMap(\.label)
        #expect(Set(names) == Set(changes.keys))
        var plain = DecodeOptions()
        plain.thumbnailSize = PixelSize(width: 4, height: 3)
        var keys: Set<ImageVariant> = [ImageVariant(plain)]
        for change in changes.values {
            var options = plain
            change(&options)
            keys.insert(ImageVariant(options))
        }
        // An image that is incomplete isn't cached: whether it may be makes no difference.
        #expect(keys.count == changes.count)
    }

    @Test("The quality of a thumbnail tells thumbnails apart, and nothing else")
    func thumbnailQuality() {
        var options = DecodeOptions()
        options.prefersFastThumbnail = true
        #expect(ImageVariant(options).isOriginal)
        options.maximumBytes = 100
        #expect(ImageVariant(options) == ImageVariant(description: "bytes=100;fast"))
    }

    @Test("A box that means nothing makes no variant", .capability("MGR-11"))
    func emptyBox() {
        #expect(ImageVariant(DecodeOptions(thumbnailSize: .zero)).isOriginal)
        #expect(ImageVariant(DecodeOptions(), transformer: ImageTransformers([])).isOriginal)
    }

    @Test("Keys are equal if they are spelt with the same bytes, wherever those are in memory", .capability("AFC-07"))
    func equality() {
        let long = String(repeating: "https://example.org/", count: 20)
        var copy = ""
        for character in long { copy.append(character) }
        let variant = ImageVariant(description: "fit=1x1")
        #expect(ImageKey(source: long) == ImageKey(source: copy))
        #expect(
            ImageKey(source: long, variant: variant).hashValue == ImageKey(source: copy, variant: variant).hashValue)
        // Composed and decomposed: one text to Swift, two addresses to a server.
        #expect(ImageKey(source: "caf\u{E9}") != ImageKey(source: "cafe\u{301}"))
        var keys: Set<ImageKey> = ["", "a"]
        for (source, variant) in [("ab", "c"), ("a", "bc"), ("", "abc"), ("abc", ""), ("abc", "abc"), ("a", "a")] {
            keys.insert(ImageKey(source: source, variant: ImageVariant(description: variant)))
        }
        #expect(keys.count == 8)
    }

    @Test(
        "Descriptions of keys show neither passwords nor query values",
        arguments: [
            ("https://me:secret@example.org/a.png", "https://example.org/a.png"),
            (
                "https://example.org/a.png?X-Amz-Signature=abc&w=3#top",
                "https://example.org/a.png?X-Amz-Signature=…&w=…"
            ),
            ("https://example.org/a@b.png", "https://example.org/a@b.png"),
            ("https://a:b@c@example.org?x=y", "https://example.org?x=…"),
            ("plain?key", "plain?key"),
        ])
    func redaction(source: String, shown: String) {
        #expect(ImageKey(source: source).description == shown)
    }

    @Test("Errors read as one line that names the source, and match by code")
    func errors() {
        let error = ImageError(.badStatus, stage: .load, reason: "the server answered 404", statusCode: 404)
        #expect(error.withSource("http://a/b").description == "http://a/b: the server answered 404")
        #expect(error.withSource("x").withSource("y").source == "x")
        do { throw error } catch ImageError.Code.timedOut {
            Issue.record("matched another code")
        } catch ImageError.Code.badStatus {
        } catch {
            Issue.record("did not match")
        }
    }

    @Test("Different settings are different images", .capability("CTX-09"))
    func settings() {
        var keys: Set<ImageKey> = ["a"]
        for number in 0..<3 {
            var options = DecodeOptions()
            options[NumberOption.self].number = number
            keys.insert(ImageKey(source: "a", variant: ImageVariant(options)))
            options[OtherOption.self].number = 4
            keys.insert(ImageKey(source: "a", variant: ImageVariant(options)))
        }
        #expect(keys.count == 6)
    }

    @Test("A variant that a cache has kept by Codable is the same one")
    func codable() throws {
        var options = DecodeOptions()
        options.thumbnailSize = PixelSize(width: 40, height: 30)
        for variant in [ImageVariant.original, ImageVariant(options, transformer: Named(key: "a;b|%"))] {
            let kept = try JSONDecoder().decode(ImageVariant.self, from: JSONEncoder().encode(variant))
            #expect(kept == variant && ImageKey(source: "a", variant: kept) == ImageKey(source: "a", variant: variant))
        }
    }

    @Test("Pages are different work: neither caches nor running loads confuse them", .capability("COD-61"))
    func identity() {
        var second = DecodeOptions()
        second.page = 1
        #expect(second != DecodeOptions() && ImageVariant(second) != ImageVariant(DecodeOptions()))
        #expect(ImageVariant(second).description == "page=1" && ImageVariant(DecodeOptions()).isOriginal)
    }

    @Test("Settings of private types have the same key in each process")
    func privateSettings() {
        struct Local: FormatOptions {
            var inner = NumberOption()
        }
        var options = DecodeOptions()
        options[Local.self].inner.number = 3
        let key = options.formatSettings.cacheKeys.joined()
        // An address begins with this sign.
        #expect(!key.contains("$") && !key.contains("unknown context"))
        #expect(key.contains("Local") && key.contains("NumberOption") && key.contains("3"))
    }
}
