public import TintypeImages

/// Settings for decoding images in processes of their own, so that a file that crashes a library, or takes it over, can't harm the program.
///
/// Use ``ImageCoders/isolated(_:by:)`` to isolate coders. The processes run the program itself, but decode instead of reaching its `main`.
/// They have no network, can't start programs, and can read only libraries, fonts, and data of the system. They wait for further images,
/// and end with the program.
public struct DecoderIsolation: Sendable, Hashable {
    /// The absolute path of a program that decodes in place of this one, such as a smaller program. Any program that imports `Tintype` can
    /// decode. The default is `nil`.
    public var helper: String?
    /// True to decode in the program if no process can be started; false, the default, to throw ``ImageError/Code/decoderUnavailable``.
    public var allowsInProcess = false
    /// The longest time for an image, or for a frame of an animation during playback, not counting the wait for memory. A process that
    /// takes longer is terminated. The default is 30 seconds.
    public var timeLimit = Duration.seconds(30)
    /// The processor time that even the smallest file may take; three times as much for JPEG XL, which stores a drawing of 24 megapixels in
    /// 150 KB. Each megabyte of a file adds four seconds, up to ``timeLimit``. The default is 4 seconds.
    public var smallFileTimeLimit = Duration.seconds(4)
    /// The longest time that a process takes until it waits for the first image.
    package var startLimit = Duration.seconds(10)
    /// The memory that a process may allocate, in bytes. The default is 2 GB.
    public var memoryLimit = ByteCount.gigabytes(2)
    /// The part of ``memoryLimit`` that a process may allocate in addition to the memory for an image of the stated size, in bytes: for
    /// images and effects inside a drawing or a page. The default is 400 MB.
    public var workingMemoryLimit = ByteCount.megabytes(400)
    /// The largest number of idle processes, which wait for the next image. Besides them, each decode in progress has a working process.
    /// The default is 2.
    public var maximumIdleProcesses = 2
    /// The number of images after which a process is replaced by a new process. The default is 1,000.
    public var maximumDecodesPerProcess = 1_000
    /// The memory, in bytes, above which a process is replaced after an image. The default is 256 MB.
    public var maximumIdleMemory = ByteCount.megabytes(256)

    /// Creates the default isolation.
    public init() {}

    /// Returns the processor time for a file of a number of bytes. A long time limit takes many bytes.
    /// - Parameter formats: the formats of the coder.
    func processorLimit(byteCount: Int, formats: [ImageFormat]) -> Duration {
        let small = formats.contains(.jxl) ? smallFileTimeLimit * 3 : smallFileTimeLimit
        return min(timeLimit, small + .seconds(4) * (Double(byteCount) / 1_000_000))
    }
}

/// The formats that are decoded in processes of their own.
public struct IsolatedFormats: Sendable, Hashable {
    package let formats: Set<ImageFormat>

    /// Creates a set of formats.
    /// - Parameter formats: the formats.
    public init(_ formats: Set<ImageFormat>) { self.formats = formats }

    /// SVG, PDF, camera files, HEIC, and JPEG XL: formats whose libraries are known to abort, to run forever, or to show uninitialized
    /// memory.
    public static let `default` = IsolatedFormats([.svg, .pdf, .raw, .heic, .heif, .jxl])
    /// Every format of this package.
    public static let all = IsolatedFormats(Set(ImageFormat.known))
}

extension ImageCoders {
    /// Returns the coders, with some formats decoded in separate processes.
    ///
    /// `ImageCoders.default` isolates ``IsolatedFormats/default`` already, `ImageCoders.default.isolated(.all)` isolates every format of
    /// this package. The processes have only the coders of this package. Add your own coders to the result: they decode in this process.
    /// Settings of single formats in `DecodeOptions` don't reach the processes, and isolated images have no previews. An animation that is
    /// played has a process to itself. Encoding isn't isolated.
    ///
    /// Each call has its own processes, which end when the last of its coders is released.
    /// - Parameters:
    ///   - formats: the formats. A coder that reads such a format is isolated.
    ///   - isolation: the settings of the processes.
    public func isolated(
        _ formats: IsolatedFormats = .default, by isolation: DecoderIsolation = DecoderIsolation()
    ) -> ImageCoders {
        let pool = WorkerPool(isolation)
        func isolated(_ base: some ImageCoder) -> any ImageCoder { IsolatedCoder(base: base, pool: pool) }
        return ImageCoders(
            coders.map { coder in
                guard !formats.formats.isDisjoint(with: coder.decodableFormats) else { return coder }
                // The latest settings count for a coder that is isolated already.
                let base: any ImageCoder = (coder as? any IsolatingCoder)?.base ?? coder
                return isolated(base)
            })
    }
}
