import Foundation
import Glibc
import TestSupport
import Testing
import Tintype
import TintypeTesting

@testable import TintypeIsolation

@Suite("Isolated decoding: settings", .timeLimited)
struct DecoderIsolationTests {
    private let url = URL(string: "test:/drawing.svg")!

    private func manager(_ loader: TestLoader, coders: ImageCoders) -> ImageManager {
        ImageManager(cache: ImageCache(), loader: loader, coders: coders)
    }

    private func failure(_ manager: ImageManager) async -> ImageError? {
        do throws(ImageError) {
            _ = try await manager.image(for: url)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "Where no process can be started, decoding is an error that names the reason, or is done in the program, as the settings say",
        .capability("ISO-03"))
    func missingHelper() throws {
        let data = try SampleImages.draw(.colorWheel, scale: 0.05).data
        // A relative path and a file that isn't a program are no helper.
        for helper in ["/nowhere/helper", "TestDecoder", "/etc/passwd"] {
            var isolation = DecoderIsolation.patient { $0.helper = helper }
            let strict = ImageCoders.default.isolated(.all, by: isolation)
            #expect { try strict.decode(data, options: DecodeOptions(), context: ProcessingContext()) } throws: {
                error in
                let error = error as? ImageError
                return error?.code == .decoderUnavailable && error?.reason.contains("absolute path") == true
            }
            isolation.allowsInProcess = true
            let lenient = ImageCoders.default.isolated(.all, by: isolation)
            #expect(try lenient.decode(data, options: DecodeOptions(), context: ProcessingContext()).format == .png)
            #expect(try lenient.info(of: data, context: ProcessingContext()).format == .png)
            #expect(try lenient.frameDecoder(for: SampleImages.draw(.pinwheel, scale: 0.1).data) != nil)
        }
    }

    @Test(
        "A program that doesn't decode is an error that names it, and isn't started again for a while",
        .capability("ISO-03"))
    func wrongHelper() throws {
        let pool = WorkerPool(.patient { $0.helper = "/bin/true" })
        for _ in 0..<2 {
            do throws(ImageError) {
                _ = try pool.take(ProcessingContext())
                Issue.record("it began")
            } catch {
                #expect(error.code == .decoderUnavailable && error.reason.contains("/bin/true"), "\(error)")
            }
        }
        #expect(pool.startCount == 1)
    }

    @Test("A program that doesn't answer is an error after the time for a start", .capability("ISO-03"))
    func silentHelper() throws {
        let pool = WorkerPool(
            .patient {
                $0.helper = Helper.path
                $0.startLimit = .zero
            })
        for _ in 0..<2 {
            do throws(ImageError) {
                _ = try pool.take(ProcessingContext())
                Issue.record("it began")
            } catch {
                #expect(error.code == .decoderUnavailable && error.reason.contains("answer"), "\(error)")
            }
        }
        #expect(pool.startCount == 1)
    }

    @Test("Stricter limits of the program on processor time and descriptors stay", .capability("ISO-06"))
    func stricterLimits() async {
        await #expect(processExitsWith: .exitCode(7)) {
            var (time, files) = (rlimit(rlim_cur: 60, rlim_max: 60), rlimit(rlim_cur: 40, rlim_max: 40))
            guard setrlimit(__rlimit_resource_t(RLIMIT_CPU.rawValue), &time) == 0,
                setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files) == 0
            else { _exit(1) }
            guard try IsolatedBench().decode("good").size.width == 3 else { _exit(2) }
            _exit(7)
        }
    }

    @Test("Coders of the chosen formats are isolated, once; others stay as they are", .capability("ISO-03"))
    func formats() {
        let isolation = DecoderIsolation.patient()
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
        "The default coders isolate the formats whose libraries are known to fail, and only those",
        .capability("ISO-03"))
    func defaults() {
        for coder in ImageCoders.default.coders {
            let isExposed = !coder.decodableFormats.isDisjoint(with: [.svg, .pdf, .raw, .heic, .heif, .jxl])
            #expect(coder is any IsolatingCoder == isExposed, "\(coder.decodableFormats)")
        }
        #expect(!ImageCoders.inProcess.coders.contains { $0 is any IsolatingCoder })
    }

    @Test("A URL whose image crashes its decoder is remembered, with the source in the error", .capability("ISO-05"))
    func failureMemory() async throws {
        let bench = IsolatedBench()
        let loader = TestLoader([url: .data(Data("abort".utf8), mimeType: "image/svg+xml")])
        let manager = manager(loader, coders: ImageCoders([bench.coder]))
        let error = await failure(manager)
        #expect(error?.code == .decoderCrashed && error?.source == "test:/drawing.svg")
        #expect(await failure(manager)?.code == .recentlyFailed)
        #expect(loader.requestCount(for: url) == 1)
    }

    @Test("Bytes that crash a decoder are given to no other one", .capability("ISO-05"))
    func otherCoders() {
        let bench = IsolatedBench()
        let other = CountingCoder()
        let coders = ImageCoders([other, bench.coder])
        for (misdeed, calls) in [("abort", 0), ("open", 1)] {
            #expect(throws: ImageError.self) {
                try coders.decode(Data(misdeed.utf8), options: DecodeOptions(), context: ProcessingContext())
            }
            #expect(other.calls.withLock { $0 } == calls)
        }
    }

    @Test("A decoder that can't be started is no fault of the URL, and not remembered", .capability("ISO-05"))
    func unavailable() async throws {
        let isolation = DecoderIsolation.patient { $0.helper = "/nowhere/helper" }
        let loader = TestLoader([url: .data(try SampleImages.draw(.bars, scale: 0.05).data)])
        let manager = manager(loader, coders: ImageCoders.default.isolated(.all, by: isolation))
        for _ in 0..<2 { #expect(await failure(manager)?.code == .decoderUnavailable) }
        #expect(loader.requestCount(for: url) == 2)
    }

    @Test("An animation plays from a process of its own", .capability("ISO-04"))
    func animation() async throws {
        let data = try SampleImages.draw(.pinwheel, scale: 0.2).data
        let coders = ImageCoders.default.isolated(.all, by: .patient())
        let (image, expected) = (try Image(data: data, coders: coders), try Image(data: data))
        #expect(image.frames == expected.frames && image.loopCount == expected.loopCount && image.isAnimated)
    }
}

/// A coder of everything, which counts how often it is asked.
private struct CountingCoder: ImageCoder {
    let calls = Lock(0)

    var decodableFormats: Set<ImageFormat> { [.svg] }

    func canDecode(_ data: Data, format: ImageFormat?) -> Bool { true }

    func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        throw ImageError(.corruptImage, stage: .decode, reason: "no image")
    }

    func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        calls.withLock { $0 += 1 }
        throw ImageError(.corruptImage, stage: .decode, reason: "no image")
    }
}

/// The coder of a format of a program's own.
private struct OwnCoder: ImageCoder {
    var decodableFormats: Set<ImageFormat> { [ImageFormat(rawValue: "own")] }

    func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        ImageInfo(format: .svg, size: .zero, hasAlpha: true)
    }

    func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        throw ImageError(.corruptImage, stage: .decode, reason: "no image")
    }
}
