package import FoundationEssentials

/// Decodes cached entries, and encodes images for caches, the same way everywhere.
///
/// A manager makes its own from its configuration.
package struct EntryCoder: Sendable {
    /// The coders that read and write entries.
    package var coders: any ImageCoder
    /// The limits on the images that are decoded.
    package var limits = DecodeLimits()
    /// The memory that pixels are stored in.
    package var pool = PixelBufferPool.shared
    /// The memory that all decodes together may use.
    package var budget = DecodeBudget.shared
    /// The queue that decodes and encodes.
    package var processing = WorkQueue.processing
    /// The origin of the bytes, as in ``ProcessingContext/origin``.
    package var origin: String?

    package init(
        coders: any ImageCoder, limits: DecodeLimits = DecodeLimits(), pool: PixelBufferPool = .shared,
        budget: DecodeBudget = .shared, processing: WorkQueue = .processing
    ) {
        self.coders = coders
        self.limits = limits
        self.pool = pool
        self.budget = budget
        self.processing = processing
    }

    // MARK: Decoding

    /// Decodes an entry on the processing queue, once there is room for it in the budget.
    /// - Parameters:
    ///   - data: the encoded image.
    ///   - options: the options to decode with.
    ///   - priority: the priority of the work, which may change while it waits.
    /// - Returns: the decoded image.
    /// - Throws: ``ImageError`` of the coder, or ``ImageError/Code/cancelled``.
    package func decode(
        _ data: Data, options: DecodeOptions, priority: WorkPriority = WorkPriority()
    ) async throws(ImageError) -> Image {
        try await perform(priority: priority) { [coders] context throws(ImageError) in
            try coders.decode(data, options: options, context: context)
        }
    }

    /// Runs a decode on the processing queue, once there is room for it in the budget.
    package func perform<Value: Sendable>(
        priority: WorkPriority = WorkPriority(),
        _ work: @escaping @Sendable (ProcessingContext) throws(ImageError) -> Value
    ) async throws(ImageError) -> Value {
        try await processing.decode(
            limits: limits, pool: pool, budget: budget, priority: priority
        ) { [origin] context throws(ImageError) in
            var context = context
            context.origin = origin
            return try work(context)
        }
    }

    /// Returns true if a failure to decode proves that a cached entry is damaged, so that it can be discarded.
    ///
    /// Limits, lack of memory, a full budget, and cancellation say nothing about the entry. Neither does a missing coder:
    /// another program that shares the directory, or the same program with another configuration, may be able to read the format.
    package static func shouldDiscardEntry(after error: ImageError) -> Bool {
        [.corruptImage, .truncatedImage, .emptyBody].contains(error.code)
    }

    // MARK: Encoding

    /// Encodes an image for a cache, in the format that ``storageFormat(for:encodable:)`` chooses.
    ///
    /// High dynamic range is preserved if the format supports it, so that the image that is read back equals the stored image.
    /// - Parameters:
    ///   - image: the image to encode.
    ///   - options: the options to encode with.
    ///   - priority: the priority of the work, which may change while it waits.
    /// - Returns: the encoded image and its format.
    /// - Throws: ``ImageError/Code/encodeFailed``, ``ImageError/Code/formatNotEncodable`` or ``ImageError/Code/cancelled``.
    package func encode(
        _ image: Image, options: EncodeOptions = EncodeOptions(), priority: WorkPriority = WorkPriority()
    ) async throws(ImageError) -> (data: Data, format: ImageFormat) {
        let format = Self.storageFormat(for: image, encodable: coders.encodableFormats)
        var options = options
        if image.isHighDynamicRange { options.encodeToHDR = .isoHDR }
        let data = try await processing.perform(priority: priority, releasesImage: true) {
            [coders, options] isCancelled throws(ImageError) in
            try coders.encode(
                image, as: format, options: options, context: ProcessingContext(isCancelled: isCancelled))
        }
        return (data, format)
    }

    /// Returns the storage format for an image.
    ///
    /// This is the format of its source if it can be written and preserves the image's animation, its alpha, more than 8 bits,
    /// and high dynamic range. Otherwise it is the first format that does: WebP, PNG or GIF for an animation, PNG for alpha or
    /// more bits, and JPEG for everything else. If no format preserves everything, high dynamic range is dropped first, then
    /// depth, then alpha, then the animation.
    package static func storageFormat(for image: Image, encodable: Set<ImageFormat>) -> ImageFormat {
        let features = ImageFormat.Features(of: image)
        let preferred: [ImageFormat] =
            if features.contains(.animation) {
                [.webp, .png, .gif, .jxl, .avif]
            } else if features.isEmpty {
                [.jpeg, .png, .webp]
            } else {
                [.png, .webp, .jxl, .avif, .heic, .tiff]
            }
        let candidates = ((image.format.map { [$0] } ?? []) + preferred).filter(encodable.contains)
        var wanted = features
        for dispensable in [[], .highDynamicRange, .depth, .alpha, .animation] as [ImageFormat.Features] {
            wanted.subtract(dispensable)
            if let format = candidates.first(where: { $0.features.isSuperset(of: wanted) }) {
                return format
            }
        }
        // No preferred format can be written. Any other format is better than none, but the choice is always the same.
        return encodable.min { $0.rawValue < $1.rawValue } ?? preferred[0]
    }
}
