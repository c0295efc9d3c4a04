#if TIFF || PDF || HEIF
internal import TintypeImages

extension DecodeOptions {
    /// Refuses a page that a document doesn't have.
    /// - Throws: ``ImageError/Code/pageOutOfRange``
    func checkPage(count: Int) throws(ImageError) {
        guard page < 0 || page >= count else { return }
        throw ImageError(
            .pageOutOfRange, stage: .decode,
            reason: "there is no page \(page.addingReportingOverflow(1).partialValue): the document has "
                + (count == 1 ? "1 page" : "\(count) pages"))
    }
}
#endif
