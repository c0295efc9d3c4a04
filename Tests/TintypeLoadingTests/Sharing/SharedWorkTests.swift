import TestSupport
import Testing

@testable import TestDoubles
@testable import TintypeImages
@testable import TintypeLoading

@Suite("Shared work: tasks", .timeLimited)
struct SharedWorkTests {
    enum Key: Hashable, Sendable { case image(Int, Int), fetch(Int) }
    typealias Work = ClosureJob<Key, Int>

    private struct WeakBuffer {
        weak var buffer: PixelBuffer?
    }

    @Test("The keys, values, and updates of a manager's jobs are small, because the table copies them again and again")
    func sizes() {
        // Large ones once took a quarter of a load's instructions.
        #expect(MemoryLayout<LoadKey>.size <= 16 && MemoryLayout<LoadValue>.size <= 16)
        #expect(MemoryLayout<LoadUpdate>.size <= 16 && MemoryLayout<LoadWork.Outcome>.size <= 96)
    }

    @Test("A caller that was cancelled before it joined begins no work", .capability("DLR-17"))
    func cancelledBefore() async {
        let work = SharedWork<ClosureJob<Key, Int>>()
        let begun = Lock(false)
        let task = Task { () -> ImageError? in
            while !Task.isCancelled { await Task.yield() }
            do throws(ImageError) {
                _ = try await work.value(
                    .fetch(1), LoadWishes(),
                    Work { _ async throws(ImageError) in
                        begun.withLock { $0 = true }
                        return 1
                    })
                return nil
            } catch {
                return error
            }
        }
        task.cancel()
        #expect(await task.value?.code == .cancelled)
        #expect(!begun.withLock { $0 } && work.isIdle)
    }

    @Test("The priority of a caller reaches the jobs that its job needs, at every change", .capability("3.11"))
    func priorities() async throws {
        let work = SharedWork<ClosureJob<Key, Int>>()
        let gate = AsyncGate()
        let seen = Lock<WorkPriority?>(nil)
        let priority = WorkPriority(.low)
        let fetch = Work { job async throws(ImageError) in
            seen.withLock { $0 = job.priority }
            await gate.wait()
            return 1
        }
        let first = Task {
            try await work.value(
                .image(1, 1), LoadWishes(), following: priority,
                Work { job async throws(ImageError) in try await job.value(.fetch(1), fetch) })
        }
        while seen.withLock({ $0 == nil }) { await Task.yield() }
        #expect(seen.withLock { $0?.value } == .low)
        priority.value = .veryHigh
        #expect(seen.withLock { $0?.value } == .veryHigh)
        let second = Task {
            try await work.value(
                .image(1, 2), LoadWishes(priority: .high),
                Work { job async throws(ImageError) in try await job.value(.fetch(1), fetch) })
        }
        while work.waiting[.fetch(1)] != 2 { await Task.yield() }
        priority.value = .veryLow
        #expect(seen.withLock { $0?.value } == .high)
        second.cancel()
        _ = await second.result
        #expect(seen.withLock { $0?.value } == .veryLow)
        gate.open()
        #expect(try await first.value == 1)
    }

    @Test("A job that has ended, and whose value others use, holds no updates, whose bytes would count in a budget")
    func updatesOfKeptJobs() async throws {
        let work = SharedWork<ClosureJob<Key, Int>>()
        let shown = Lock(WeakBuffer())
        let gate = AsyncGate()
        let fetched = Lock(false)
        let fetch = Work { job async throws(ImageError) in
            let size = PixelSize(width: 4, height: 4)
            let image = Image(pixels: try MutablePixelBuffer(size: size, pool: PixelBufferPool(limit: 0)).freeze())
            shown.withLock { $0.buffer = image.pixels }
            job.publish(.preview(image))
            return 1
        } keeps: { _ in
            true
        }
        let user = Task {
            try await work.value(
                .image(1, 1), LoadWishes(),
                Work { job async throws(ImageError) in
                    let value = try await job.value(.fetch(1), fetch)
                    fetched.withLock { $0 = true }
                    await gate.wait()
                    return value
                })
        }
        while fetched.withLock({ !$0 }) { await Task.yield() }
        #expect(work.waiting[.fetch(1)] == nil && !work.isIdle)
        // The ending job releases them after its value has been passed on.
        for _ in 0..<10_000 where shown.withLock({ $0.buffer != nil }) { await Task.yield() }
        #expect(shown.withLock { $0.buffer == nil })
        gate.open()
        #expect(try await user.value == 1 && work.isIdle)
    }

    @Test("Of two jobs that ask at once whether their output may be cached, the first answer counts for both")
    func onePermission() {
        let stores = OutputStores()
        let outer = stores.mayBeCached {
            #expect(!stores.mayBeCached { false })
            return true
        }
        #expect(!outer)
        #expect(
            !stores.mayBeCached {
                Issue.record("asked again")
                return true
            })
    }

    @Test("Of several lifetimes the shortest of those who still wait counts")
    func lifetimes() {
        var (state, effects) = (SharedWorkState<Int>(), SharedWorkState<Int>.Effects())
        for (id, lifetime) in [(1, Duration?.none), (2, .seconds(60)), (3, .seconds(5))] {
            _ = state.join(7, as: id, LoadWishes(lifetime: lifetime), by: nil, &effects)
        }
        _ = state.join(8, as: 4, nil, by: 1, &effects)
        #expect(state.wishes(of: 1).lifetime == .seconds(5) && state.wishes(of: 4).lifetime == .seconds(5))
        state.leave(3, &effects)
        #expect(state.wishes(of: 1).lifetime == .seconds(60) && state.wishes(of: 4).lifetime == .seconds(60))
        state.leave(2, &effects)
        #expect(state.wishes(of: 1).lifetime == nil && state.wishes(of: 4).lifetime == nil)
    }

    @Test("Callers that come and go at random never get a cancellation of others, and nothing that they wish is lost")
    func stress() async {
        let work = SharedWork<ClosureJob<Key, Int>>()
        let stored = Lock<[Key: StoredLayers]>([:])
        let problems = Lock<[String]>([])
        for round in 0..<1_500 {
            await withTaskGroup(of: Void.self) { group in
                for caller in 0..<8 {
                    let cancels = (round * 7 + caller * 13) % 3 == 0
                    let url = 2 * round + caller % 2
                    let key = Key.image(url, caller % 4)
                    let wishes = LoadWishes(layers: StoredLayers(rawValue: UInt8((round + caller) % 16)))
                    let task = Task { () -> Result<Int, ImageError> in
                        do throws(ImageError) {
                            return .success(
                                try await work.value(
                                    key, wishes,
                                    Work { job async throws(ImageError) in
                                        if round % 2 == 0 { await Task.yield() }
                                        let bytes = try await job.value(
                                            .fetch(url),
                                            Work { _ async throws(ImageError) in
                                                for _ in 0..<round % 5 { await Task.yield() }
                                                if Task.isCancelled { throw .cancelled }
                                                return 7
                                            } keeps: { _ in
                                                true
                                            })
                                        if round % 3 == 0 { await Task.yield() }
                                        return bytes
                                    } store: { _, wishes in
                                        stored.withLock { $0[key, default: []].formUnion(wishes.layers) }
                                    }))
                        } catch { return .failure(error) }
                    }
                    if cancels {
                        group.addTask {
                            for _ in 0..<(round + caller) % 6 { await Task.yield() }
                            task.cancel()
                        }
                    }
                    group.addTask {
                        let outcome = await task.value
                        let layers = stored.withLock { $0[key] ?? [] }
                        if case .success = outcome {
                            if !wishes.layers.isSubset(of: layers) {
                                problems.withLock { $0.append("a store is lost") }
                            }
                        } else if !cancels {
                            problems.withLock { $0.append("caller \(caller) of round \(round): \(outcome)") }
                        }
                    }
                }
            }
        }
        for _ in 0..<1_000 where !work.isIdle { try? await Task.sleep(for: .milliseconds(1)) }
        #expect(problems.withLock { $0 } == [])
        #expect(work.isIdle)
    }
}
