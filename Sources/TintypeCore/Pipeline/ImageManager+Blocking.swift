/// Loads for code that cannot wait asynchronously, such as a callback from C.
extension ImageManager {
    /// A load that is waited for on the calling thread. An image in memory is returned at once.
    ///
    /// With ``ImageOptions/fromCacheOnly`` no longer than the disk takes, so that a view has its image with its first frame.
    /// Nothing is ever done on the thread of an actor, so the main thread may wait too.
    /// - Throws: ``ImageError``, as a load does.
    @available(*, noasync, message: "this blocks a thread; await load(_:)")
    public func loadBlocking(_ request: ImageRequest) throws(ImageError) -> ImageResult {
        let start = ContinuousClock.now
        let request = prepared(request)
        let key = key(forPrepared: request)
        if !request.options.contains(.queryMemoryData), let image = memoryHit(request, key: key) {
            return Self.memoryResult(image, request, key: key, start: start)
        }
        return try blocking { [self] () -> Result<ImageResult, ImageError> in
            do throws(ImageError) {
                return .success(try await perform(request, priority: WorkPriority(request.priority)))
            } catch {
                return .failure(error)
            }
        }.get()
    }
}
