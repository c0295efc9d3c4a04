internal import CommandSupport
internal import FoundationEssentials
internal import Tintype

/// The fields of metadata as `tintype info` shows them.
struct MetadataReport: Encodable {
    var captureDate: String?
    var cameraMake: String?
    var cameraModel: String?
    var lensModel: String?
    var exposureTime: Double?
    var aperture: Double?
    var iso: Int?
    var focalLength: Double?
    var title: String?
    var description: String?
    var authors: [String]?
    var copyright: String?
    var keywords: [String]?
    var rating: Int?
    var software: String?
    var latitude: Double?
    var longitude: Double?
    var altitude: Double?

    /// - Returns: `nil` if there is nothing to show.
    init?(_ fields: ImageMetadata.Fields, showsPlace: Bool) {
        var fields = fields
        if !showsPlace { fields.place = nil }
        guard fields != ImageMetadata.Fields() else { return nil }
        captureDate = fields.captureDate.map(Self.text)
        cameraMake = fields.cameraMake
        cameraModel = fields.cameraModel
        lensModel = fields.lensModel
        exposureTime = fields.exposureTime
        aperture = fields.aperture
        iso = fields.iso
        focalLength = fields.focalLength
        title = fields.title
        description = fields.description
        authors = fields.authors.isEmpty ? nil : fields.authors
        copyright = fields.copyright
        keywords = fields.keywords.isEmpty ? nil : fields.keywords
        rating = fields.rating
        software = fields.software
        latitude = fields.place?.latitude
        longitude = fields.place?.longitude
        altitude = fields.place?.altitude
    }

    /// The fields for people, in the order in which they are shown.
    var parts: [String] {
        var parts = [title.map { "“\($0)”" }, captureDate].compactMap(\.self)
        // Models often begin with the maker.
        let camera = [cameraModel?.hasPrefix(cameraMake ?? " ") == true ? nil : cameraMake, cameraModel].compactMap(
            \.self)
        if !camera.isEmpty { parts.append(camera.joined(separator: " ")) }
        if let lensModel { parts.append(lensModel) }
        if let exposureTime {
            // As on cameras: fractions of a second below a quarter.
            parts.append(exposureTime < 0.3 ? "1/\((1 / exposureTime).fixed(0)) s" : "\(exposureTime.fixed(1)) s")
        }
        if let aperture { parts.append("f/\(aperture.fixed(1))") }
        if let iso { parts.append("ISO \(iso)") }
        if let focalLength { parts.append("\(focalLength.fixed(focalLength < 10 ? 1 : 0)) mm") }
        if let authors { parts.append("by \(authors.joined(separator: " and "))") }
        if let rating { parts.append("rating \(rating)") }
        if let latitude, let longitude {
            let height = altitude.map { ", \($0.fixed(0)) m" } ?? ""
            parts.append("at \(latitude.fixed(5)), \(longitude.fixed(5))\(height)")
        }
        return parts
    }

    /// A date and time in ISO 8601, as far as they are known.
    private static func text(_ date: DateComponents) -> String {
        func digits(_ number: Int, _ count: Int = 2) -> String {
            String(repeating: "0", count: max(0, count - "\(number)".count)) + "\(number)"
        }
        var text = digits(date.year ?? 0, 4)
        if let month = date.month { text += "-" + digits(month) }
        if let day = date.day { text += "-" + digits(day) }
        guard let hour = date.hour, let minute = date.minute else { return text }
        text += "T\(digits(hour)):\(digits(minute))"
        if let second = date.second { text += ":" + digits(second) }
        if let nanosecond = date.nanosecond {
            var fraction = digits(nanosecond, 9)
            while fraction.last == "0" { fraction.removeLast() }
            if !fraction.isEmpty { text += "." + fraction }
        }
        if let offset = date.timeZone?.secondsFromGMT() {
            let minutes = abs(offset) / 60
            text += offset == 0 ? "Z" : (offset < 0 ? "-" : "+") + digits(minutes / 60) + ":" + digits(minutes % 60)
        }
        return text
    }
}
