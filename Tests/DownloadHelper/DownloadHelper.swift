import FoundationEssentials
import Glibc
import TintypeLoading
import TintypeHTTP
import TintypeTesting

/// A process for tests to measure: `DownloadHelper memory URL WARMUP-URL plain|progressive`, `DownloadHelper many URL ROOTS COUNT [ATTEMPTS]`,
/// `DownloadHelper get URL ROOTS FILE [http1] [proxy=URL] [encoding=CODINGS] [cut=BYTES]`, or `DownloadHelper blocked URL`.
///
/// `get` loads a URL and writes its bytes to a file; with `cut`, it cancels a first load after some bytes, so that a second one continues. It prints the
/// protocol, the content encoding, and the number of bytes that came from the first load.
/// `blocked` loads a URL whose response has two pieces. After the first one it blocks all threads of Swift's concurrency and prints
/// `blocked`. When the second piece has arrived, 100 s go by on its clock before it frees the threads. It prints the number of bytes.
/// `many` loads a URL many times, 32 at a time, each in so many attempts (one), and prints the number of failures. `ROOTS` is a file with certificates to trust.
/// `memory` prints by how many bytes a load raised the peak of the process's memory, after another one of a smaller image.
@main
struct DownloadHelper {
    static func main() async throws {
        #if HTTP
        let arguments = CommandLine.arguments
        guard arguments.count >= 3, let url = URL(string: arguments[2]) else { throw Failure.usage }
        if arguments[1] == "blocked" {
            try await loadBlocked(url)
        } else if arguments[1] == "get" {
            guard arguments.count >= 5 else { throw Failure.usage }
            try await get(url, roots: arguments[3], file: arguments[4], Array(arguments[5...]))
        } else if arguments[1] == "many" {
            guard arguments.count >= 5, let count = Int(arguments[4]) else { throw Failure.usage }
            try await load(url, count, roots: arguments[3], attempts: arguments.dropFirst(5).first.flatMap { Int($0) })
        } else {
            guard arguments.count == 5, let first = URL(string: arguments[3]) else { throw Failure.usage }
            let isProgressive = arguments[4] == "progressive"
            try await load(first, isProgressive)
            let before = try peakMemory()
            try await load(url, isProgressive)
            tell("\(try peakMemory() - before)")
        }
        #endif
    }

    enum Failure: Error { case usage, unreadable }

    private static func tell(_ line: String) {
        let line = line + "\n"
        _ = line.withCString { write(1, $0, strlen($0)) }
    }

    #if HTTP
    private static func load(_ url: URL, _ count: Int, roots: String, attempts: Int?) async throws {
        var tls = TLSOptions()
        tls.trustRoots = try Data(contentsOf: URL(filePath: roots))
        let downloader = ImageDownloader(
            .init(
                maximumConcurrentDownloads: 32, timeout: .seconds(60),
                retry: RetryPolicy(maximumAttempts: attempts ?? 1), resumesTransfers: false, tls: tls, usesHTTP2: true))
        let failures = await withTaskGroup(of: Int.self) { group in
            for lane in 0..<32 {
                group.addTask {
                    var failures = 0
                    for _ in stride(from: lane, to: count, by: 32) {
                        do throws(ImageError) { _ = try await downloader.load(LoadRequest(url: url)) } catch {
                            failures += 1
                            tell("\(error)")
                        }
                    }
                    return failures
                }
            }
            return await group.reduce(0, +)
        }
        tell("\(failures) of \(count) failed")
        if failures > 0 { exit(1) }
    }

    private static func get(_ url: URL, roots: String, file: String, _ options: [String]) async throws {
        func value(_ name: String) -> String? {
            options.first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
        }
        var configuration = ImageDownloader.Configuration(timeout: .seconds(60), usesHTTP2: !options.contains("http1"))
        configuration.tls.trustRoots = try Data(contentsOf: URL(filePath: roots))
        if let proxy = value("proxy").flatMap({ ProxyServer($0) }) { configuration.proxy = .server(proxy) }
        if let codings = value("encoding") { configuration.headers["Accept-Encoding"] = codings }
        let downloader = ImageDownloader(configuration)
        do throws(ImageError) {
            if let count = value("cut").flatMap({ Int($0) }) {
                let task = Lock<Task<Void, Never>?>(nil)
                let request = LoadRequest(url: url) { progress in
                    if progress.receivedBytes >= count { task.withLock { $0?.cancel() } }
                }
                let load = task.withLock { task in
                    let load = Task { _ = try? await downloader.load(request) }
                    task = load
                    return load
                }
                await load.value
            }
            let loaded = try await downloader.load(LoadRequest(url: url))
            guard (try? loaded.data.write(to: URL(filePath: file))) != nil else {
                tell("\(file) can't be written")
                exit(1)
            }
            let coding = loaded.headers["Content-Encoding"] ?? "-"
            tell("\(loaded.networkProtocol ?? "-") \(coding) \(loaded.transfer?.resumedBytes ?? 0)")
        } catch {
            tell("\(error.code) \(error.statusCode ?? 0): \(error.reason)")
            exit(1)
        }
    }

    /// Runs on the main thread, which isn't one of those that it blocks.
    @MainActor private static func loadBlocked(_ url: URL) async throws {
        // Where this can't go on, nothing else ends it.
        alarm(60)
        let clock = CountingClock()
        let downloader = ImageDownloader(.init(timeout: .seconds(10), minimumSpeed: nil), clock: clock)
        let received = Watched(0)
        let request = LoadRequest(url: url) { progress in received.update { $0 = progress.receivedBytes } }
        // The watch of time limits has the medium priority, so that it comes before the load when the threads are free.
        let load = Task.detached(priority: .low) { try await downloader.load(request).data.count }
        try await received.wait { $0 > 0 }
        let threads = BlockedThreads()
        let count = clock.count.value
        tell("blocked")
        // Only the event loop still runs, and asks for the time of what arrives.
        while clock.count.value == count { sched_yield() }
        clock.manual.advance(by: .seconds(100))
        threads.free()
        tell("\(try await load.value)")
    }

    private static func load(_ url: URL, _ isProgressive: Bool) async throws {
        var configuration = ImageDownloader.Configuration(maximumBytes: .gigabytes(1))
        configuration.resumesTransfers = false
        let manager = ImageManager(
            cache: ImageCache(), loader: ImageDownloader(configuration), coders: ImageCoders([ByteCounter()]))
        var request = ImageRequest(url)
        request.isProgressive = isProgressive
        request.cache.store = []
        let image = try await manager.image(for: request)
        tell("\(image.size)")
    }

    /// The largest resident memory so far, in bytes. `getrusage` would count the memory of the process that started this one.
    private static func peakMemory() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let words = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }?.split(
            whereSeparator: \.isWhitespace)
        guard let words, words.count > 1, let kilobytes = Int(words[1]) else { throw Failure.unreadable }
        return kilobytes * 1_024
    }
    #endif
}

/// A manual clock that counts how often it is asked for the time.
private struct CountingClock: Clock {
    let manual = ManualClock()
    let count = Watched(0)

    var minimumResolution: Duration { manual.minimumResolution }

    var now: ManualClock.Instant {
        count.update { $0 += 1 }
        return manual.now
    }

    func sleep(until deadline: ManualClock.Instant, tolerance: Duration?) async throws {
        try await manual.sleep(until: deadline, tolerance: tolerance)
    }
}

/// All threads of Swift's concurrency that run tasks of the medium and the low priority, each in a read that waits.
private struct BlockedThreads {
    private let ends: [Int32]

    init() {
        var ends: [Int32] = [0, 0]
        pipe(&ends)
        self.ends = ends
        let (end, blocked) = (ends[0], Watched(0))
        let count = ProcessInfo.processInfo.activeProcessorCount
        for priority in [TaskPriority.medium, .low] {
            for _ in 0..<count {
                Task.detached(priority: priority) {
                    blocked.update { $0 += 1 }
                    var byte: UInt8 = 0
                    read(end, &byte, 1)
                }
            }
        }
        while blocked.value < count * 2 { sched_yield() }
    }

    func free() { close(ends[1]) }
}

/// Makes an image of one pixel of any bytes, also while they arrive.
private struct ByteCounter: ProgressiveImageCoder {
    static let format = ImageFormat(rawValue: "bytes")
    var decodableFormats: Set<ImageFormat> { [Self.format] }
    var encodableFormats: Set<ImageFormat> { [] }

    func canDecode(_ data: Data, format: ImageFormat?) -> Bool { true }

    func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        ImageInfo(format: Self.format, size: PixelSize(width: 1, height: 1), hasAlpha: false)
    }

    func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        Image(pixels: try MutablePixelBuffer(size: PixelSize(width: 1, height: 1), cleared: true).freeze())
    }

    func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: ProcessingContext
    ) throws(ImageError) -> Data {
        throw ImageError(.encodeFailed, stage: .encode, reason: "nothing is encoded here")
    }

    func progressiveDecoder(
        options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) -> any ProgressiveDecoder { Decoder(coder: self) }

    private final class Decoder: ProgressiveDecoder {
        let coder: ByteCounter
        /// As decoders of animations do, it keeps all bytes.
        var data = Data()

        init(coder: ByteCounter) { self.coder = coder }

        func append(_ chunk: Data) throws(ImageError) { data.append(chunk) }
        func append(_ chunk: Data, of data: Data) throws(ImageError) { self.data = data }
        func preview() throws(ImageError) -> Image? { nil }

        func finish() throws(ImageError) -> Image {
            try coder.decode(data, options: DecodeOptions(), context: ProcessingContext())
        }
    }
}
