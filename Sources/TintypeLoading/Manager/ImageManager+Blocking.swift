internal import FoundationEssentials

/// Loads for code that can't suspend, such as a callback from C.
extension ImageManager {
    /// Loads an image while the calling thread waits. An image in memory is returned at once.
    ///
    /// With ``CachePolicy/cacheOnly``, the call waits only for the disk, or for memory that other loads use, so that a view can have its
    /// image in its first frame. The main thread may wait, too, outside of tasks, because no work waits for it.
    /// - Parameter request: the request.
    /// - Throws: ``ImageError``, as ``load(_:)-(ImageRequest)`` does. An image that isn't in memory is an error,
    ///   ``ImageError/Code/invalidRequest``, on threads that the load itself may need: in every Swift task, and on the threads of every
    ///   ``WorkQueue``, which call coders, transformers, and closures of caches.
    @available(*, noasync, message: "this blocks a thread; await load(_:)")
    public func loadBlocking(_ request: ImageRequest) throws(ImageError) -> ImageResult {
        let (request, environment) = prepared(request)
        if !request.cache.queriesData {
            let start = ContinuousClock.now
            let key = environment.key(for: request)
            if let hit = environment.memoryHit(request, key: key) {
                var result = Self.memoryResult(hit, request, key: key)
                result.metrics.total = ContinuousClock.now - start
                return result
            }
        }
        guard withUnsafeCurrentTask(body: { $0 == nil }), !WorkQueue.isAnyCurrent else {
            throw ImageError(
                .invalidRequest, stage: .request,
                reason: "a blocking load was called on a thread that the load itself may need; await load(_:) instead")
        }
        return try blocking {
            await Result { () async throws(ImageError) in try await Self.result(request, environment) }
        }.get()
    }
}
