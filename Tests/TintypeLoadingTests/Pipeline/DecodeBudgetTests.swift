import Foundation
import TestSupport
import Testing
import TintypeTesting

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeImages
@testable import TintypeLoading

/// Decodes anything into one pixel, over a bitmap that it reserves first; may be held while it has it.
private final class BulkyCoder: ProgressiveImageCoder {
    let side: Int
    let fails: Bool
    /// Whether decodes are held, how many are inside, and whose bytes have been decoded in what order.
    let holding = Watched((isClosed: false, inside: 0, order: [String]()))

    init(side: Int = 512, fails: Bool = false) {
        self.side = side
        self.fails = fails
    }

    var bytes: Int { PixelBufferPool.footprint(of: PixelSize(width: side, height: side)) }
    var decodableFormats: Set<ImageFormat> { [.dot] }
    func canDecode(_ data: Data, format: ImageFormat?) -> Bool { true }

    func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        ImageInfo(format: .dot, size: PixelSize(width: side, height: side), hasAlpha: false)
    }

    func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        let reservation = try context.reserve(bytes)
        defer { reservation.release() }
        var bitmap = try MutablePixelBuffer(size: PixelSize(width: side, height: side), pool: context.pool)
        bitmap.withUnsafeMutableBytes { $0[0] = 7 }
        holding.update {
            $0.inside += 1
            $0.order.append(String(decoding: data, as: UTF8.self))
        }
        defer { holding.update { $0.inside -= 1 } }
        while holding.value.isClosed { try context.checkCancellation() }
        if fails { throw ImageError(.corruptImage, stage: .decode, reason: "no") }
        return Image(pixels: try MutablePixelBuffer(size: PixelSize(width: 1, height: 1), cleared: true).freeze())
    }

    func progressiveDecoder(
        options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) -> any ProgressiveDecoder { Decoder(coder: self, context: context) }

    private final class Decoder: ProgressiveDecoder {
        let coder: BulkyCoder
        let context: ProcessingContext
        var reservation: DecodeReservation?

        init(coder: BulkyCoder, context: ProcessingContext) {
            self.coder = coder
            self.context = context
        }

        func append(_ chunk: Data) throws(ImageError) {
            if reservation == nil { reservation = try context.reserve(coder.bytes) }
        }

        func preview() throws(ImageError) -> Image? {
            Image(pixels: try MutablePixelBuffer(size: PixelSize(width: 1, height: 1), cleared: true).freeze())
                .with { $0.isPartial = true }
        }

        func finish() throws(ImageError) -> Image {
            guard let preview = try preview() else {
                throw ImageError(.corruptImage, stage: .decode, reason: "no preview")
            }
            return preview.with { $0.isPartial = false }
        }
    }
}

@Suite("The decode budget", .timeLimited)
struct DecodeBudgetTests {
    private let pool = PixelBufferPool(limit: 0)

    private func manager(
        _ coders: any ImageCoder, budget: DecodeBudget, width: Int = 4, loader: GatedLoader? = nil
    ) -> ImageManager {
        var configuration = ImageManager.Configuration()
        configuration.pool = pool
        configuration.budget = budget
        configuration.processing = WorkQueue(label: "test", width: width)
        return ImageManager(
            cache: DictionaryCache(), loader: loader ?? GatedLoader { .success(.dot($0.absoluteString)) },
            coders: coders, configuration: configuration)
    }

    private func url(_ number: Int) throws -> URL { try #require(URL(string: "test:\(number)")) }

    @Test("A hundred large images at once never take more than the budget", .capability("3.1"), arguments: [1, 3, 8])
    func hundred(width: Int) async throws {
        let coder = BulkyCoder()
        let limit = coder.bytes * 2 + coder.bytes / 2
        let budget = DecodeBudget(limit: ByteCount(limit))
        let manager = manager(coder, budget: budget, width: width)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                let url = try url(number)
                group.addTask { _ = try await manager.image(for: url) }
            }
            try await group.waitForAll()
        }
        #expect(pool.statistics.allocated == 100 && pool.statistics.usedBytes == 0)
        #expect(pool.statistics.peakBytes <= limit)
        let statistics = budget.statistics
        #expect(statistics.peakBytes <= limit && statistics.peakBytes >= coder.bytes)
        #expect(statistics.reservedBytes == 0 && statistics.decodes == 0 && statistics.waiting == 0)
    }

    @Test("An image larger than the whole budget is decoded, alone")
    func oversized() async throws {
        let coder = BulkyCoder()
        let budget = DecodeBudget(limit: ByteCount(coder.bytes / 3))
        let manager = manager(coder, budget: budget)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                let url = try url(number)
                group.addTask { _ = try await manager.image(for: url) }
            }
            try await group.waitForAll()
        }
        #expect(pool.statistics.peakBytes == coder.bytes && budget.statistics.reservedBytes == 0)
    }

    @Test("Who waits takes no thread, and gives up at once when cancelled")
    func cancelled() async throws {
        let coder = BulkyCoder()
        let budget = DecodeBudget(limit: ByteCount(coder.bytes))
        let manager = manager(coder, budget: budget)
        let holder = try #require(budget.tryReserve(coder.bytes))
        let task = manager.task(for: try url(1))
        let other = manager.task(for: try url(2))
        while budget.statistics.waiting < 2 || manager.configuration.processing.load.running > 0 { await Task.yield() }
        #expect(manager.configuration.processing.load == (0, 0))
        task.cancel()
        #expect(await task.result.failure?.code == .cancelled)
        while budget.statistics.waiting > 1 { await Task.yield() }
        holder.release()
        _ = try await other.image
        #expect(budget.statistics.reservedBytes == 0 && pool.statistics.allocated == 1)
    }

    @Test("The more urgent load has its turn first, also if it became so while it waited", .capability("3.11"))
    func urgent() async throws {
        let coder = BulkyCoder()
        let budget = DecodeBudget(limit: ByteCount(coder.bytes))
        let loader = GatedLoader { url in .success(LoadedData(data: Data(url.absoluteString.utf8), url: url)) }
        let manager = manager(coder, budget: budget, width: 1, loader: loader)
        let holder = try #require(budget.tryReserve(1))
        var tasks: [ImageTask] = []
        for number in 0..<3 {
            tasks.append(manager.task(for: try url(number)))
            while budget.statistics.waiting <= number { await Task.yield() }
        }
        tasks[2].priority = .veryHigh
        coder.holding.update { $0.isClosed = true }
        holder.release()
        // The first that is let in is inside now; the others wait for its memory.
        try await coder.holding.wait { $0.inside == 1 }
        #expect(budget.statistics.waiting == 2)
        coder.holding.update { $0.isClosed = false }
        for task in tasks { _ = try await task.image }
        #expect(coder.holding.value.order == ["test:2", "test:0", "test:1"])
    }

    @Test("A coder that fails lets the next one reserve what it needs, in one decode that never waits while it holds")
    func fallback() async throws {
        let (large, small) = (BulkyCoder(side: 600), BulkyCoder(side: 64, fails: true))
        let budget = DecodeBudget(limit: ByteCount(large.bytes))
        let manager = manager(ImageCoders([large, small]), budget: budget)
        let holder = try #require(budget.tryReserve(large.bytes - small.bytes))
        let task = manager.task(for: try url(1))
        // The small one fits beside the holder; then the large one does not, and what the small one had is given back.
        while budget.statistics.waiting == 0 { await Task.yield() }
        #expect(budget.statistics.reservedBytes == large.bytes - small.bytes)
        holder.release()
        _ = try await task.image
        #expect(budget.statistics.reservedBytes == 0)
        #expect(budget.statistics.peakBytes == large.bytes)
    }

    @Test("A coder that is called directly waits on its thread, and ends when nobody wants its image")
    func blocking() async throws {
        let coder = BulkyCoder()
        let budget = DecodeBudget(limit: ByteCount(coder.bytes))
        let holder = try #require(budget.tryReserve(1))
        let isCancelled = Lock(false)
        let pool = pool
        func decode(_ isCancelled: @escaping @Sendable () -> Bool) async throws -> Image {
            try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread {
                    continuation.resume(
                        with: Result {
                            try coder.decode(
                                Data(), options: DecodeOptions(),
                                context: ProcessingContext(pool: pool, budget: budget, isCancelled: isCancelled))
                        })
                }
            }
        }
        let given = Task { try await decode { isCancelled.withLock { $0 } } }
        let kept = Task { try await decode { false } }
        while budget.statistics.waiting < 2 { await Task.yield() }
        isCancelled.withLock { $0 = true }
        await #expect(throws: ImageError.self) { try await given.value }
        #expect(budget.statistics.waiting == 1)
        holder.release()
        _ = try await kept.value
        #expect(budget.statistics.reservedBytes == 0)
    }

    @Test("A coder that a task calls directly starts at once: decodes before it may need the task's thread")
    func directlyInATask() async throws {
        let coder = BulkyCoder()
        let budget = DecodeBudget(limit: ByteCount(coder.bytes))
        let holder = try #require(budget.tryReserve(1))
        // A wait would end with an error.
        let context = ProcessingContext(pool: pool, budget: budget) { budget.statistics.waiting > 0 }
        #expect(try coder.decode(Data(), options: DecodeOptions(), context: context).size.width == 1)
        #expect(budget.statistics.reservedBytes == 1 && budget.statistics.peakBytes == coder.bytes + 1)
        holder.release()
    }

    @Test("Previews get a quarter of the budget; without, there are none, and the image comes all the same")
    func previews() async throws {
        let coder = BulkyCoder()
        for (limit, hasPreview) in [(coder.bytes * 4, true), (coder.bytes * 3, false)] {
            let budget = DecodeBudget(limit: ByteCount(limit))
            let loader = GatedLoader()
            let manager = manager(coder, budget: budget, loader: loader)
            var request = ImageRequest(try url(1))
            request.isProgressive = true
            let task = manager.task(for: request)
            await loader.arrival(of: 1)
            loader.calls[0].request.receive(LoadProgress(chunk: Data("DO".utf8), receivedBytes: 2, expectedBytes: 5))
            if hasPreview {
                for await case .preview in task.events { break }
                #expect(budget.statistics.reservedBytes == coder.bytes && budget.statistics.decodes == 0)
            }
            loader.calls[0].request.receive(LoadProgress(chunk: Data("T 8".utf8), receivedBytes: 5, expectedBytes: 5))
            loader.answer(0, with: .success(.dot()))
            #expect(try await !task.image.isPartial)
            #expect(pool.statistics.allocated == (hasPreview ? 0 : 1))
            while budget.statistics.reservedBytes > 0 { await Task.yield() }
        }
    }

    @Test("The default is half of the memory that the program may use, and at least 256 MB")
    func defaultLimit() throws {
        let folder = try TemporaryDirectory()
        _ = try folder.write(Data("MemTotal: 8000000 kB\n".utf8), to: "proc/meminfo")
        #expect(DecodeBudget.defaultLimit(SystemMemory(root: folder.path)) == ByteCount(4_096_000_000))
        _ = try folder.write(Data("MemTotal: 200000 kB\n".utf8), to: "proc/meminfo")
        #expect(DecodeBudget.defaultLimit(SystemMemory(root: folder.path)) == ByteCount(256 << 20))
        #expect(DecodeBudget.defaultLimit(SystemMemory(root: folder.path + "/none")) == ByteCount(1 << 30))
        #expect(DecodeBudget.shared.limit.bytes >= 256 << 20)
        #expect(
            ProcessingContext().budget === DecodeBudget.shared
                && ImageManager.Configuration().budget === DecodeBudget.shared)
    }
}
