import Foundation
import TestSupport
import Testing
import Tintype
import TintypeTesting

@testable import TintypeIsolation

@Suite("Isolated decoding: settings", .timeLimited)
struct DecoderIsolationTests {
    private let url = URL(string: "test:/drawing.svg")!

    private func manager(_ loader: TestLoader, coders: ImageCoders) -> ImageManager {
        ImageManager(cache: MemoryImageCache(), loader: loader, coders: coders)
    }

    private func failure(_ manager: ImageManager) async -> ImageError? {
        do throws(ImageError) {
            _ = try await manager.image(for: url)
            return nil
        } catch {
            return error
        }
    }

    @Test("without the helper, images are decoded in the program, or fail, as the settings say", .capability("ISO-03"))
    func missingHelper() throws {
        var isolation = DecoderIsolation()
        isolation.helper = "/nowhere/tintype-decoder"
        #expect(isolation.helperPath == nil)
        let data = try SampleImages.draw(.colorWheel, scale: 0.05).data
        let lenient = ImageCoders.default.isolated(.all, by: isolation)
        #expect(try lenient.decode(data, options: DecodeOptions(), context: DecodeContext()).format == .png)
        isolation.decodesInProcessWithoutHelper = false
        let strict = ImageCoders.default.isolated(.all, by: isolation)
        #expect { try strict.decode(data, options: DecodeOptions(), context: DecodeContext()) } throws: { error in
            (error as? ImageError)?.code == .decoderUnavailable
        }
        // A relative path and a file that isn't a program are no helper.
        isolation.helper = "tintype-decoder"
        #expect(isolation.helperPath == nil)
        isolation.helper = "/etc/passwd"
        #expect(isolation.helperPath == nil)
        isolation.helper = Helper.real.path
        #expect(isolation.helperPath == Helper.real.path)
        isolation.helper = nil
        #expect(isolation.helperPath == Helper.real.path, "beside the program")
    }

    @Test("a program that isn't the helper is an error that names it", .capability("ISO-03"))
    func wrongHelper() throws {
        let isolation = Helper.real.isolation { $0.helper = "/bin/true" }
        let coders = ImageCoders.default.isolated(.all, by: isolation)
        #expect { try coders.info(of: Data("GIF89a".utf8), context: DecodeContext()) } throws: { error in
            let error = error as? ImageError
            return error?.code == .decoderUnavailable && error?.reason.contains("/bin/true") == true
        }
    }

    @Test("stricter limits of the program on processor time and descriptors stay", .capability("ISO-06"))
    func stricterLimits() throws {
        let folder = try TemporaryDirectory()
        let script = folder.url.appending(path: "helper")
        try Data("#!/bin/sh\nulimit -t 60\nulimit -n 40\nexec '\(Helper.real.path)' \"$@\"\n".utf8).write(to: script)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: script.path)
        let isolation = Helper.real.isolation { $0.helper = script.path }
        let coders = ImageCoders.default.isolated(.all, by: isolation)
        let data = try SampleImages.draw(.colorWheel, scale: 0.05).data
        #expect(try coders.decode(data, options: DecodeOptions(), context: DecodeContext()).format == .png)
    }

    @Test("coders of the chosen formats are isolated, once; others stay as they are", .capability("ISO-03"))
    func formats() {
        let isolation = Helper.real.isolation()
        let some = ImageCoders.inProcess.isolated(IsolatedFormats([.gif, .bmp]), by: isolation)
        #expect(some.coders.filter { $0 is any IsolatingCoder }.count == 2)
        #expect(some.coders.contains { $0 is PNGCoder } && !some.coders.contains { $0 is GIFCoder })
        let all = some.isolated(.all, by: isolation)
        #expect(all.coders.count == some.coders.count && all.coders.allSatisfy { $0 is any IsolatingCoder })
        #expect(all.coders.allSatisfy { !(($0 as? any IsolatingCoder)?.base is any IsolatingCoder) })
        #expect(all.decodableFormats == ImageCoders.default.decodableFormats)
        #expect(all.encodableFormats == ImageCoders.default.encodableFormats)
        let own = ImageCoders([OwnCoder()]).isolated(.all, by: isolation)
        #expect(own.coders.first is OwnCoder)
    }

    @Test(
        "the default coders isolate the formats whose libraries are known to fail, and only those",
        .capability("ISO-03"))
    func defaults() {
        #expect(DecoderIsolation().helperPath == Helper.real.path)
        for coder in ImageCoders.default.coders {
            let isExposed = !coder.decodableFormats.isDisjoint(with: [.svg, .pdf, .raw, .heic, .heif, .jxl])
            #expect(coder is any IsolatingCoder == isExposed, "\(coder.decodableFormats)")
        }
        #expect(!ImageCoders.inProcess.coders.contains { $0 is any IsolatingCoder })
    }

    @Test("a URL whose image crashes its decoder is remembered, with the source in the error", .capability("ISO-05"))
    func failureMemory() async throws {
        let bench = IsolatedBench()
        let loader = TestLoader([url: .data(Data("abort".utf8), mimeType: "image/svg+xml")])
        let manager = manager(loader, coders: ImageCoders([bench.coder]))
        let error = await failure(manager)
        #expect(error?.code == .decoderCrashed && error?.source == "test:/drawing.svg")
        #expect(await failure(manager)?.code == .recentlyFailed)
        #expect(loader.requestCount(for: url) == 1)
    }

    @Test("bytes that crash a decoder are given to no other one", .capability("ISO-05"))
    func otherCoders() {
        let bench = IsolatedBench()
        let other = CountingCoder()
        let coders = ImageCoders([other, bench.coder])
        for (misdeed, calls) in [("abort", 0), ("open", 1)] {
            #expect(throws: ImageError.self) {
                try coders.decode(Data(misdeed.utf8), options: DecodeOptions(), context: DecodeContext())
            }
            #expect(other.calls.withLock { $0 } == calls)
        }
    }

    @Test("a missing helper is no fault of the URL, and not remembered", .capability("ISO-05"))
    func unavailable() async throws {
        let isolation = Helper.real.isolation { $0.helper = "/nowhere/tintype-decoder" }
        let loader = TestLoader([url: .data(try SampleImages.draw(.bars, scale: 0.05).data)])
        let manager = manager(loader, coders: ImageCoders.default.isolated(.all, by: isolation))
        for _ in 0..<2 { #expect(await failure(manager)?.code == .decoderUnavailable) }
        #expect(loader.requestCount(for: url) == 2)
    }

    @Test("an animation plays from a process of its own", .capability("ISO-04"))
    func animation() async throws {
        let data = try SampleImages.draw(.pinwheel, scale: 0.2).data
        let coders = ImageCoders.default.isolated(.all, by: Helper.real.isolation())
        let animation = try AnimatedImage(data: data, coders: coders)
        let expected = try AnimatedImage(data: data)
        #expect(animation.frameCount == expected.frameCount && animation.poster.pixels == expected.poster.pixels)
    }
}

/// A coder of everything, which counts how often it is asked.
private struct CountingCoder: ImageCoder {
    let calls = Lock(0)

    var decodableFormats: Set<ImageFormat> { [.svg] }

    func canDecode(_ data: Data, format: ImageFormat?) -> Bool { true }

    func info(of data: Data, context: DecodeContext) throws(ImageError) -> ImageInfo {
        throw ImageError(.corruptImage, stage: .decode, reason: "no image")
    }

    func decode(_ data: Data, options: DecodeOptions, context: DecodeContext) throws(ImageError) -> Image {
        calls.withLock { $0 += 1 }
        throw ImageError(.corruptImage, stage: .decode, reason: "no image")
    }
}

/// The coder of a format of a program's own.
private struct OwnCoder: ImageCoder {
    var decodableFormats: Set<ImageFormat> { [ImageFormat(rawValue: "own")] }

    func info(of data: Data, context: DecodeContext) throws(ImageError) -> ImageInfo {
        ImageInfo(format: .svg, size: .zero, hasAlpha: true)
    }

    func decode(_ data: Data, options: DecodeOptions, context: DecodeContext) throws(ImageError) -> Image {
        throw ImageError(.corruptImage, stage: .decode, reason: "no image")
    }
}
