public import FoundationEssentials

/// An ordered list of coders that is itself a coder. The coder that was added last is asked first.
///
/// If a coder fails, the next coder of the format is tried. If all fail, the first coder's error is thrown. If that error is
/// ``ImageError/Code/unknownFormat``, a format hint was wrong, and the coders of the other possible format are tried.
public struct ImageCoders: ImageCoder {
    /// The coders in order of increasing precedence.
    public var coders: [any ImageCoder]

    /// Creates a list.
    /// - Parameter coders: the coders, with the most preferred last.
    public init(_ coders: [any ImageCoder] = []) { self.coders = coders }

    /// Adds a coder, which takes precedence over all others, as in `manager.coders.add(QOICoder())`.
    /// - Parameter coder: the coder.
    public mutating func add(_ coder: any ImageCoder) { coders.append(coder) }

    /// Removes the coders of a type, as in `manager.coders.remove(GIFCoder.self)`.
    /// - Parameter type: the type of the coders.
    /// - Returns: the number of coders that were removed.
    @discardableResult
    public mutating func remove<Coder: ImageCoder>(_ type: Coder.Type) -> Int {
        let count = coders.count
        coders.removeAll { $0 is Coder }
        return count - coders.count
    }

    /// Prepares the coder of a format whose bytes are about to arrive.
    package func prepare(for format: ImageFormat) {
        let coder = coders.last { $0.decodableFormats.contains(format) }
        (coder as? any PreparingImageCoder)?.prepare()
    }

    public var decodableFormats: Set<ImageFormat> { coders.reduce(into: []) { $0.formUnion($1.decodableFormats) } }
    public var encodableFormats: Set<ImageFormat> { coders.reduce(into: []) { $0.formUnion($1.encodableFormats) } }

    public func canDecode(_ data: Data, format: ImageFormat?) -> Bool {
        let format = format ?? ImageFormat(sniffing: data)
        return coders.contains { $0.canDecode(data, format: format) }
    }

    public func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        try info(of: data, hint: nil, context: context)
    }

    /// Returns the information in the header.
    /// - Parameters:
    ///   - data: the encoded image, or its start.
    ///   - hint: the format to assume if the signature is ambiguous, as in ``DecodeOptions/formatHint``.
    ///   - context: the limits and the check for cancellation.
    /// - Throws: ``ImageError/Code/unknownFormat`` or ``ImageError/Code/formatNotEnabled`` if no coder can read the bytes, and the errors
    ///   of the coder.
    package func info(
        of data: Data, hint: ImageFormat?, context: ProcessingContext
    ) throws(ImageError) -> ImageInfo {
        try first(for: data, hint: hint) { coder throws(ImageError) in try coder.info(of: data, context: context) }
    }

    public func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        try first(for: data, hint: options.formatHint) { coder throws(ImageError) in
            try coder.decode(data, options: options, context: context)
        }
    }

    public func canEncode(_ format: ImageFormat) -> Bool { coders.contains { $0.canEncode(format) } }

    /// Encodes an image with the first coder that can write the format.
    /// - Parameters:
    ///   - image: the image.
    ///   - format: the format of the file.
    ///   - options: the options for encoding.
    ///   - context: the resources of the call, and its cancellation.
    /// - Throws: ``ImageError/Code/formatNotEncodable`` if no coder can write the format, ``ImageError/Code/encodeFailed`` if it writes no
    ///   bytes, and the errors of the coder.
    public func encode(
        _ image: Image, as format: ImageFormat, options: EncodeOptions, context: ProcessingContext
    ) throws(ImageError) -> Data {
        let coder = try encoder(of: format)
        let data = try coder.encode(image, as: format, options: options, context: context.at(.encode))
        guard !data.isEmpty else {
            throw ImageError(.encodeFailed, stage: .encode, reason: "\(type(of: coder)) wrote no bytes")
        }
        return data
    }

    /// - Throws: ``ImageError/Code/formatNotEncodable``.
    package func encoder(of format: ImageFormat) throws(ImageError) -> any ImageCoder {
        if let coder = coders.last(where: { $0.canEncode(format) }) { return coder }
        let reason =
            if let trait = format.trait, [.avif, .heic, .jxl, .tiff].contains(format) {
                "this build can't write \(format); build with the package trait \(trait)"
            } else {
                "no coder writes \(format)"
            }
        throw ImageError(.formatNotEncodable, stage: .encode, reason: reason)
    }

    /// Returns a frame decoder of the first animated coder that can read the bytes; `nil` if none of them is animated.
    ///
    /// If an animated coder fails, the next is tried, unless it crashed, timed out, or didn't fit into the budget.
    /// - Parameters:
    ///   - data: the encoded image.
    ///   - options: the options for decoding.
    ///   - context: the limits and the memory of the call, and its cancellation.
    /// - Throws: ``ImageError/Code/unknownFormat`` or ``ImageError/Code/formatNotEnabled`` if no coder can read the bytes, and the errors
    ///   of the coder.
    public func frameDecoder(
        for data: Data, options: DecodeOptions = DecodeOptions(), context: ProcessingContext = ProcessingContext()
    ) throws(ImageError) -> (any FrameDecoder)? {
        var failure: ImageError?
        for format in Self.formats(of: data, hint: options.formatHint) {
            for coder in coders.reversed() where coder.canDecode(data, format: format) {
                guard let coder = coder as? any AnimatedImageCoder else { continue }
                do throws(ImageError) {
                    return try coder.frameDecoder(for: data, options: options, context: context)
                } catch {
                    if Self.endsSearch(error) { throw error }
                    failure = failure ?? error
                }
            }
        }
        if let failure { throw failure }
        return nil
    }

    private func first<Value>(
        for data: Data, hint: ImageFormat?, _ work: (any ImageCoder) throws(ImageError) -> Value
    ) throws(ImageError) -> Value {
        guard !data.isEmpty else { throw ImageError(.emptyBody, stage: .decode, reason: "the data is empty") }
        var failure: ImageError?
        for format in Self.formats(of: data, hint: hint) {
            for coder in coders.reversed() where coder.canDecode(data, format: format) {
                do { return try work(coder) } catch {
                    if Self.endsSearch(error) { throw error }
                    if failure == nil || failure?.code == .unknownFormat { failure = error }
                }
            }
            // A camera file that is cut isn't the preview that its signature, which is TIFF's, promises.
            if let failure, failure.code != .unknownFormat { throw failure }
        }
        throw failure ?? unreadable(data, format: ImageFormat(sniffing: data) ?? hint)
    }

    /// Returns true if no other coder is to be tried. Another would find no more room, and must not be blamed for bytes that this
    /// coder can read. Bytes that crash a decoder are given to no other coder.
    private static func endsSearch(_ error: ImageError) -> Bool {
        error.isCancellation || [.overBudget, .decoderCrashed, .decodeTimedOut].contains(error.code)
    }

    /// The formats that bytes may have, the likeliest first; there is one at least. A wrong hint must not prevent decoding.
    static func formats(of data: Data, hint: ImageFormat?) -> [ImageFormat?] {
        let sniffed = ImageFormat(sniffing: data)
        guard let hint, hint != sniffed else { return [sniffed] }
        guard let sniffed else { return [hint, nil] }
        // Camera files have TIFF's signature, and formats of the program's own may have any. All others are known by theirs.
        let isAmbiguous = hint == .raw ? sniffed == .tiff : !ImageFormat.known.contains(hint)
        return isAmbiguous ? [hint, sniffed] : [sniffed, hint]
    }

    private func unreadable(_ data: Data, format: ImageFormat?) -> ImageError {
        guard let format else {
            return ImageError(.unknownFormat, stage: .decode, reason: "not an image: \(ImageFormat.guess(data))")
        }
        let advice = format.trait.map { "build with the package trait \($0), or " } ?? ""
        return ImageError(
            .formatNotEnabled, stage: .decode,
            reason: "the image is \(format), which none of the coders reads; \(advice)add a coder that reads it")
    }
}
