internal import FoundationEssentials

/// A load of bytes that are not decoded, shared by all requests with its key.
struct DataLoad: Sendable {
    private let request: ImageRequest
    let key: ImageLoadKey
    private let environment: LoadEnvironment
    private let trace: LoadTrace

    init(_ request: ImageRequest, environment: LoadEnvironment, trace: LoadTrace) {
        (self.request, self.environment, self.trace) = (request, environment, trace)
        var plain = request
        plain.transformer = nil
        let source = ImageKey(source: environment.source(of: request))
        var key = ImageLoad(plain, key: source, environment: environment, trace: trace).key
        key.queriesOtherVariants = false
        key.product = .bytes(formatHint: request.decode.formatHint)
        self.key = key
    }

    /// The wishes of the request.
    var wishes: LoadWishes {
        var layers: StoredLayers = environment.storesOriginal(request) ? .originalOnDisk : []
        // Memory gets no bytes, but new ones remove the old images there.
        if request.storesAnything { layers.insert(.imageInMemory) }
        return LoadWishes(priority: request.priority, layers: layers, lifetime: request.cache.lifetime)
    }

    /// The bytes as this request's result.
    func image() async throws(ImageError) -> EncodedImage {
        let value = try await environment.shared.work.value(.image(key), wishes, .data(self))
        guard case .data(let output) = value else { throw .cancelled }  // Never: the key stands for bytes.
        var metrics = ImageMetrics(of: trace, output.bytes)
        metrics.decode = output.time.asPart(of: trace.id)
        metrics.bytes = output.data.count
        return EncodedImage(
            data: output.data, info: output.info, source: output.source, freshness: output.freshness,
            url: request.url, key: key.image, mimeType: output.mimeType, metrics: metrics,
            storeError: request.cache.waitsForStore ? try await environment.firstError(of: output.stores.writes) : nil,
            response: output.bytes.entry.answer)
    }

    func run(_ job: LoadWork.Job) async throws(ImageError) -> DataOutput {
        let source = SourceLoad(
            environment, request, key: key.fetch, decoding: .init(request, by: environment.ownCoder, isHeader: true),
            for: request, trace: trace)
        let result = try await source.value(for: job) { bytes throws(ImageError) in
            let hint =
                request.decode.formatHint
                ?? ImageFormat.hint(fileName: request.url.fileName, mimeType: bytes.entry.mimeType)
            var encoded: DiskCacheEntry?
            if let image = bytes.image {
                encoded = try await environment.encodedEntry(image, options: EncodeOptions(), priority: job.priority)
            }
            let data = encoded?.data ?? bytes.data
            let (info, time) = try await environment.observe(.decode, of: trace) { () throws(ImageError) in
                try await environment.info(of: data, of: request.url, formatHint: hint, priority: job.priority)
            }
            return DataOutput(bytes: bytes, encoded: encoded, info: info, time: time)
        }
        var output = result.value
        (output.source, output.freshness) = (result.source, result.freshness)
        return output
    }

    func store(_ output: DataOutput, _ wishes: LoadWishes) async {
        // A part of an image replaces nothing.
        guard output.bytes.image?.isPartial != true else { return }
        await environment.replaceVariants(with: output.bytes) { await keep(output, wishes) }
    }

    private func keep(_ output: DataOutput, _ wishes: LoadWishes) async {
        guard wishes.layers.contains(.originalOnDisk), output.bytes.needsStoring,
            environment.mayStore(output.bytes.entry.answer, for: request)
        else { return }
        let write = await environment.storeOriginal(
            output.bytes, of: nil, isWhole: false, for: request, fetch: output.bytes.fetch ?? key.fetch,
            lifetime: wishes.lifetime, trace: trace)
        output.stores.add(write)
    }
}

/// The bytes of a load, and the facts in their header.
struct DataOutput: Sendable {
    var bytes: SourceBytes
    /// The bytes that a coder made of the image of a loader that has none.
    var encoded: DiskCacheEntry?
    var info: ImageInfo
    var source = ImageOrigin.network
    var freshness = Freshness.cached
    /// The time that reading the header took.
    var time: StageTime
    let stores = OutputStores()

    var data: Data { encoded?.data ?? bytes.data }
    var mimeType: String? { encoded?.mimeType ?? bytes.entry.mimeType }
}
