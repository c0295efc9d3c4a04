public import FoundationEssentials
public import TintypeLoading

/// An event of a downloader.
public enum DownloadEvent: Sendable {
    /// A transfer started. Its number identifies it in later events. The URL has no credentials, but its query may have secrets.
    case started(id: Int, url: URL)
    /// The head of a response arrived, after redirects.
    case responded(id: Int, ResponseHead)
    /// A transfer failed, and is repeated after a delay.
    case retrying(id: Int, after: ImageError, delay: Duration)
    /// A load ended, with its measurements, and with the error if it failed.
    case finished(id: Int, TransferMetrics, ImageError?)
    /// The downloader was suspended: no more transfers start.
    case suspended
    /// The downloader continues.
    case resumed
}

extension DownloadEvent: CustomStringConvertible {
    /// A sentence without secrets: it omits user info, query values, and header fields.
    public var description: String {
        switch self {
        case .started(let id, let url): "Transfer \(id) of \(url.shortDescription) started"
        case .responded(let id, let response): "Transfer \(id) received a response: \(response)"
        case .retrying(let id, let error, let delay): "Transfer \(id) failed, and is retried after \(delay): \(error)"
        case .finished(let id, _, let error?): "Transfer \(id) failed: \(error)"
        case .finished(let id, let metrics, nil): "Transfer \(id) finished after \(metrics.receivedBytes) bytes"
        case .suspended: "The downloader was suspended"
        case .resumed: "The downloader resumed"
        }
    }
}
