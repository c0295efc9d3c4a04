internal import FoundationEssentials

/// A load of bytes that are not decoded, shared by all requests with its key.
struct DataLoad: Sendable {
    private let request: ImageRequest
    private let key: ImageLoadKey
    private let environment: LoadEnvironment
    private let trace: LoadTrace

    init(_ request: ImageRequest, environment: LoadEnvironment, trace: LoadTrace) {
        self.request = request
        self.trace = trace
        self.environment = environment
        var plain = request
        plain.transformer = nil
        let source = ImageKey(source: environment.source(of: request))
        var key = ImageLoad(plain, key: source, environment: environment, trace: trace).key
        key.queriesOtherVariants = false
        key.product = .bytes(formatHint: request.decode.formatHint)
        self.key = key
    }

    /// The bytes as this request's result.
    func image() async throws(ImageError) -> EncodedImage {
        let work = LoadWork.Work { [self] job async throws(ImageError) in
            .data(try await run(job))
        } store: { [self] value, wishes in
            if case .data(let output) = value { await store(output, wishes) }
        }
        let wishes = LoadWishes(
            layers: environment.storesOriginal(request) ? .originalOnDisk : [], lifetime: request.cache.lifetime)
        let value = try await environment.shared.work.value(
            .image(key), wishes, priority: LoadPriority(request.priority), work)
        guard case .data(let output) = value else { throw .cancelled }  // Never: the key stands for bytes.
        var image = EncodedImage(
            data: output.data, info: output.info, source: output.bytes.source, url: request.url,
            key: key.image, mimeType: output.mimeType)
        image.freshness = output.freshness
        image.response = output.bytes.entry.response
        image.storeError = request.cache.waitsForStore ? await output.writes.error : nil
        image.metrics.requestID = trace.id
        image.metrics.shared = output.bytes.sharedStages(with: trace.id, decodedBy: output.decodedBy)
        image.metrics.disk = output.bytes.diskTime
        image.metrics.load = output.bytes.loadTime
        image.metrics.decode = output.time
        image.metrics.bytes = output.data.count
        image.metrics.networkProtocol = output.bytes.response?.networkProtocol
        return image
    }

    private func run(_ job: LoadWork.Job) async throws(ImageError) -> DataOutput {
        let fetch = SourceFetch(environment: environment, request: request, key: key.fetch, trace: trace)
        let source = SourceLoad(
            fetch, decoding: .init(request, by: environment.ownCoder, isHeader: true), for: request)
        let steps = SourceLoad.Steps<Header>(
            decode: { bytes throws(ImageError) in
                let hint =
                    request.decode.formatHint
                    ?? ImageFormat.hint(fileName: request.url.lastPathComponent, mimeType: bytes.entry.mimeType)
                var encoded: DiskCacheEntry?
                if let image = bytes.image {
                    encoded = try await environment.encodedEntry(
                        image, options: EncodeOptions(), priority: job.priority)
                }
                let data = encoded?.data ?? bytes.data
                let (info, time) = try await environment.observe(.decode, of: trace) { () throws(ImageError) in
                    try await environment.info(
                        of: data, of: request.url, formatHint: hint, priority: job.priority)
                }
                return Header(info: info, time: time, encoded: encoded)
            }, onUpdate: { _ in })
        let result = try await source.value(steps, for: job)
        return DataOutput(
            bytes: result.bytes, encoded: result.value.encoded, info: result.value.info, freshness: result.freshness,
            time: result.value.time,
            decodedBy: trace.id)
    }

    private struct Header: Sendable {
        var info: ImageInfo
        var time: StageTime
        var encoded: DiskCacheEntry?
    }

    private func store(_ output: DataOutput, _ wishes: LoadWishes) async {
        guard wishes.layers.contains(.originalOnDisk), output.bytes.needsStoring,
            environment.mayStore(output.bytes.entry.response, for: request)
        else { return }
        let write = await environment.storeOriginal(
            output.bytes, of: nil, isWhole: false, for: request, fetch: key.fetch, lifetime: wishes.lifetime,
            trace: trace)
        output.writes.append(write)
    }
}

/// The bytes of a load, and the facts in their header.
struct DataOutput: Sendable {
    var bytes: SourceBytes
    /// The bytes that a coder made of the image of a loader that has none.
    var encoded: DiskCacheEntry?
    var info: ImageInfo
    var freshness: Freshness
    /// The time that reading the header took.
    var time: StageTime
    /// The number of the load that read the header.
    var decodedBy: Int
    /// The writes to disk that the load started.
    let writes = DiskWrites()

    var data: Data { encoded?.data ?? bytes.data }
    var mimeType: String? { encoded?.mimeType ?? bytes.entry.mimeType }
}
