internal import CPNGShim
internal import FoundationEssentials
internal import TintypeImages

/// Decodes the bytes of a PNG file as they come, with libpng, to straight RGBA with 8 bits.
final class PNGPushReader {
    private let handle: OpaquePointer
    private(set) var header = tintype_png_header()

    init() throws(ImageError) {
        guard let handle = tintype_png_pusher_create() else {
            throw ImageError(.outOfMemory, stage: .decode, reason: "there isn't enough memory for a PNG decoder")
        }
        self.handle = handle
    }

    deinit { tintype_png_pusher_destroy(handle) }

    var hasHeader: Bool { tintype_png_pusher_has_header(handle) != 0 }
    var hasEnded: Bool { tintype_png_pusher_has_ended(handle) != 0 }
    /// True if the last row of the last pass has come, and nothing behind it is odd.
    var hasAllRows: Bool {
        tintype_png_pusher_has_all_rows(handle) != 0 && tintype_png_pusher_has_odd_end(handle) == 0
    }

    /// Processes bytes, and stops once at the start of the pixels.
    /// - Returns: the number of bytes that were processed.
    func push(_ bytes: UnsafeRawBufferPointer) throws(ImageError) -> Int {
        var used = 0
        try check(tintype_png_push(handle, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count, &used))
        return used
    }

    /// Prepares for rows.
    func start() throws(ImageError) { try check(tintype_png_pusher_start(handle, &header)) }

    /// Says where rows go.
    /// - Parameter rows: its context must live as long as bytes are pushed.
    func setRows(_ rows: tintype_png_rows) { tintype_png_pusher_set_rows(handle, rows) }

    private func check(_ status: tintype_png_status) throws(ImageError) {
        guard status != TINTYPE_PNG_OK else { return }
        throw .corrupt("the PNG is damaged: " + String(cString: tintype_png_pusher_message(handle)))
    }
}
