import Foundation
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

/// A manager with caches in a folder, and the calls of several users.
struct CallerBench: Sendable {
    typealias History = CallerHistory
    enum Damage: CaseIterable { case oneByte, cut, missing }

    private let folder: TemporaryDirectory
    let server: NumberedServer
    private let cache: ImageCache
    let manager: ImageManager
    /// True if the program's own serializer writes what the disk gets.
    private let serializes: Bool
    private let complaints = Lock<[String]>([])

    init() throws { self.init(folder: try TemporaryDirectory(), server: NumberedServer(), serializes: false) }

    private init(folder: TemporaryDirectory, server: NumberedServer, serializes: Bool) {
        (self.folder, self.server, self.serializes) = (folder, server, serializes)
        let clock = server.clock
        cache = ImageCache(
            memory: MemoryCache(), disk: DiskCache.temporary(folder.path + "/cache", clock: clock))
        var configuration = ImageManager.Configuration()
        configuration.date = { clock.date }
        if serializes {
            configuration.cacheSerializer = { image, _, _ in
                try PictureCoder().encode(image, as: .picture, options: EncodeOptions(), context: ProcessingContext())
                    + Data(" serialized".utf8)
            }
        }
        manager = ImageManager(
            cache: cache, loader: server, coders: ImageCoders([PictureCoder()]), configuration: configuration)
    }

    /// Shuts the manager down, and makes another one with the same folder.
    func restarted(serializes: Bool) async -> CallerBench {
        await manager.shutdown()
        return CallerBench(folder: folder, server: server, serializes: serializes)
    }

    func takeComplaints() -> [String] {
        complaints.withLock { complaints in
            defer { complaints = [] }
            return complaints
        } + server.now.complaints
    }

    // MARK: Actions

    private func request(_ load: History.Load) -> ImageRequest {
        var request = request(load.picture)
        request.headers = ["Authorization": load.user, "Accept-Language": load.language]
        request.cachePolicy = load.policy
        request.cache.query = load.queries
        request.cache.store = load.stores
        request.cache.storesVariant = load.storesVariant
        return request
    }

    private func request(_ picture: History.Picture) -> ImageRequest {
        var model = ModelPicture(source: picture.source)
        if picture.shape == .small { model.shape = .box }
        if picture.shape == .marked { model.transformers = [1] }
        return ImageRequest(model)
    }

    func load(_ load: History.Load) async -> History.Outcome {
        let request = request(load)
        let task = Task { [manager] () -> History.Outcome in
            do throws(ImageError) {
                guard load.wantsBytes else {
                    let result = try await manager.load(request)
                    let number = number(result.image, load.picture)
                    return .picture(number, result.source, .init(result.freshness))
                }
                let result = try await manager.data(for: request)
                return .picture(number(result.data, load.picture), result.source, .init(result.freshness))
            } catch {
                return .failure(error.code)
            }
        }
        guard let patience = load.patience else { return await task.value }
        for _ in 0..<patience { await Task.yield() }
        task.cancel()
        return await task.value
    }

    func remove(_ removal: History.Removal) async throws {
        guard let source = removal.source else { return try await cache.removeAll(from: removal.layers) }
        if let shape = removal.shape {
            let request = request(History.Picture(source: source, shape: shape))
            try await manager.removeCachedImage(for: request, from: removal.layers)
        } else {
            try await cache.removeAll(ofSource: "test:\(source)", from: removal.layers)
        }
    }

    /// Damages the file of a picture, if there is one.
    func damage(_ picture: History.Picture, _ damage: Damage) async throws {
        guard let path = await cache.disk?.path(forKey: manager.key(for: request(picture))),
            FileManager.default.fileExists(atPath: path)
        else { return }
        let file = URL(filePath: path)
        var bytes = try Data(contentsOf: file)
        switch damage {
        case .oneByte:
            bytes[bytes.count / 3] ^= 0x10
            try bytes.write(to: file)
        case .cut: try bytes.prefix(bytes.count / 2).write(to: file)
        case .missing: try FileManager.default.removeItem(at: file)
        }
    }

    // MARK: Contents

    /// The numbers of the pictures in the caches, which must be those of their places.
    /// - Parameter old: The contents before, for which another serializer may have been at work.
    func contents(since old: [History.Slot: Int]) async -> [History.Slot: Int] {
        await manager.flush()
        var contents: [History.Slot: Int] = [:]
        for slot in History.Slot.all {
            let key = manager.key(for: request(slot.picture))
            if slot.layer == .memory {
                contents[slot] = cache.memory.image(forKey: key).map { number($0, slot.picture) }
            } else if let entry = await cache.disk?.entry(forKey: key) {
                let number = number(entry.data, slot.picture)
                contents[slot] = number
                let isSerialized = entry.data.suffix(10) == Data("serialized".utf8)
                if number != old[slot], isSerialized != serializes { complain("stored otherwise: \(slot)") }
            }
        }
        return contents
    }

    private func complain(_ message: String) { complaints.withLock { $0.append(message) } }

    private func number(_ image: Image, _ picture: History.Picture) -> Int {
        let pixel = image.pixels[0, 0]
        let size = picture.shape == .small ? PixelSize(width: 12, height: 6) : ModelPicture.sourceSize
        if image.size != size || pixel.z != (picture.shape == .marked ? 1 : 0) {
            complain("\(picture) is \(image.size) with the mark \(pixel.z)")
        }
        return Int(pixel.x) + Int(pixel.y) * 256
    }

    private func number(_ data: Data, _ picture: History.Picture) -> Int {
        do throws(ImageError) {
            return number(
                try PictureCoder().decode(data, options: DecodeOptions(), context: ProcessingContext()), picture)
        } catch {
            complain("\(picture): \(error)")
            return 0
        }
    }
}
