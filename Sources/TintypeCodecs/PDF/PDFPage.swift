#if PDF
internal import CPoppler
internal import FoundationEssentials
internal import TintypeImages

/// A page of a PDF document.
final class PDFPage {
    let info: ImageInfo
    /// True if the document's end is missing, and objects with it.
    let isCut: Bool
    /// In points.
    let width: Double
    let height: Double
    private let document: OpaquePointer
    private let page: OpaquePointer

    /// Reads the page that the options name; of a document without an end as much as possible, if they allow a partial image.
    init(_ data: Data, options: DecodeOptions) throws(ImageError) {
        guard data.count <= PDFCoder.maximumBytes else {
            throw ImageError(
                .limitExceeded, stage: .decode,
                reason: "the PDF is \(ByteCount(data.count)), over the limit of \(ByteCount(PDFCoder.maximumBytes))")
        }
        let hasEnd = Self.hasEnd(data)
        isCut = !hasEnd && !Self.endsInTrailer(data)
        let truncation = ImageError.truncated("the PDF ends too early")
        guard options.allowsPartialImage || !isCut else { throw truncation }
        document = try Self.open(data, damage: hasEnd ? nil : truncation)
        let page: OpaquePointer?
        let count = Int(poppler_document_get_n_pages(document))
        do throws(ImageError) {
            // A document without pages is damaged, whichever page is requested.
            if count > 0 { try options.checkPage(count: count) }
            page = count > 0 ? poppler_document_get_page(document, Int32(options.page)) : nil
        } catch {
            g_object_unref(UnsafeMutableRawPointer(document))
            throw error
        }
        guard let page else {
            g_object_unref(UnsafeMutableRawPointer(document))
            throw hasEnd ? .corrupt("the PDF has no readable page") : truncation
        }
        self.page = page
        var (width, height) = (0.0, 0.0)
        poppler_page_get_size(page, &width, &height)
        (self.width, self.height) = (width, height)
        let size = CairoCanvas.pixels(width, height)
        var info = ImageInfo(format: .pdf, size: size, hasAlpha: false, isComplete: !isCut)
        info.pageCount = count
        self.info = info
        guard !size.isEmpty else {
            throw .corrupt("page \(options.page + 1) of the PDF has the invalid size \(width) × \(height)")
        }
    }

    deinit {
        g_object_unref(UnsafeMutableRawPointer(page))
        g_object_unref(UnsafeMutableRawPointer(document))
    }

    /// Returns true if the end-of-file marker is where readers look for it: in the last 1,024 bytes (ISO 32000-1, annex H.3),
    /// with more for data that scanners and servers append. Not anywhere: a document for the web has a cross-reference table
    /// after its first page.
    private static func hasEnd(_ data: Data) -> Bool {
        data.withUnsafeBytes { bytes in
            guard bytes.places(of: "/Linearized", before: 1_024).next() != nil else {
                return bytes.places(of: "%%EOF").next() != nil || bytes.places(of: "startxref").next() != nil
            }
            guard let end = bytes.lastPlace(of: "startxref") else { return false }
            let number = bytes[(end + 9)...].drop { $0 <= 0x20 }.prefix { (0x30...0x39).contains($0) }
            return number.contains { $0 != 0x30 }
        }
    }

    /// Returns true if a trailer follows all objects. Poppler needs it to find the pages, and can do without what should follow: it looks
    /// for the objects. A document for the web has a trailer at its beginning, too.
    private static func endsInTrailer(_ data: Data) -> Bool {
        data.withUnsafeBytes { bytes in
            bytes.lastPlace(of: "trailer").map { bytes.places(of: "obj", from: $0).next() == nil } ?? false
        }
    }

    /// - Parameter damage: The error for a document that Poppler calls damaged; `nil` for one that says so.
    private static func open(_ data: Data, damage: ImageError?) throws(ImageError) -> OpaquePointer {
        // Poppler's document keeps the bytes; they are copied, since it may outlive the caller's.
        let bytes = data.withUnsafeBytes { g_bytes_new($0.baseAddress, gsize($0.count)) }
        defer { g_bytes_unref(bytes) }
        var error: UnsafeMutablePointer<GError>?
        if let document = poppler_document_new_from_bytes(bytes, nil, &error) { return document }
        guard let error = GLibError(taking: error) else { throw .corrupt("the PDF can't be read") }
        if error.domain == poppler_error_quark(), error.code == Int32(POPPLER_ERROR_ENCRYPTED.rawValue) {
            throw .corrupt("the PDF is encrypted, and needs a password")
        }
        throw damage ?? .corrupt("the PDF is damaged (Poppler: \(error.message))")
    }

    /// Draws the whole page at a size.
    /// - Parameter allowsPartial: True to return the part of the page that cairo can draw.
    func draw(
        _ size: PixelSize, allowsPartial: Bool, context: ProcessingContext
    ) throws(ImageError) -> (pixels: PixelBuffer, isPartial: Bool) {
        try CairoCanvas.draw(
            "PDF", (width, height), at: size, paper: true, allowsPartial: allowsPartial, pool: context.pool
        ) { cairo in
            poppler_page_render(page, cairo)
            return nil
        }
    }
}

extension UnsafeRawBufferPointer {
    /// The offsets of a word, one after the other.
    /// - Parameters:
    ///   - start: The offset of the first byte that is looked at.
    ///   - end: only what begins before counts.
    fileprivate func places(of word: String, from start: Int = 0, before end: Int = .max) -> AnyIterator<Int> {
        let word = Array(word.utf8)
        var next = start
        return AnyIterator {
            while let place = firstIndex(of: word[0], from: next), place < end, place + word.count <= count {
                next = place + 1
                if self[place..<place + word.count].elementsEqual(word) { return place }
            }
            return nil
        }
    }

    fileprivate func lastPlace(of word: String) -> Int? { places(of: word).reduce(nil) { $1 } }
}
#endif
