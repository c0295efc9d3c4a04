/// A step of a job, for all its waiters.
enum LoadUpdate: Sendable {
    /// A transfer starts whose bytes can be decoded as they come. Told within the pipeline only.
    case arriving(ArrivingData)
    /// The source is asked whether these cached bytes are current. Told within the pipeline only.
    case asking(about: SourceBytes)
    indirect case progress(ImageProgress)
    /// An image of the bytes that have arrived.
    case preview(Image)
    /// The cached image, while its source is asked.
    case outdated(Image)
}

/// The most recent updates of a job, for later waiters.
struct LatestUpdates: Sendable {
    private var cached: LoadUpdate?
    private var arriving: LoadUpdate?
    private var progress: LoadUpdate?
    private var image: LoadUpdate?

    mutating func take(_ update: LoadUpdate) {
        switch update {
        case .asking: cached = update
        case .arriving: arriving = update
        case .progress: progress = update
        case .preview, .outdated: image = update
        }
    }

    var all: [LoadUpdate] { [cached, arriving, progress, image].compactMap { $0 } }
}
