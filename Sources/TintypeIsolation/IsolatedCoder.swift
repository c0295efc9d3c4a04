internal import FoundationEssentials
internal import TintypeImages

/// A coder that is isolated already.
protocol IsolatingCoder: PreparingImageCoder {
    associatedtype Base: ImageCoder
    /// The coder of the same formats in this process.
    var base: Base { get }
}

/// Decodes another coder's formats in a separate process, and encodes as that coder does.
struct IsolatedCoder<Base: ImageCoder>: IsolatingCoder {
    let base: Base
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
        if let start = Self.headerStart(of: data) {
            do throws(ImageError) {
                let info = try header(of: start, context)
                // The frames of an animation are counted to the end.
                if info.isComplete { return info }
            } catch {
                guard error.code == .truncatedImage else { throw error }
            }
        }
        return try header(of: data, context)
    }

    /// Returns the part of a large file that tells as much as the whole file, unless it breaks off in the header, or is an animation; `nil` for
    /// other formats.
    static func headerStart(of data: Data) -> Data? {
        let most = 64 << 10
        // A JPEG XL file without boxes has no metadata. Files of the other formats may have it anywhere.
        return data.count > 2 * most && data.starts(with: [0xFF, 0x0A]) ? data.prefix(most) : nil
    }

    private func header(of data: Data, _ context: ProcessingContext) throws(ImageError) -> ImageInfo {
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
        let request = request(data, options, context)
        let decoded = try pool.withWorker(about: request, context) { worker throws(WorkerConversation.Failure) in
            guard case .layout(var image) = try worker.ask(.decode(request), about: SharedMemory(data)) else {
                throw .nonsense
            }
            image.properties.decodeOptions = options
            let pixels = try worker.frame(image).pixels
            image.animation?.metadata = image.properties.metadata
            return (Image(pixels: pixels, properties: image.properties), header: image.animation)
        }
        guard let (image, header) = decoded else { return try base.decode(data, options: options, context: context) }
        guard let header, let coder = self as? any AnimatedImageCoder else { return image }
        return image.animated(by: coder, data, header, options: options, context)
    }

    /// Returns the request to a worker, whose bytes come in shared memory.
    private func request(_ data: Data, _ options: DecodeOptions, _ context: ProcessingContext) -> WireRequest {
        let formats = decodableFormats.sorted { $0.rawValue < $1.rawValue }
        var options = options
        options.formatSettings = FormatSettings()
        // A camera file doesn't tell its format.
        if formats.count == 1 { options.formatHint = options.formatHint ?? formats.first }
        var limits = context.limits
        limits.maximumFrames = min(limits.maximumFrames, WireContent.maximumFrames)
        return WireRequest(byteCount: data.count, formats: formats, options: options, limits: limits)
    }
}

/// Reads the frames of an animation in a process of its own.
extension IsolatedCoder: AnimatedImageCoder where Base: AnimatedImageCoder {
    func frameDecoder(
        for data: Data, options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) -> any FrameDecoder {
        let request = request(data, options, context)
        guard let worker = try pool.take(context) else {
            return try base.frameDecoder(for: data, options: options, context: context)
        }
        do throws(ImageError) {
            return try pool.converse(with: worker, about: request, context) {
                conversation throws(WorkerConversation.Failure) in
                guard case .opened(let info, let size) = try conversation.ask(.open(request), about: SharedMemory(data))
                else { throw .nonsense }
                return IsolatedFrameDecoder(info: info, outputSize: size, about: request, worker, pool, context)
            }
        } catch {
            pool.keep(worker)
            throw error
        }
    }
}
