import FoundationEssentials
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

/// A loader of chunks that a test makes.
private struct ChunkLoader: ImageStreaming {
    let schemes = ["test"]
    var maximumBytes = ByteCount.megabytes(1)
    var expected: Int?
    var failure: (any Error)?
    var chunks: [Data]

    func stream(_ request: LoadRequest) async throws -> ImageStream {
        let (chunks, failure) = (chunks, failure)
        let stream = AsyncThrowingStream<Data, any Error> { continuation in
            for chunk in chunks { continuation.yield(chunk) }
            continuation.finish(throwing: failure)
        }
        return ImageStream(
            url: request.url, mimeType: "image/x-growing", validators: CacheValidators(entityTag: "\"1\""),
            expectedBytes: expected, chunks: stream)
    }
}

private let url = URL(string: "test:a")!
private let chunks = [Data("GROW".utf8), Data(), Data("ING ".utf8), Data("UP".utf8)]

@Suite("Loaders of chunks", .timeLimited)
struct ImageStreamingTests {
    private func failure(_ loader: some ImageLoading) async -> ImageError? {
        do throws(ImageError) {
            _ = try await loader.load(LoadRequest(url: url))
            return nil
        } catch {
            return error
        }
    }

    @Test("The chunks are collected, and reported as they come", .capability("DLR-43", "PLG-04"), arguments: [10, nil])
    func collected(expected: Int?) async throws {
        let reports = Watched<[LoadProgress]>([])
        let request = LoadRequest(url: url) { report in reports.update { $0.append(report) } }
        let loaded = try await ChunkLoader(expected: expected, chunks: chunks).load(request)
        #expect(loaded.data == Data("GROWING UP".utf8))
        #expect(loaded.mimeType == "image/x-growing" && loaded.validators?.entityTag == "\"1\"")
        #expect(reports.value.map(\.receivedBytes) == [0, 4, 8, 10])
        #expect(reports.value.map(\.expectedBytes) == [expected, expected, expected, expected])
        #expect(reports.value.map(\.chunk).reduce(Data(), +) == loaded.data)
    }

    @Test("Too many, too few, and no bytes are errors, and so is whatever the stream throws")
    func failures() async {
        struct Broken: Error {}
        #expect(await failure(ChunkLoader(expected: 9, chunks: chunks))?.code == .incompleteBody)
        #expect(await failure(ChunkLoader(expected: 11, chunks: chunks))?.code == .incompleteBody)
        #expect(await failure(ChunkLoader(chunks: []))?.code == .emptyBody)
        #expect(await failure(ChunkLoader(maximumBytes: 9, chunks: chunks))?.code == .bodyTooLarge)
        #expect(await failure(ChunkLoader(maximumBytes: 9, expected: 10, chunks: []))?.code == .bodyTooLarge)
        let broken = await failure(ChunkLoader(failure: Broken(), chunks: chunks))
        #expect(broken?.code == .connectionFailed && broken?.underlying is Broken && broken?.source == "test:a")
        let other = await failure(ChunkLoader(failure: CancellationError(), chunks: chunks))
        #expect(other?.code == .connectionFailed, "nobody canceled this load")
        let own = ImageError(.timedOut, stage: .load, reason: "slow")
        #expect(await failure(ChunkLoader(failure: own, chunks: chunks))?.code == .timedOut)
        #expect(ChunkLoader(chunks: []).canLoad(url) && !ChunkLoader(chunks: []).canLoad(URL(string: "http://a")!))
    }

    @Test("Decoders read the buffer in which the chunks are collected", .capability("DLR-27"))
    func progressive() async throws {
        let coder = GrowingCoder()
        let cache = ImageCache()
        let manager = ImageManager(
            cache: cache, loader: ChunkLoader(expected: 10, chunks: chunks), coders: ImageCoders([coder]))
        let budget = DecodeBudget(limit: .megabytes(10))
        manager.configuration.budget = budget
        var request = ImageRequest(url)
        request.isProgressive = true
        #expect(try await manager.image(for: request).byteCount == 10)
        let counts = coder.counts.value
        #expect(counts.decodes + counts.finishes == 1 && (counts.appended == 10 || counts.decodes == 1))
        while budget.statistics.bodyBytes > 0 { await Task.yield() }
    }
}

@Suite("Arriving bytes", .timeLimited)
struct ArrivingBytesTests {
    @Test("Views keep their bytes while the buffer grows", arguments: [nil, 3, 1_000_000])
    func views(expected: Int?) {
        let bytes = ArrivingBytes(expected: expected)
        var views: [Data] = []
        var all = Data()
        for count in [0, 1, 5, 100, 70_000, 1, 200_000, 3] {
            let chunk = Data(repeating: UInt8(truncatingIfNeeded: count), count: count)
            #expect(bytes.append(chunk))
            all += chunk
            views.append(bytes.data)
            #expect(bytes.count == all.count && views.last == all)
        }
        for view in views { #expect(view == all.prefix(view.count)) }
        #expect(bytes.copy(1..<7) == all[1..<7] && bytes.copy(0..<10_000_000) == all)
        #expect(bytes.takeData() == all && bytes.count == 0 && bytes.data.isEmpty)
        #expect(views.last == all, "a view outlives the buffer")
    }

    @Test("Without a view, growing and handing over move no byte that is large")
    func unique() {
        let bytes = ArrivingBytes(expected: 100)
        #expect(bytes.append(Data(repeating: 7, count: 300)))
        #expect(bytes.takeData() == Data(repeating: 7, count: 300))
        #expect(bytes.append(Data([1])) && bytes.takeData() == Data([1]))
        #expect(ArrivingBytes(expected: .max).count == 0)
    }

    @Test("Bytes of a second attempt go on where those of the first ended, or end the previews")
    func attempts() {
        let first = ArrivingBytes()
        let arriving = ArrivingData()
        _ = first.append(Data("abcd".utf8))
        arriving.share(first)
        #expect(arriving.data == Data("abcd".utf8) && arriving.isAll(of: Data("abcd".utf8)))
        let second = ArrivingBytes()
        _ = second.append(Data("ab".utf8))
        arriving.share(second)
        #expect(arriving.data == Data("abcd".utf8))
        _ = second.append(Data("cdef".utf8))
        arriving.share(second)
        #expect(arriving.data == Data("abcdef".utf8) && arriving.isAll(of: Data("abcdef".utf8)))
        let other = ArrivingBytes()
        _ = other.append(Data("abcdeX".utf8))
        arriving.share(other)
        #expect(arriving.data.isEmpty && !arriving.isAll(of: Data("abcdef".utf8)))
    }

    @Test("Reported chunks that aren't the bytes of the answer don't stand for them")
    func otherChunks() {
        let arriving = ArrivingData()
        arriving.append(LoadProgress(chunk: Data("abcd".utf8), receivedBytes: 4, expectedBytes: 4))
        #expect(arriving.isAll(of: Data("abcd".utf8)) && !arriving.isAll(of: Data("abcX".utf8)))
        let handedOver = ArrivingBytes()
        _ = handedOver.append(Data("abcd".utf8))
        let shared = ArrivingData()
        shared.share(handedOver)
        #expect(shared.isAll(of: handedOver.takeData()))
    }
}
