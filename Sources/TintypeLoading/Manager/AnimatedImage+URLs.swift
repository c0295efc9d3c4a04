public import FoundationEssentials

extension AnimatedImage {
    /// Creates an animation of the images at several URLs, which a manager loads concurrently. All frames stay in memory.
    /// - Parameters:
    ///   - urls: the URLs, in the order of the frames. An animated image contributes its first frame.
    ///   - durations: the duration of each frame; zero counts as 100 ms. URLs beyond the end of the array use the last duration.
    ///   - loopCount: the number of plays; 0 to repeat the animation forever.
    ///   - manager: the manager that loads the images.
    /// - Throws: the ``ImageError`` of a load that fails, which cancels the others; ``ImageError/Code/invalidRequest`` without URLs or
    ///   durations, and for images of different sizes in pixels.
    public convenience init(
        urls: [URL], durations: [Duration], loopCount: Int = 0, manager: ImageManager
    ) async throws(ImageError) {
        guard !urls.isEmpty, !durations.isEmpty else {
            try self.init(images: [], durations: durations)
            return
        }
        let results = await withTaskGroup(of: (Int, Result<Image, ImageError>).self) { group in
            for (index, url) in urls.enumerated() {
                group.addTask {
                    // Optimized, Swift 6.3 loses the index of a tuple that is made within the block.
                    let result = await Result { () async throws(ImageError) in try await manager.image(for: url) }
                    return (index, result)
                }
            }
            var results: [Int: Result<Image, ImageError>] = [:]
            for await (index, result) in group {
                results[index] = result
                if case .failure = result { break }
            }
            group.cancelAll()
            return results
        }
        for case .failure(let error) in results.values { throw error }
        var images: [Image] = []
        for index in urls.indices { if let result = results[index] { images.append(try result.get()) } }
        try self.init(images: images, durations: durations, loopCount: loopCount)
    }
}
