#if RAW
internal import CLibRaw
internal import TintypeImages

/// Receives libraw's reports while it works, and stops it when the decode is canceled.
///
/// libraw holds the object without retaining it: the object must outlive the handle.
final class RAWCallbacks {
    /// True if libraw has tried to read behind the last byte.
    private(set) var missesBytes = false
    /// True if libraw has met bytes that make no sense.
    private(set) var sawDamage = false
    private let context: ProcessingContext
    private var wasCancelled = false

    init(_ context: ProcessingContext) { self.context = context }

    func attach(to handle: UnsafeMutablePointer<libraw_data_t>) {
        let this = Unmanaged.passUnretained(self).toOpaque()
        libraw_set_dataerror_handler(
            handle,
            { this, _, offset in
                guard let callbacks = RAWCallbacks.of(this) else { return }
                // A negative place is the end.
                if offset < 0 { callbacks.missesBytes = true } else { callbacks.sawDamage = true }
            }, this)
        libraw_set_progress_handler(
            handle, { this, _, _, _ in RAWCallbacks.of(this)?.isCancelled() == true ? 1 : 0 }, this)
    }

    private static func of(_ this: UnsafeMutableRawPointer?) -> RAWCallbacks? {
        this.map { Unmanaged<RAWCallbacks>.fromOpaque($0).takeUnretainedValue() }
    }

    private func isCancelled() -> Bool {
        // The first answer counts: libraw asks again on its way out.
        if !wasCancelled { do throws(ImageError) { try context.checkCancellation() } catch { wasCancelled = true } }
        return wasCancelled
    }
}
#endif
