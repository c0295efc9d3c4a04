internal import CWebP
internal import TintypeImages

/// The options of a file, as libwebp takes them.
struct WebPSettings {
    let job: EncodeJob
    private var options: WebPEncodeOptions { job.options.webp }

    init(job: EncodeJob) { self.job = job }

    /// - Parameter ignoresTarget: leaves ``WebPEncodeOptions/targetPSNR`` out, where a limit of bytes decides.
    /// - Throws: ``ImageError/Code/encodeFailed`` that names a setting out of its range.
    func config(quality: Int, ignoresTarget: Bool = false) throws(ImageError) -> WebPConfig {
        var config = WebPConfig()
        guard WebPConfigPreset(&config, options.preset.code, Float(quality)) != 0 else {
            throw job.failure("the installed libwebp has a different version than this build expects")
        }
        if job.options.lossless {
            try job.check(options.losslessEffort, in: 0...9, "webp.losslessEffort")
            guard WebPConfigLosslessPreset(&config, Int32(options.losslessEffort)) != 0 else {
                throw job.failure("libwebp refused the options")
            }
        }
        try set(&config.method, options.method, in: 0...6, "webp.method")
        try setLoss(&config)
        try setAlphaAndWork(&config)
        try job.check(options.targetPSNR, in: 0...99, "webp.targetPSNR")
        config.target_PSNR = ignoresTarget ? 0 : Float(options.targetPSNR)
        if config.target_PSNR > 0, options.passes == nil { config.pass = 6 }
        guard WebPValidateConfig(&config) != 0 else { throw job.failure("libwebp refused the options") }
        return config
    }

    private func setLoss(_ config: inout WebPConfig) throws(ImageError) {
        try set(&config.pass, options.passes, in: 1...10, "webp.passes")
        try set(&config.segments, options.segments, in: 1...4, "webp.segments")
        try set(&config.sns_strength, options.snsStrength, in: 0...100, "webp.snsStrength")
        try set(&config.filter_strength, options.filterStrength, in: 0...100, "webp.filterStrength")
        try set(&config.filter_sharpness, options.filterSharpness, in: 0...7, "webp.filterSharpness")
        try set(&config.partitions, options.partitions, in: 0...3, "webp.partitions")
        try set(&config.partition_limit, options.partitionLimit, in: 0...100, "webp.partitionLimit")
        try set(&config.preprocessing, options.preprocessing, in: 0...2, "webp.preprocessing")
        if let usesStrongFilter = options.usesStrongFilter { config.filter_type = usesStrongFilter ? 1 : 0 }
        if let autoFilter = options.autoFilter { config.autofilter = autoFilter ? 1 : 0 }
        config.use_sharp_yuv = options.usesSharpYUV ? 1 : 0
    }

    private func setAlphaAndWork(_ config: inout WebPConfig) throws(ImageError) {
        config.alpha_compression = options.compressesAlpha ? 1 : 0
        try set(&config.alpha_filtering, options.alphaFiltering, in: 0...2, "webp.alphaFiltering")
        try set(&config.alpha_quality, options.alphaQuality, in: 0...100, "webp.alphaQuality")
        try set(&config.near_lossless, options.nearLossless, in: 0...100, "webp.nearLossless")
        config.thread_level = options.usesThreads ? 1 : 0
        config.low_memory = options.savesMemory ? 1 : 0
        config.show_compressed = options.showsCompressed ? 1 : 0
    }

    func animation() throws(ImageError) -> WebPAnimEncoderOptions {
        var settings = WebPAnimEncoderOptions()
        guard WebPAnimEncoderOptionsInit(&settings) != 0 else {
            throw job.failure("the installed libwebp has a different version than this build expects")
        }
        settings.anim_params.loop_count = Int32(clamping: min(max(job.image.loopCount, 0), 65_535))
        settings.anim_params.bgcolor = 0
        settings.minimize_size = options.minimizesAnimation ? 1 : 0
        settings.allow_mixed = options.mixesCompression ? 1 : 0
        if let distance = options.keyframeDistance {
            try set(&settings.kmin, distance.lowerBound, in: 0...65_535, "webp.keyframeDistance")
            try set(&settings.kmax, distance.upperBound, in: 1...65_535, "webp.keyframeDistance")
        }
        return settings
    }

    private func set(
        _ field: inout Int32, _ value: Int?, in range: ClosedRange<Int>, _ name: StaticString
    ) throws(ImageError) {
        try job.check(value, in: range, name)
        if let value { field = Int32(value) }
    }
}

extension WebPEncodeOptions.Preset {
    fileprivate var code: WebPPreset {
        switch self {
        case .standard: WEBP_PRESET_DEFAULT
        case .picture: WEBP_PRESET_PICTURE
        case .photo: WEBP_PRESET_PHOTO
        case .drawing: WEBP_PRESET_DRAWING
        case .icon: WEBP_PRESET_ICON
        case .text: WEBP_PRESET_TEXT
        }
    }
}
