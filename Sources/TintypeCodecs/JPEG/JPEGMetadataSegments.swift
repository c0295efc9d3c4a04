internal import FoundationEssentials
internal import TintypeImages

/// The metadata of a JPEG file that is written: an Exif block, which also holds the thumbnail, and an XMP packet.
struct JPEGMetadataSegments {
    /// A segment states its length, itself included, in two bytes.
    private static let maximumLength = 65_533
    private static let app1: Int32 = 0xE1
    private static let thumbnailBox = PixelSize(width: 320, height: 320)

    static let xmpSignature = Data("http://ns.adobe.com/xap/1.0/\0".utf8)

    private(set) var segments: [(marker: Int32, contents: Data)] = []

    /// - Throws: ``ImageError/Code/encodeFailed`` for metadata that do not fit.
    init(_ job: EncodeJob) throws(ImageError) {
        let signature = Data("Exif\0\0".utf8)
        if let exif = try Self.exif(job, room: Self.maximumLength - signature.count) {
            segments.append(try Self.segment(signature + exif, "Exif block", job))
        }
        if let xmp = job.xmp { segments.append(try Self.segment(xmp: xmp, job)) }
    }

    /// The segment of an XMP packet.
    /// - Throws: ``ImageError/Code/encodeFailed`` for a packet that doesn't fit.
    static func segment(xmp packet: Data, _ job: EncodeJob) throws(ImageError) -> (marker: Int32, contents: Data) {
        try segment(xmpSignature + packet, "XMP packet", job)
    }

    private static func segment(
        _ contents: Data, _ name: String, _ job: EncodeJob
    ) throws(ImageError) -> (marker: Int32, contents: Data) {
        guard contents.count <= Self.maximumLength else {
            throw job.failure(
                "the \(name) takes \(ByteCount(contents.count)), over the limit of 64 KB in a JPEG; "
                    + "set EncodeOptions.keepsMetadata to false"
            )
        }
        return (Self.app1, contents)
    }

    /// Returns the block, with a thumbnail if requested and if it fits.
    private static func exif(_ job: EncodeJob, room: Int) throws(ImageError) -> Data? {
        let size = job.image.size.scaled(into: thumbnailBox)
        guard job.options.embedsThumbnail, size != job.image.size else { return job.exif }
        var editor = job.exif.flatMap { ExifEditor($0) } ?? ExifEditor()
        var options = EncodeOptions(quality: 0.75)
        options.background = job.options.background
        // The directory of the thumbnail takes less than 100 bytes.
        options.maximumBytes = .bytes(room - editor.bytes.count - 100)
        guard options.maximumBytes ?? 0 > 0 else { return job.exif }
        let small = try Image(pixels: job.image.pixels.resized(to: size), properties: job.image.properties)
        for quality in [75, 50, 25] {
            guard let thumbnail = try JPEGWriter().write(small, quality: quality, options) else { continue }
            editor.setThumbnail(thumbnail)
            return editor.data
        }
        return job.exif
    }
}
