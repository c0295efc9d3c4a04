import FoundationEssentials
import TestSupport
import Testing
import TintypeCore

@Suite("What images are known by", .timeLimited)
struct ImageKeyTests {
    @Test("equal work has equal variants, and different work never", .capability("3.9", "MGR-12", "MGR-13"))
    func variants() {
        var all: [DecodeOptions] = [DecodeOptions()]
        func add(_ change: (inout DecodeOptions) -> Void) {
            var options = DecodeOptions()
            change(&options)
            all.append(options)
        }
        add { $0.thumbnailSize = PixelSize(width: 100, height: 100) }
        add { $0.thumbnailSize = PixelSize(width: 100, height: 101) }
        add {
            $0.thumbnailSize = PixelSize(width: 100, height: 100)
            $0.thumbnailQuality = .fast
        }
        add {
            $0.thumbnailSize = PixelSize(width: 100, height: 100)
            $0.preservesAspectRatio = false
        }
        add {
            $0.thumbnailSize = PixelSize(width: 100, height: 100)
            $0.allowsUpscaling = true
        }
        add { $0.firstFrameOnly = true }
        add { $0.maximumBytes = 100 }
        add { $0.scale = 2 }
        add { $0.keepsColorSpace = true }
        add { $0.allowsPartialImage = true }
        add { $0.formatHint = .raw }
        let variants = all.map { ImageVariant($0) } + [ImageVariant(DecodeOptions(), transformer: "blur(1)")]
        #expect(Set(variants).count == variants.count)
        #expect(variants[0].isOriginal)
        #expect(ImageVariant(all[1]) == ImageVariant(description: "fit=100x100"))
    }

    @Test("Issue 3, speed: the quality of a thumbnail tells thumbnails apart, and nothing else")
    func thumbnailQuality() {
        var options = DecodeOptions()
        options.thumbnailQuality = .fast
        #expect(ImageVariant(options).isOriginal)
        options.maximumBytes = 100
        #expect(ImageVariant(options) == ImageVariant(description: "bytes=100;fast"))
    }

    @Test("a box that means nothing makes no variant", .capability("MGR-11"))
    func emptyBox() {
        #expect(ImageVariant(DecodeOptions(thumbnailSize: .zero)).isOriginal)
        #expect(ImageVariant(DecodeOptions(), transformer: "").isOriginal)
    }

    @Test("keys are equal if they are spelt with the same bytes, wherever those are in memory", .capability("AFC-07"))
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
        var keys: Set<ImageKey> = [ImageKey(source: ""), ImageKey(source: "a")]
        for (source, variant) in [("ab", "c"), ("a", "bc"), ("", "abc"), ("abc", ""), ("abc", "abc"), ("a", "a")] {
            keys.insert(ImageKey(source: source, variant: ImageVariant(description: variant)))
        }
        #expect(keys.count == 8)
    }

    @Test("errors read as one line that names the source, and match by code")
    func errors() {
        let error = ImageError(.badStatus, stage: .load, reason: "the server answered 404", statusCode: 404)
        #expect(error.withSource("http://a/b").description == "http://a/b: the server answered 404")
        #expect(error.withSource("x").concerning("y").source == "x")
        do { throw error } catch ImageError.Code.timedOut {
            Issue.record("matched another code")
        } catch ImageError.Code.badStatus {
        } catch {
            Issue.record("did not match")
        }
    }
}
