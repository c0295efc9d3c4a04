import Foundation
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

/// A loader of pictures, with versions that the test changes and a count of the requests.
final class PictureLoader: ImageLoading {
    private struct State {
        var sources = PictureSources()
        var requests = 0
        /// The number of suspensions before the next answers.
        var pauses = 0
        var complaints: [String] = []
    }

    private let state = Lock(State())

    var sources: PictureSources { state.withLock { $0.sources } }
    var requests: Int { state.withLock { $0.requests } }
    var complaints: [String] { state.withLock { $0.complaints } }

    func change(_ body: @Sendable (inout PictureSources) -> Void) { state.withLock { body(&$0.sources) } }
    func setPauses(_ count: Int) { state.withLock { $0.pauses = count } }

    func canLoad(_ url: URL) -> Bool { url.scheme == "test" }

    func load(_ request: LoadRequest) async throws(ImageError) -> LoadedData {
        let source = Int(request.url.absoluteString.dropFirst(5)) ?? 0
        let pauses = state.withLock { state in
            state.requests += 1
            return state.pauses
        }
        for _ in 0..<pauses { await Task.yield() }
        let sources = sources
        guard !sources.areDown else { throw ImageError(.connectionFailed, stage: .load, reason: "the source is down") }
        let version = sources.versions[source]
        let asked = request.validators?.entityTag
        if let asked, !PictureSources.knowsVersions(source) || !asked.hasPrefix("\(source)-") {
            state.withLock { $0.complaints.append("source \(source) was asked about \(asked)") }
        }
        if asked == "\(source)-\(version)" { return .notModified(url: request.url) }
        let data = ModelPicture.bytes(source: source, version: version)
        request.receive(LoadProgress(chunk: data, receivedBytes: data.count, expectedBytes: data.count))
        return LoadedData(
            data: data, url: request.url, mimeType: "image/x-picture",
            validators: PictureSources.knowsVersions(source)
                ? CacheValidators(entityTag: "\(source)-\(version)") : nil)
    }
}

/// A manager with caches in a folder, which can begin anew, and what its loads return.
final class PipelineBench: Sendable {
    private let folder: TemporaryDirectory
    let loader: PictureLoader
    let cache: ImageCache
    let manager: ImageManager
    /// What is wrong with results, whatever is cached.
    private let complaints = Lock<[String]>([])

    convenience init() throws { self.init(folder: try TemporaryDirectory(), loader: PictureLoader()) }

    private init(folder: TemporaryDirectory, loader: PictureLoader) {
        self.folder = folder
        self.loader = loader
        let disk = DiskCache(.init(directory: folder.path + "/cache", minimumFreeSpace: 0))
        cache = ImageCache(memory: MemoryCache(), disk: disk)
        manager = ImageManager(cache: cache, loader: loader, coders: ImageCoders([PictureCoder()]))
    }

    /// Shuts the manager down, and makes another one with the same folder and the same sources.
    func restarted() async -> PipelineBench {
        await manager.shutdown()
        return PipelineBench(folder: folder, loader: loader)
    }

    /// The complaints since the last call.
    func takeComplaints() -> [String] {
        complaints.withLock { complaints in
            defer { complaints = [] }
            return complaints
        } + loader.complaints
    }

    private func complain(_ condition: Bool, _ message: @autoclosure () -> String) {
        guard !condition else { return }
        let message = message()
        complaints.withLock { $0.append(message) }
    }

    // MARK: Actions

    func request(_ wish: Wish) -> ImageRequest {
        var request = ImageRequest(wish.picture)
        request.cachePolicy = wish.policy
        request.cache.query = wish.queryFrom
        request.cache.store = wish.storeTo
        request.cache.storesVariant = wish.storesVariant
        request.requiresAnimation = wish.requiresAnimation
        request.cache.queriesData = wish.queriesMemoryData
        if wish.token != 0 { request.headers = ["X-Token": String(wish.token)] }
        return request
    }

    func key(_ picture: ModelPicture) -> ImageKey {
        manager.key(for: request(Wish(picture: picture, storesVariant: picture.isLowQuality)))
    }

    func load(_ wish: Wish) async -> Answer {
        do throws(ImageError) {
            return wish.wantsData
                ? answer(wish, try await manager.data(for: request(wish)))
                : answer(wish, try await manager.load(request(wish)))
        } catch {
            complain(error.source == "test:\(wish.picture.source)", "error of \(error.source ?? "nothing")")
            // Of an original that doesn't decode, the first load says so.
            let isDamaged = wish.policy == .cacheOnly && error.code == .corruptImage
            return Answer(error: isDamaged ? .notCached : error.code)
        }
    }

    private func answer(_ wish: Wish, _ result: ImageResult) -> Answer {
        let differences = wish.picture.differences(from: result.image)
        complain(differences.isEmpty, "\(wish) has \(differences.joined(separator: ", "))")
        complain(result.key == key(wish.picture), "\(wish) has the key \(result.key)")
        complain(result.url == request(wish).url && result.storeError == nil, "URL or storeError")
        let answer = Answer(
            version: Int(result.image.pixels[0, 0].y), source: result.source, freshness: .init(result.freshness),
            bytes: version(wish, result.data))
        complain((result.response != nil) == answer.isFromSource, "response: \(String(describing: result.response))")
        complain(
            result.source == .memory || (result.mimeType == nil) == (result.data == nil),
            "media type \(result.mimeType ?? "none")")
        return answer
    }

    private func answer(_ wish: Wish, _ result: EncodedImage) -> Answer {
        complain(result.info.size == ModelPicture.sourceSize, "\(wish) has the size \(result.info.size)")
        complain(result.key == ImageKey(source: "test:\(wish.picture.source)"), "\(wish) has the key \(result.key)")
        let version = version(wish, result.data)
        return Answer(
            version: version, source: result.source, freshness: .init(result.freshness), bytes: version)
    }

    /// The version of bytes of a source; `nil` for none, and for an entry that `damage` made.
    private func version(_ wish: Wish, _ data: Data?) -> Int? {
        guard let data, data != Self.garbage else { return nil }
        let version = String(decoding: data, as: UTF8.self).split(separator: " ").dropFirst(2).first.flatMap { Int($0) }
        guard let version, data == ModelPicture.bytes(source: wish.picture.source, version: version) else {
            complain(false, "\(wish) has other bytes: \(String(decoding: data, as: UTF8.self))")
            return nil
        }
        return version
    }

    func remove(_ removal: Removal) async {
        do throws(ImageError) {
            switch removal.extent {
            case .picture(let picture):
                let wish = Wish(picture: picture, storesVariant: picture.isLowQuality)
                try await manager.removeCachedImage(for: request(wish), from: removal.layers)
            case .source(let source):
                if removal.layers == .all {
                    try await manager.removeAll(of: URL(string: "test:\(source)")!)
                } else {
                    try await cache.removeAll(ofSource: "test:\(source)", from: removal.layers)
                }
            case .everything: try await cache.removeAll(from: removal.layers)
            }
        } catch {
            complain(false, "\(removal) failed: \(error)")
        }
    }

    // MARK: Damage

    enum Damage: CaseIterable { case oneByte, cut, missing, undecodable }

    private static let garbage = Data("PICTURE of nothing".utf8)

    /// Damages an entry on disk, if there is one.
    func damage(_ picture: ModelPicture, _ damage: Damage) async throws {
        await manager.flush()
        let key = key(picture)
        guard let path = await cache.disk?.path(forKey: key), FileManager.default.fileExists(atPath: path) else {
            return
        }
        let file = URL(filePath: path)
        var bytes = try Data(contentsOf: file)
        switch damage {
        case .oneByte:
            bytes[bytes.count / 3] ^= 0x10
            try bytes.write(to: file)
        case .cut: try bytes.prefix(bytes.count / 2).write(to: file)
        case .missing: try FileManager.default.removeItem(at: file)
        case .undecodable:
            // Behind the back of the loads, with the validators of the present version.
            let (source, version) = (picture.source, loader.sources.versions[picture.source])
            let validators = PictureSources.knowsVersions(source) ? "\(source)-\(version)" : nil
            try await cache.disk?.store(
                DiskCacheEntry(
                    data: Self.garbage, created: Date(), validators: validators.map { CacheValidators(entityTag: $0) }),
                forKey: key)
        }
    }
}

extension Answer {
    var isFromSource: Bool { freshness == .fresh || freshness == .notModified }
}

extension Answer.Freshness {
    init(_ freshness: Freshness) {
        self =
            switch freshness {
            case .cached: .cached
            case .fresh, .updated: .fresh
            case .notModified: .notModified
            case .stale: .stale
            }
    }
}
