internal import FoundationEssentials
internal import Logging

/// The use of a source's bytes by a job: gets them from a fetch, and has them decoded. Loads of images and of bytes have this in common.
struct SourceLoad: Sendable {
    private let environment: LoadEnvironment
    /// The request for the bytes.
    private let fetched: ImageRequest
    private var key: FetchKey
    private let trace: LoadTrace
    /// The way of decoding; failures are remembered separately for each.
    private let decoding: FailureMemory.Decoding
    /// The request of the caller, which a refresh in the background repeats.
    private let request: ImageRequest

    init(
        _ environment: LoadEnvironment, _ fetched: ImageRequest, key: FetchKey, decoding: FailureMemory.Decoding,
        for request: ImageRequest, trace: LoadTrace
    ) {
        (self.environment, self.fetched, self.key, self.trace) = (environment, fetched, key, trace)
        (self.decoding, self.request) = (decoding, request)
        let now = environment.configuration.now()
        let (decodeFailed, hasFailed) = environment.shared.failures.withLock { failures in
            let decodeFailed = failures.failure(of: key.failure(decoding), at: now) != nil
            return (decodeFailed, decodeFailed || failures.failure(of: key.failure(), at: now) != nil)
        }
        if decodeFailed { self.key.failedDecoding = decoding }
        // Where nothing has failed, there is nothing that separates it from other loads.
        self.key.retriesFailed = key.retriesFailed && hasFailed
    }

    /// The decoded value of a source.
    struct Result<Value: Sendable>: Sendable {
        var value: Value
        var bytes: SourceBytes
        var freshness: Freshness
        /// The disk for bytes that came before the load started, and that it has or is about to have.
        var source: ImageOrigin
    }

    /// Returns the value of the original, or of another variant on disk.
    /// - Parameters:
    ///   - onUpdate: Receives the steps of the fetch.
    ///   - substitute: Makes the value of something else on disk, where the disk has no original that is of use.
    ///   - decode: Decodes the bytes. It waits for no transfer.
    func value<Value>(
        for job: LoadWork.Job, onUpdate: LoadWork.OnUpdate? = nil,
        substitute: () async throws(ImageError) -> Result<Value>? = { () throws(ImageError) in nil },
        decode: (SourceBytes) async throws(ImageError) -> Value
    ) async throws(ImageError) -> Result<Value> {
        if let substitute = try await substitute() { return substitute }
        let fetch = SourceFetch(environment, fetched, key: key, trace: trace)
        var value: LoadValue? = try await job.value(.fetch(key), onUpdate: onUpdate, .fetch(fetch))
        if isTooOld(value) {
            value = nil  // No bytes are held during the transfer.
            value = try await job.value(.fetch(key), joinsEnded: false, onUpdate: onUpdate, .fetch(fetch))
        }
        guard case .fetch(let fetched) = value else { throw .cancelled }  // Never: the key stands for a fetch.
        let bytes = fetched.bytes
        do throws(ImageError) {
            let value = try await bytes.decoding { () throws(ImageError) in try await decode(bytes) }
            if fetched.isAnswer { environment.shared.failures.withLock { $0.remove(key.failure(decoding)) } }
            if case .stale(.revalidating) = fetched.freshness, !Task.isCancelled { revalidateInBackground() }
            guard key.policy == .cacheFirst, key.queriesDisk, environment.storesOriginal(request),
                fetched.end < trace.start
            else { return Result(value: value, bytes: bytes, freshness: fetched.freshness, source: bytes.source) }
            return Result(value: value, bytes: bytes, freshness: .cached, source: .disk)
        } catch {
            guard bytes.source == .disk else {
                environment.remember(error, of: self.fetched.url, as: key.failure(decoding))
                // What came is no image, or a part of one, such as the page of a hotel's network.
                guard bytes.replacesCached,
                    error.code == .unknownFormat || EntryCoder.shouldDiscardEntry(after: error),
                    let outdated = await fetch.cachedBytes(priority: job.priority),
                    environment.mayUse(outdated.entry.answer, after: error, of: self.fetched),
                    let value = try? await outdated.decoding({ () throws(ImageError) in try await decode(outdated) })
                else { throw error }
                return Result(value: value, bytes: outdated, freshness: .stale(.failed(error)), source: .disk)
            }
            // The source may have better bytes than the disk.
            guard key.queriesDisk, await discardIfUseless(after: error) else { throw error }
            var again = self
            again.key.queriesDisk = false
            guard key.policy != .cacheOnly else {
                if let substitute = try await substitute() { return substitute }
                throw error
            }
            return try await again.value(for: job, onUpdate: onUpdate, substitute: substitute, decode: decode)
        }
    }

    /// True for the value of a fetch that ended before the load started, if its source has to be asked.
    private func isTooOld(_ value: LoadValue?) -> Bool {
        guard case .fetch(let old) = value else { return false }
        return old.end < trace.start && environment.asksSource(about: old, for: fetched)
    }

    private func revalidateInBackground() {
        guard decoding.isHeader else { return environment.revalidateInBackground(request) }
        environment.revalidateInBackground(request) { request, trace in
            let load = DataLoad(request, environment: environment, trace: trace)
            return (Revalidation(key: load.key, wishes: load.wishes), .data(load))
        }
    }

    /// Discards a cached original that is damaged. True if it is of no use, and the source may have a better entry.
    ///
    /// A failure of a copy's own coders says nothing about the entry: another manager's coders may well read it.
    private func discardIfUseless(after error: ImageError) async -> Bool {
        guard decoding.coder == nil else { return false }
        guard EntryCoder.shouldDiscardEntry(after: error) else { return error.code == .unknownFormat }
        environment.configuration.logger.warning(
            "discarded a cached image that couldn't be decoded: \(key.original): \(error.reason)")
        await environment.originals.discard(key.original, since: key.removals.originals)
        return true
    }
}
