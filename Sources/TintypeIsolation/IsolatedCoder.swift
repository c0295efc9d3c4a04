internal import FoundationEssentials
internal import TintypeImages

/// Decodes another coder's formats in a separate process, and encodes as that coder does.
struct IsolatedCoder: IsolatingCoder {
    let base: any ImageCoder
    let pool: WorkerPool

    var identifier: String? { base.identifier }
    var decodableFormats: Set<ImageFormat> { base.decodableFormats }
    var encodableFormats: Set<ImageFormat> { base.encodableFormats }

    func canDecode(_ data: Data, format: ImageFormat?) -> Bool { base.canDecode(data, format: format) }
    func canEncode(_ format: ImageFormat) -> Bool { base.canEncode(format) }

    func prepare() { pool.prepare() }

    func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: ProcessingContext
    ) throws(ImageError) -> Data {
        try base.encode(image, as: format, options: options, context: context)
    }

    func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        let request = request(data, DecodeOptions(), context)
        let info = try pool.withWorker(about: request, context) { worker throws(WorkerConversation.Failure) in
            guard case .info(let info) = try worker.ask(.info(request), about: SharedMemory(data)) else {
                throw .nonsense
            }
            return info
        }
        if let info { return info }
        return try base.info(of: data, context: context)
    }

    func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        try firstFrame(data, options: options, context: context).image
    }

    /// Returns the image, or the first frame with the header of its animation.
    func firstFrame(
        _ data: Data, options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) -> (image: Image, animation: ImageInfo?) {
        let request = request(data, options, context)
        let decoded = try pool.withWorker(about: request, context) { worker throws(WorkerConversation.Failure) in
            guard case .layout(let image) = try worker.ask(.decode(request), about: SharedMemory(data)) else {
                throw .nonsense
            }
            var properties = image.properties
            properties.decodeOptions = options
            guard let frame = try worker.frames(image).first else { throw .nonsense }
            return (Image(pixels: frame.pixels, properties: properties), image.animation)
        }
        if let decoded { return decoded }
        return (try base.decode(data, options: options, context: context), nil)
    }

    /// Returns the request to a worker, whose bytes come in shared memory.
    func request(_ data: Data, _ options: DecodeOptions, _ context: ProcessingContext) -> WireRequest {
        WireRequest(
            byteCount: data.count, formats: decodableFormats.sorted { $0.rawValue < $1.rawValue }, options: options,
            limits: context.limits)
    }
}

/// Reads the frames of animations in processes of their own.
struct IsolatedAnimatedCoder: IsolatingCoder, AnimatedImageCoder {
    let coder: IsolatedCoder
    let animated: any AnimatedImageCoder

    var base: any ImageCoder { animated }
    var identifier: String? { coder.identifier }
    var decodableFormats: Set<ImageFormat> { coder.decodableFormats }
    var encodableFormats: Set<ImageFormat> { coder.encodableFormats }

    func canDecode(_ data: Data, format: ImageFormat?) -> Bool { coder.canDecode(data, format: format) }
    func canEncode(_ format: ImageFormat) -> Bool { coder.canEncode(format) }

    func prepare() { coder.prepare() }

    func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: ProcessingContext
    ) throws(ImageError) -> Data {
        try coder.encode(image, as: format, options: options, context: context)
    }

    func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        try coder.info(of: data, context: context)
    }

    func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        // Without a worker, the coder in this process has made the animation.
        let (image, info) = try coder.firstFrame(data, options: options, context: context)
        return info.map { image.animated(by: self, data, $0, options: options, context) } ?? image
    }

    func frameDecoder(
        for data: Data, options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) -> any FrameDecoder {
        let (pool, request) = (coder.pool, coder.request(data, options, context))
        guard let worker = try pool.take(context) else {
            return try animated.frameDecoder(for: data, options: options, context: context)
        }
        let (result, isUsable) = pool.converse(with: worker, about: request, context) {
            conversation throws(WorkerConversation.Failure) in
            guard case .opened(let info, let size) = try conversation.ask(.open(request), about: SharedMemory(data))
            else { throw .nonsense }
            return IsolatedFrameDecoder(info: info, outputSize: size, about: request, worker, pool, context)
        }
        if case .failure = result, isUsable { pool.keep(worker) }
        return try result.get()
    }
}
