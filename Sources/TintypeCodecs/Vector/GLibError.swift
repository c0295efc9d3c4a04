#if SVG || PDF
// Which of them is taken to define their shared declarations is up to the compiler, so all are imported.
#if PDF
internal import CPoppler
#endif
#if SVG
internal import CRSVG
#endif

/// An error of a library that is built on GLib, copied and freed.
struct GLibError {
    let domain: GQuark
    let code: Int32
    let message: String

    /// - Returns: `nil` without an error.
    init?(taking error: UnsafeMutablePointer<GError>?) {
        guard let error else { return nil }
        domain = error.pointee.domain
        code = error.pointee.code
        var text = String(cString: error.pointee.message)
        // libxml2 ends lines.
        while text.last?.isWhitespace == true { text.removeLast() }
        message = text
        g_error_free(error)
    }
}
#endif
