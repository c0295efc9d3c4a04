import FoundationEssentials

@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

/// A loader whose answers wait until the test lets them go.
final class GatedLoader: ImageLoading {
    struct Call: Sendable {
        var request: LoadRequest
        var index: Int
    }

    private struct State {
        var calls: [Call] = []
        var answers: [Int: CheckedContinuation<Result<LoadedData, ImageError>, Never>] = [:]
        var early: [Int: Result<LoadedData, ImageError>] = [:]
        var arrivals: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
        var cancelled = 0
    }

    private let state = Lock(State())
    /// What is answered at once; with `nil` each call waits for ``answer(_:with:)``.
    private let automatic: (@Sendable (URL) -> Result<LoadedData, ImageError>)?

    init(_ automatic: (@Sendable (URL) -> Result<LoadedData, ImageError>)? = nil) { self.automatic = automatic }

    var calls: [Call] { state.withLock { $0.calls } }
    var cancelled: Int { state.withLock { $0.cancelled } }

    func canLoad(_ url: URL) -> Bool { url.scheme == "test" }

    func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
        let (index, ready) = state.withLock { state in
            state.calls.append(Call(request: request, index: state.calls.count))
            let ready = state.arrivals.filter { $0.count <= state.calls.count }
            state.arrivals.removeAll { $0.count <= state.calls.count }
            return (state.calls.count - 1, ready)
        }
        for arrival in ready { arrival.continuation.resume() }
        if let automatic { return try automatic(request.url).get() }
        let result: Result<LoadedData, ImageError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let early = state.withLock { state in
                    let early = state.early.removeValue(forKey: index)
                    if early == nil { state.answers[index] = continuation }
                    return early
                }
                if let early { continuation.resume(returning: early) }
            }
        } onCancel: {
            state.withLock { $0.cancelled += 1 }
            answer(index, with: .failure(ImageError(.cancelled, stage: .load, reason: "cancelled")))
        }
        return try result.get()
    }

    /// Waits until the loader has been asked `count` times.
    func arrival(of count: Int) async {
        await withCheckedContinuation { continuation in
            let isThere = state.withLock { state in
                if state.calls.count < count { state.arrivals.append((count, continuation)) }
                return state.calls.count >= count
            }
            if isThere { continuation.resume() }
        }
    }

    func answer(_ index: Int, with result: Result<LoadedData, ImageError>) {
        let continuation = state.withLock { state in
            let continuation = state.answers.removeValue(forKey: index)
            if continuation == nil { state.early[index] = result }
            return continuation
        }
        continuation?.resume(returning: result)
    }
}

extension LoadedData {
    /// Bytes that ``DotCoder`` decodes.
    static func dot(_ url: String = "test:a", size: Int = 8, validators: CacheValidators? = nil) -> LoadedData {
        LoadedData(
            data: Data("DOT \(size)".utf8), url: URL(string: url)!, mimeType: "image/x-dot", validators: validators)
    }
}

extension ImageFormat {
    static let dot = ImageFormat(rawValue: "dot")
}

/// Decodes `DOT n` into n × n gray pixels, and counts how often.
final class DotCoder: ImageCoder {
    private let count = Lock(0)
    private let onDecode: @Sendable () -> Void
    private let onEncode: @Sendable () -> Void

    init(onDecode: @escaping @Sendable () -> Void = {}, onEncode: @escaping @Sendable () -> Void = {}) {
        (self.onDecode, self.onEncode) = (onDecode, onEncode)
    }

    var decodes: Int { count.withLock { $0 } }
    /// The options of everything that was encoded.
    var encoded: [EncodeOptions] { written.withLock { $0 } }
    private let written = Lock<[EncodeOptions]>([])
    var decodableFormats: Set<ImageFormat> { [.dot] }
    var encodableFormats: Set<ImageFormat> { [.dot] }

    func canDecode(_ data: Data, format: ImageFormat?) -> Bool { data.starts(with: Data("DOT".utf8)) }

    func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        guard let side = Int(String(decoding: data.dropFirst(4), as: UTF8.self)) else {
            throw ImageError(.corruptImage, stage: .decode, reason: "no number")
        }
        return ImageInfo(format: .dot, size: PixelSize(width: side, height: side), hasAlpha: false)
    }

    func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        count.withLock { $0 += 1 }
        onDecode()
        let info = try info(of: data, context: context)
        let output = options.outputSize(for: info.size)
        try context.limits.check(size: info.size, output: output)
        let reservation = try context.reserve(output.pixelCount * 4)
        defer { reservation.release() }
        var pixels = try MutablePixelBuffer(size: output)
        pixels.withUnsafeMutableBytes { bytes in _ = bytes.initializeMemory(as: UInt8.self, repeating: 200) }
        var properties = Image.Properties()
        properties.format = .dot
        properties.sourceSize = info.size
        properties.decodeOptions = options
        return Image(pixels: pixels.freeze(), properties: properties)
    }

    func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: ProcessingContext
    ) throws(ImageError) -> Data {
        written.withLock { $0.append(options) }
        onEncode()
        return Data("DOT \(image.size.width)".utf8)
    }
}

/// Caches as plain dictionaries, which count what they are asked and can be told to fail.
final class DictionaryCache: Sendable {
    struct State {
        var memory: [ImageKey: Image] = [:]
        var disk: [ImageKey: DiskCacheEntry] = [:]
        var memoryStores = 0
        var diskReads = 0
        var diskStores = 0
        var storeError: ImageError?
    }

    private let state: Lock<State>
    let layers: ImageCache

    init() {
        let state = Lock(State())
        self.state = state
        layers = ImageCache(memory: Memory(state: state), disk: Disk(state: state))
    }

    var now: State { state.withLock { $0 } }
    func change(_ body: (inout State) -> Void) { state.withLock { body(&$0) } }

    func storeInMemory(_ image: Image, forKey key: ImageKey) { layers.storeInMemory(image, forKey: key) }
    func store(_ entry: DiskCacheEntry, forKey key: ImageKey) async throws {
        try await layers.store(entry, forKey: key)
    }
    func removeAll(from layers: CacheLayers) async throws { try await self.layers.removeAll(from: layers) }

    private struct Memory: MemoryCaching {
        let state: Lock<State>

        func image(forKey key: ImageKey) -> Image? { state.withLock { $0.memory[key] } }
        func contains(_ key: ImageKey) -> Bool { image(forKey: key) != nil }
        func store(_ image: Image, forKey key: ImageKey, while isCurrent: @Sendable () -> Bool) {
            state.withLock { state in
                guard isCurrent() else { return }
                state.memoryStores += 1
                state.memory[key] = image
            }
        }
        func remove(_ key: ImageKey) -> Bool { state.withLock { $0.memory.removeValue(forKey: key) != nil } }
        func removeAll(ofSource source: String) -> Int {
            state.withLock { state in
                let count = state.memory.count
                state.memory = state.memory.filter { $0.key.source != source }
                return count - state.memory.count
            }
        }
        func removeAll() -> Bool {
            state.withLock { state in
                defer { state.memory = [:] }
                return !state.memory.isEmpty
            }
        }
        func trim(to bytes: ByteCount) {}
        var statistics: CacheStatistics { CacheStatistics() }
    }

    private struct Disk: DiskCaching {
        let state: Lock<State>

        func entry(forKey key: ImageKey, priority: WorkPriority) async -> DiskCacheEntry? {
            state.withLock { state in
                state.diskReads += 1
                return state.disk[key]
            }
        }
        func contains(_ key: ImageKey) async -> Bool { state.withLock { $0.disk[key] != nil } }
        func store(
            _ entry: DiskCacheEntry, forKey key: ImageKey, while isCurrent: @escaping @Sendable () -> Bool
        ) async throws(ImageError) {
            let error = state.withLock { state -> ImageError? in
                guard isCurrent() else { return nil }
                state.diskStores += 1
                if state.storeError == nil { state.disk[key] = entry }
                return state.storeError
            }
            if let error { throw error }
        }
        func remove(_ key: ImageKey) async -> Bool { state.withLock { $0.disk.removeValue(forKey: key) != nil } }
        func removeAll(ofSource source: String) async -> Int {
            state.withLock { state in
                let count = state.disk.count
                state.disk = state.disk.filter { $0.key.source != source }
                return count - state.disk.count
            }
        }
        func removeAll() async { state.withLock { $0.disk = [:] } }
        func removeExpired() async -> CacheUsage { CacheUsage() }
        func usage() async -> CacheUsage { CacheUsage() }
        func variants(ofSource source: String) async -> [ImageVariant] {
            state.withLock { $0.disk.keys.filter { $0.source == source }.map(\.variant) }
        }
    }
}

extension ImageManager {
    convenience init(
        cache: DictionaryCache, loader: any ImageLoading, coders: any ImageCoder,
        configuration: Configuration = Configuration()
    ) {
        self.init(cache: cache.layers, loader: loader, coders: coders, configuration: configuration)
    }
}
