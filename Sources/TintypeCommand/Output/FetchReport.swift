internal import CommandSupport
internal import TintypeLoading

/// The report of an image that was saved.
struct FetchReport: Encodable, Equatable {
    /// The URL, without credentials unless the user wants complete URLs.
    var url: String
    var path: String
    var format: String
    var width: Int
    var height: Int
    /// The size of the file.
    var bytes: Int
    /// `network`, or `disk` for the disk cache.
    var source: String
    /// From the request to the decoded image, in milliseconds.
    var ms: Double

    /// The report for people.
    var line: String {
        "\(path)  \(format) \(width)x\(height)  \(ByteCount(bytes))  \(source)  \(ms.fixed(1)) ms"
    }
}

/// The totals of a list of images.
struct FetchSummary: Equatable {
    var images = 0
    var bytes = 0
    var sources: [String: Int] = [:]
    var failed = 0
    var duration = Duration.zero

    mutating func add(_ report: FetchReport) {
        images += 1
        bytes += report.bytes
        sources[report.source, default: 0] += 1
    }

    /// `12 images, 3.4 MB (10 network, 2 disk), 1 failed, 2.31 s`
    var line: String {
        let origins = sources.sorted { $0.key > $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        return "\(counted(images, "image")), \(ByteCount(bytes))" + (origins.isEmpty ? "" : " (\(origins))")
            + (failed == 0 ? "" : ", \(failed) failed") + ", \(duration.short)"
    }
}
