extension ImageFormat {
    /// Properties of an image that not every format can store.
    struct Features: OptionSet, Sendable, Hashable {
        let rawValue: UInt8

        static let animation = Features(rawValue: 1 << 0)
        static let alpha = Features(rawValue: 1 << 1)
        /// More than 8 bits per component.
        static let depth = Features(rawValue: 1 << 2)
        static let highDynamicRange = Features(rawValue: 1 << 3)
    }

    /// The features that the coders of this package can write. A format that they don't know is assumed to support everything,
    /// because only its own coder can tell.
    var features: Features {
        switch self {
        case .jpeg: []
        case .png: [.animation, .alpha, .depth]
        case .gif, .webp: [.animation, .alpha]
        case .bmp, .ico: .alpha
        case .tiff: [.alpha, .depth]
        case .avif, .jxl: [.animation, .alpha, .depth, .highDynamicRange]
        // Sequences are read, but not written.
        case .heic, .heif: [.alpha, .depth, .highDynamicRange]
        case .svg, .pdf, .raw: []
        default: [.animation, .alpha, .depth, .highDynamicRange]
        }
    }
}

extension ImageFormat.Features {
    /// Returns the features that an image needs.
    init(of image: Image) {
        self = []
        if image.isAnimated { insert(.animation) }
        if image.hasAlpha { insert(.alpha) }
        if image.pixels.format != .rgba8 { insert(.depth) }
        if image.isHighDynamicRange { insert(.highDynamicRange) }
    }
}
