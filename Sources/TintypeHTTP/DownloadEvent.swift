public import FoundationEssentials
public import TintypeCore

/// An event of a downloader.
public enum DownloadEvent: Sendable {
    /// A transfer began. Its number identifies it in later events.
    case started(id: Int, url: URL)
    /// The head of a response arrived, after redirects.
    case responded(id: Int, SourceResponse)
    /// A transfer failed, and is repeated after a delay.
    case retrying(id: Int, after: ImageError, delay: Duration)
    /// A load ended: its measurements, and the error if it failed.
    case finished(id: Int, TransferMetrics, ImageError?)
    /// The downloader was suspended: no transfer begins.
    case suspended
    /// The downloader continues.
    case resumed
}
