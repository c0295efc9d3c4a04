public import FoundationEssentials
public import TintypeImages

extension ImageMetadata {
    /// The metadata that most programs show.
    ///
    /// Each access parses the blocks, so keep the result. Damaged parts, impossible values, such as a latitude of 100 degrees, and texts of
    /// more than 64 KB count as missing.
    /// - Complexity: O(bytes of the metadata)
    public var fields: Fields {
        // The order follows the Metadata Working Group, "Guidelines for Handling Image Metadata", version 2.0, section 3.
        var fields = exif.map { Fields(exif: $0) } ?? Fields()
        let (newer, older) =
            isXMPStale
            ? (iptc.map(Fields.init(iptc:)), xmp.map(Fields.init(xmp:)))
            : (xmp.map(Fields.init(xmp:)), iptc.map(Fields.init(iptc:)))
        let exifRating = fields.rating.take()
        for other in [newer, older].compactMap(\.self) { fields.fill(from: other) }
        // Only XMP has a rating by the standards.
        fields.rating = fields.rating ?? exifRating
        return fields
    }

    /// True if the datasets of IPTC have changed since a program wrote the same into XMP.
    private var isXMPStale: Bool {
        guard let iptc, let iptcDigest else { return false }
        return MD5.hexadecimal(iptc)
            != iptcDigest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// The description of a picture and of how it was taken, from Exif, XMP, and IPTC-IIM.
    ///
    /// If several of them have a field, Exif takes precedence, and then XMP. IPTC-IIM replaces XMP if a digest in the file shows that a
    /// program without support for XMP has changed it (Metadata Working Group, "Guidelines for Handling Image Metadata", version 2.0).
    /// Texts are unchanged: they may have several lines, and control characters for terminals.
    public struct Fields: Sendable, Hashable {
        /// The time when the picture was taken, or when it was digitized if nothing else is known: the known parts of the date and time on
        /// the camera's clock, to the nanosecond.
        ///
        /// Most cameras don't record the offset of their clock from UTC. If they do, `timeZone` and `calendar` are set, and `date` is the
        /// point in time. Otherwise `timeZone`, `calendar`, and `date` are `nil`, because the point in time is unknown. To assume a time
        /// zone, use `Calendar.date(from:)` of a Gregorian calendar.
        public var captureDate: DateComponents?
        /// The manufacturer of the camera.
        public var cameraMake: String?
        /// The model of the camera.
        public var cameraModel: String?
        /// The model of the lens.
        public var lensModel: String?
        /// The exposure time in seconds, greater than 0.
        public var exposureTime: Double?
        /// The f-number, greater than 0.
        public var aperture: Double?
        /// The sensitivity by ISO 12232, greater than 0.
        public var iso: Int?
        /// The actual focal length of the lens in millimeters, greater than 0.
        public var focalLength: Double?
        /// The location of the camera. Don't show it to others without consent.
        public var place: Place?
        /// The title of the picture.
        public var title: String?
        /// The caption of the picture.
        public var description: String?
        /// The people who made the picture.
        public var authors: [String] = []
        /// The copyright notice.
        public var copyright: String?
        /// The subjects of the picture.
        public var keywords: [String] = []
        /// The rating by the user: 1 to 5, 0 for none, −1 for a rejected picture (XMP, part 1, section 8.4).
        public var rating: Int?
        /// The camera's firmware, or the last program that wrote the picture.
        public var software: String?

        /// Creates fields that are all empty.
        package init() {}

        /// A place on Earth, usually in WGS 84.
        public struct Place: Sendable, Hashable {
            /// Degrees, from −90 to 90, north of the equator if positive.
            public var latitude: Double
            /// Degrees, from −180 to 180, east of Greenwich if positive.
            public var longitude: Double
            /// Meters above sea level, negative below.
            public var altitude: Double?

            /// Creates a place; `nil` if the latitude or longitude is out of range. Each parameter sets the property of the same name.
            package init?(latitude: Double, longitude: Double, altitude: Double? = nil) {
                guard abs(latitude) <= 90, abs(longitude) <= 180 else { return nil }
                self.latitude = latitude
                self.longitude = longitude
                self.altitude = altitude
            }
        }
    }
}

extension ImageMetadata.Fields {
    /// Takes over the fields that are empty here.
    fileprivate mutating func fill(from other: Self) {
        captureDate = captureDate ?? other.captureDate
        cameraMake = cameraMake ?? other.cameraMake
        cameraModel = cameraModel ?? other.cameraModel
        lensModel = lensModel ?? other.lensModel
        exposureTime = exposureTime ?? other.exposureTime
        aperture = aperture ?? other.aperture
        iso = iso ?? other.iso
        focalLength = focalLength ?? other.focalLength
        place = place ?? other.place
        title = title ?? other.title
        description = description ?? other.description
        if authors.isEmpty { authors = other.authors }
        copyright = copyright ?? other.copyright
        if keywords.isEmpty { keywords = other.keywords }
        rating = rating ?? other.rating
        software = software ?? other.software
    }
}

extension Double {
    /// The number, unless it says that the value is unknown.
    var positive: Double? { isFinite && self > 0 ? self : nil }
}

extension Int {
    /// The sensitivity; `nil` if it is unknown.
    init?(iso value: Double?) {
        guard let value, value >= 1, value < Double(UInt32.max) else { return nil }
        self = Int(value)
    }
}
