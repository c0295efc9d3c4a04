internal import FoundationEssentials
internal import TintypeImages

/// A thumbnail of a photograph, straight from the low frequencies of its blocks.
///
/// Everybody makes thumbnails with libjpeg's smaller inverse transforms, and spends nine tenths of the time on the entropy decoding of
/// coefficients that these don't use. Here that is done three times as fast (``EntropyTables``, ``ScanWindow``), for the coefficients that
/// a thumbnail of this size needs (``CoefficientResampler``). Of progressive files, whole scans are left out (``ProgressiveReader``).
///
/// Anything irregular ends with `nil`: libjpeg-turbo then decodes the file from its start, so that errors, and the visible part of
/// damaged files, don't depend on the requested size.
struct JPEGThumbnail {
    let segments: JPEGSegments
    let options: DecodeOptions
    let context: ProcessingContext
    /// Files with scans of fewer bytes are left to libjpeg-turbo.
    var shortestScan = Self.shortestScan

    /// Scans of fewer bytes are decoded before their tables are made.
    static let shortestScan = 50_000
    /// Intervals between restart markers of fewer MCUs take longer than in libjpeg.
    static let shortestInterval = 32

    /// Returns the last coefficient that each component needs, in zigzag order; `nil` if some need more than there is room for.
    ///
    /// A component that is reduced by ten shows the first three diagonals. The rule was found with photographs and drawings, which each
    /// have 51.6 dB at least against a Lanczos filter over the full picture, wherever a decode with libjpeg at twice the size has 52.
    static func last(_ frame: ThumbnailFrame, target: PixelSize) -> [Int]? {
        var last: [Int] = []
        for component in frame.components {
            let across = frame.size.width * component.horizontal / frame.horizontal
            let down = frame.size.height * component.vertical / frame.vertical
            let reduction = min(Double(across) / Double(target.width), Double(down) / Double(target.height))
            guard reduction >= 2 else { return nil }
            last.append(reduction >= 10 ? 5 : reduction >= 5 ? 9 : reduction >= 3.5 ? 14 : BlockFormat.lastCoefficient)
        }
        return last
    }

    /// The decisions that the header leads to.
    private struct Plan {
        let frame: ThumbnailFrame
        /// See ``JPEGThumbnail/last(_:target:)``.
        let last: [Int]
        let output: PixelSize
        /// The size of the result before it is turned upright.
        let target: PixelSize
    }

    /// - Parameter bytes: the file, at least to the start of its scan.
    /// - Returns: `nil` if libjpeg-turbo is to decode it.
    private func plan(_ bytes: Span<UInt8>) -> Plan? {
        guard let source = segments.size else { return nil }
        let output = options.outputSize(for: segments.orientation.display(source))
        let target = segments.orientation.stored(output)
        guard !target.isEmpty, target.width < source.width / 3, let frame = try? ThumbnailFrame(bytes),
            frame.size == source, let last = Self.last(frame, target: target),
            frame.restartInterval == 0 || frame.restartInterval >= Self.shortestInterval && !frame.isProgressive
        else { return nil }
        return Plan(frame: frame, last: last, output: output, target: target)
    }

    /// Returns true if a file is decoded here, as far as its header tells.
    func isSuitable(_ bytes: Span<UInt8>) -> Bool { plan(bytes) != nil }

    /// Decodes a file.
    /// - Parameter color: receives the conversion of colors if it was needed, which can take longer to prepare than all the rest.
    /// - Returns: `nil` if libjpeg-turbo is to decode it.
    func decode(_ bytes: Span<UInt8>, color: inout DecodedColor?) throws(ImageError) -> Image? {
        guard bytes.count >= shortestScan, let plan = plan(bytes), bytes.count - plan.frame.scan >= shortestScan else {
            return nil
        }
        let scans = plan.frame.isProgressive ? bytes.withUnsafeBytes { JPEGScans($0) } : nil
        guard plan.frame.isProgressive == (scans != nil) else { return nil }
        let blockBytes = CoefficientResampler.blockBytes(
            plan.frame, last: plan.last, target: plan.target, keepsAll: scans != nil)
        guard blockBytes <= CoefficientResampler.mostBlockBytes(keepsAll: scans != nil) else { return nil }
        var working = [blockBytes, CoefficientResampler.weightBytes(plan.frame, target: plan.target)]
        if let scans {
            working += ProgressiveReader.working(scans, blockBytes: blockBytes)
            guard working.reduce(0, +) <= context.limits.maximumBytes.bytes else { return nil }
        } else {
            working += ScanReader.working(last: plan.last)
        }
        try context.limits.check(size: plan.frame.size, output: plan.output)
        let conversion = DecodedColor(
            profile: segments.profile, source: plan.frame.components.count == 1 ? .gray : .rgb, options: options)
        color = conversion
        guard conversion.keepsAverages else { return nil }
        let reservation = try context.reserve(
            output: plan.output, isCopied: segments.orientation != .up || segments.profile != nil,
            source: plan.frame.size, bitmaps: 0, working: working)
        defer { reservation.release() }
        let result = if let scans { try decode(bytes, plan, scans) } else { try decode(bytes, plan) }
        guard let pixels = result else { return nil }
        return try segments.image(
            pixels.oriented(segments.orientation, pool: context.pool), conversion, size: plan.frame.size,
            options: options, pool: context.pool)
    }

    /// Decodes a sequential file.
    private func decode(_ bytes: Span<UInt8>, _ plan: Plan) throws(ImageError) -> PixelBuffer? {
        guard let coding = try? ScanCoding(plan.frame, last: plan.last) else { return nil }
        var resampler = try CoefficientResampler(
            plan.frame, last: plan.last, target: plan.target, pool: context.pool)
        var reader = try ScanReader(plan.frame, coding, byteCount: bytes.count, context: context)
        do throws(NotForThumbnails) {
            while !reader.isAtEnd {
                try reader.next(bytes)
                for lane in reader.window.lanes {
                    try NotForThumbnails.checkCancellation(context)
                    try resampler.add(lane, reader.records)
                }
            }
        } catch {
            try context.checkCancellation()
            return nil
        }
        return resampler.finish()
    }

    /// Decodes a progressive file.
    private func decode(_ bytes: Span<UInt8>, _ plan: Plan, _ scans: JPEGScans) throws(ImageError) -> PixelBuffer? {
        var resampler = try CoefficientResampler(
            plan.frame, last: plan.last, target: plan.target, keepsAll: true, pool: context.pool)
        var reader = try ProgressiveReader(
            plan.frame, scans, last: plan.last, blockBytes: resampler.blockBytes, context: context
        ) { isWanted($0, plan) }
        do throws(NotForThumbnails) {
            try reader.readAll(bytes, into: &resampler)
            try resampler.addAll(context)
        } catch {
            try context.checkCancellation()
            return nil
        }
        return resampler.finish()
    }

    /// False for scans whose absence can't be seen: scans of coefficients that the thumbnail doesn't need, and of luminance's last bits
    /// where the error is small after multiplication with the quantizer. At a reduction by ten and a quality of 90 these are the last two
    /// bits, at 75 the last, and below none. The bits of the colors are few, and cost more; where speed counts most, the last two bits are
    /// left out of all.
    private func isWanted(_ scan: JPEGScans.Scan, _ plan: Plan) -> Bool {
        guard let component = scan.components.first, scan.band.lowerBound <= plan.last[component] else { return false }
        guard scan.isRefinement else { return true }
        if options.prefersFastThumbnail { return scan.missingBits >= 2 }
        guard component == 0 else { return true }
        let quantizer = plan.frame.components[0].quantizer[1...plan.last[0]].max() ?? 0
        // A smaller reduction averages fewer coefficients.
        let smallError = plan.last[0] == 5 ? 16 : 8
        return Int(quantizer) << (scan.missingBits + 1) > smallError
    }
}
