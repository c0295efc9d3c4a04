import Foundation
import Tintype
import TintypeTesting

/// Small files of a format, drawn and written by Tintype itself.
enum FuzzSeeds {
    static func make(for subject: FuzzSubject) throws -> [Data] {
        let samples = try SampleImages.all(scale: 0.03)
        var seeds = samples.filter { subject.formats.contains($0.format) }.map(\.data)
        // Opaque, translucent and moving pictures, in each way that the encoder has.
        let pictures = try ["dunes-portrait.jpg", "color-wheel-alpha.png", "pinwheel.gif", "ripple.webp"].compactMap {
            name in
            try samples.first { $0.name == name }.map { try Image(data: $0.data) }
        }
        for format in subject.formats where ImageCoders.default.encodableFormats.contains(format) {
            for picture in pictures {
                var options = EncodeOptions(quality: 0.6)
                seeds.append(try picture.encoded(as: format, options: options))
                options.lossless = true
                options.progressive = true
                seeds.append(try picture.encoded(as: format, options: options))
            }
        }
        // Large enough for thumbnails that are decoded without libjpeg, within the limit on pixels.
        if subject.formats.contains(.jpeg) {
            seeds += try [SampleImages.Kind.mountains, .sea].map { try SampleImages.draw($0, scale: 0.06).data }
        }
        if subject.formats.contains(.svg) { seeds += drawings.map { Data($0.utf8) } }
        if subject.formats.contains(.pdf) { seeds += documents }
        if subject.formats.contains(.raw), let picture = pictures.first { seeds += try cameraFiles(picture) }
        return seeds
    }

    private static let drawings = [
        "<svg xmlns='http://www.w3.org/2000/svg' width='20' height='10'><rect width='9' height='9' fill='red'/></svg>",
        """
        <?xml version='1.0'?><!DOCTYPE svg [<!ENTITY c '#0f0'>]><svg xmlns='http://www.w3.org/2000/svg' \
        xmlns:xlink='http://www.w3.org/1999/xlink' viewBox='0 0 40 40'><style>.a{fill:blue;stroke:&c;}</style><defs>\
        <linearGradient id='g'><stop offset='0' stop-color='red'/><stop offset='1' stop-opacity='.3'/></linearGradient>\
        <filter id='f'><feGaussianBlur stdDeviation='2'/><feOffset dx='3'/></filter><mask id='m'><circle r='9' fill='#fff'/>\
        </mask><pattern id='p' width='4' height='4' patternUnits='userSpaceOnUse'><path d='M0 0l4 4'/></pattern></defs>\
        <g transform='rotate(9) scale(2)' opacity='.5'><path class='a' d='M1 1C9 2 3 4 20 30q5 5 6 6A3 4 0 1 1 9 9z'/></g>\
        <circle cx='20' cy='20' r='9' fill='url(#g)' filter='url(#f)' mask='url(#m)'/><use xlink:href='#p'/>\
        <rect width='50%' height='9' fill='url(#p)' clip-path='circle()'/><text x='3' y='9'>text</text></svg>
        """,
    ]

    private static var documents: [Data] {
        var form = SamplePDF(
            "/MediaBox [0 0 40 40] /Resources << /XObject << /F 5 0 R >> /ExtGState << /G << /ca 0.5 /BM /Multiply >> >> >>",
            "q 0.5 0 0 0.5 3 3 cm /G gs /F Do Q 1 0 0 RG 3 w 2 2 m 9 30 20 5 30 30 c S BT 10 10 Td (text) Tj ET")
        form.objects.append(
            ("<< /Type /XObject /Subtype /Form /BBox [0 0 40 40] /Length 28 >>", "0 1 0 rg 0 0 20 20 re f* n W"))
        var image = SamplePDF(
            "/MediaBox [0 0 8 8] /Rotate 90 /Resources << /XObject << /I 5 0 R >> >>", "8 0 0 8 0 0 cm /I Do")
        image.objects.append(
            (
                "<< /Type /XObject /Subtype /Image /Width 2 /Height 2 /BitsPerComponent 8 /ColorSpace /DeviceGray /Length 9 "
                    + "/Filter /ASCIIHexDecode >>", "00FF80C0>"
            ))
        return [SamplePDF("/MediaBox [0 0 20 10]", SamplePDF.halves).data, form.data, image.data]
    }

    private static func cameraFiles(_ picture: Image) throws -> [Data] {
        var file = SampleDNG(picture: try picture.resized(to: PixelSize(width: 64, height: 48)).pixels)
        var files = [file.data]
        file.orientation = .right
        let small = try picture.resized(to: PixelSize(width: 32, height: 24))
        file.preview = (try small.encoded(as: .jpeg), small.size)
        files.append(file.data)
        return files
    }
}
