public import FoundationEssentials

/// A writer of small PDF files, object by object (ISO 32000-1, 7.5).
public struct SamplePDF {
    /// The objects, starting with number 1: their dictionaries and the contents of their streams.
    public var objects: [(dictionary: String, stream: String?)]
    /// Text before the first object.
    public var preamble = ""
    /// Additional text in the trailer.
    public var trailer = ""

    /// Creates a document of a single page.
    /// - Parameters:
    ///   - page: additional entries of the page's dictionary.
    ///   - drawing: the content stream.
    ///   - extra: further objects, with the contents of their streams.
    public init(_ page: String = "/MediaBox [0 0 20 10]", _ drawing: String, extra: [(String, String?)] = []) {
        objects = [
            ("<< /Type /Catalog /Pages 2 0 R >>", nil), ("<< /Type /Pages /Kids [3 0 R] /Count 1 >>", nil),
            ("<< /Type /Page /Parent 2 0 R /Contents 4 0 R \(page) >>", nil),
            ("<< /Length \(drawing.utf8.count) >>", drawing),
        ]
        objects += extra.map { (dictionary: $0.0, stream: $0.1) }
    }

    /// A content stream that draws the left half red and the upper right quarter blue, on white paper.
    public static let halves = "1 0 0 rg 0 0 10 10 re f 0 0 1 rg 10 5 10 5 re f"

    /// The contents of the file.
    public var data: Data {
        var file = "%PDF-1.4\n" + preamble
        var offsets: [Int] = []
        for (index, object) in objects.enumerated() {
            offsets.append(file.utf8.count)
            file += "\(index + 1) 0 obj\n\(object.dictionary)\n"
            if let stream = object.stream { file += "stream\n\(stream)\nendstream\n" }
            file += "endobj\n"
        }
        let table = file.utf8.count
        file += "xref\n0 \(objects.count + 1)\n0000000000 65535 f \n"
        for offset in offsets {
            let digits = String(offset)
            file += String(repeating: "0", count: max(0, 10 - digits.count)) + digits + " 00000 n \n"
        }
        file += "trailer\n<< /Size \(objects.count + 1) /Root 1 0 R \(trailer) >>\nstartxref\n\(table)\n%%EOF\n"
        return Data(file.utf8)
    }
}
