#if RAW
internal import CLibRaw
internal import TintypeCore

/// What libraw tells while it works, and whether it is to go on.
///
/// libraw holds the object without a reference of its own: it must outlive the handle.
final class RAWWatch {
    /// Bytes were wanted behind the last one.
    private(set) var missesBytes = false
    /// Bytes made no sense.
    private(set) var sawDamage = false
    private let context: DecodeContext
    private var wasCancelled = false

    init(_ context: DecodeContext) { self.context = context }

    func attach(to handle: UnsafeMutablePointer<libraw_data_t>) {
        let this = Unmanaged.passUnretained(self).toOpaque()
        libraw_set_dataerror_handler(
            handle,
            { this, _, offset in
                guard let watch = RAWWatch.of(this) else { return }
                // A negative place is the end.
                if offset < 0 { watch.missesBytes = true } else { watch.sawDamage = true }
            }, this)
        libraw_set_progress_handler(
            handle, { this, _, _, _ in RAWWatch.of(this)?.isCancelled() == true ? 1 : 0 }, this)
    }

    private static func of(_ this: UnsafeMutableRawPointer?) -> RAWWatch? {
        this.map { Unmanaged<RAWWatch>.fromOpaque($0).takeUnretainedValue() }
    }

    private func isCancelled() -> Bool {
        // The first answer counts: libraw asks again on its way out.
        if !wasCancelled { do throws(ImageError) { try context.checkCancellation() } catch { wasCancelled = true } }
        return wasCancelled
    }
}
#endif
