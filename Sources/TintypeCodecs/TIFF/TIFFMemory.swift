#if TIFF
internal import CTIFF
internal import FoundationEssentials
internal import Glibc

/// Bytes in memory that libtiff reads or writes, with its error messages.
///
/// libtiff holds the object without retaining it: the object must outlive the handle.
final class TIFFMemory {
    private var bytes: UnsafeRawBufferPointer
    private var offset = 0
    /// The bytes that have been written.
    private(set) var written = Data()
    private let isWriting: Bool
    private(set) var message = ""
    private var first: String?

    /// A file to read.
    init(_ bytes: UnsafeRawBufferPointer) {
        self.bytes = bytes
        isWriting = false
    }

    /// A file to write.
    init() {
        bytes = UnsafeRawBufferPointer(start: nil, count: 0)
        isWriting = true
    }

    private var count: Int { isWriting ? written.count : bytes.count }

    /// A handle, to be closed with `TIFFClose`; `nil` for bytes with a bad header.
    /// - Parameter maximumAllocation: the most bytes that libtiff may take at once.
    func open(maximumAllocation: Int) -> OpaquePointer? {
        guard let options = TIFFOpenOptionsAlloc() else { return nil }
        defer { TIFFOpenOptionsFree(options) }
        TIFFOpenOptionsSetMaxSingleMemAlloc(options, tmsize_t(maximumAllocation))
        let this = Unmanaged.passUnretained(self).toOpaque()
        // Errors and warnings are kept here; libtiff would print them.
        TIFFOpenOptionsSetErrorHandlerExtR(
            options,
            { _, this, _, format, arguments in
                guard let memory = TIFFMemory.of(this), let format, let arguments else { return 1 }
                var text = [CChar](repeating: 0, count: 256)
                vsnprintf(&text, text.count, format, arguments)
                let reason = String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
                memory.note(reason)
                return 1
            }, this)
        TIFFOpenOptionsSetWarningHandlerExtR(options, { _, _, _, _, _ in 1 }, this)
        return TIFFClientOpenExt(
            "image", isWriting ? "w" : "r", this,
            { tmsize_t(TIFFMemory.of($0)?.read($1, Int($2)) ?? -1) },
            { tmsize_t(TIFFMemory.of($0)?.write($1, Int($2)) ?? -1) },
            { TIFFMemory.of($0)?.seek($1, $2) ?? .max }, { _ in 0 },
            { toff_t(TIFFMemory.of($0)?.count ?? 0) },
            { TIFFMemory.of($0)?.map($1, $2) ?? 0 }, { _, _, _ in }, options)
    }

    /// Keeps the first and the last message: the cause, and the consequence.
    private func note(_ reason: String) {
        first = first ?? reason
        message = first == reason ? reason : "\(first ?? ""); \(reason)"
    }

    private static func of(_ handle: UnsafeMutableRawPointer?) -> TIFFMemory? {
        handle.map { Unmanaged<TIFFMemory>.fromOpaque($0).takeUnretainedValue() }
    }

    private func read(_ buffer: UnsafeMutableRawPointer?, _ wanted: Int) -> Int {
        guard let buffer, wanted > 0, offset < count else { return 0 }
        let taken = min(wanted, count - offset)
        let target = UnsafeMutableRawBufferPointer(start: buffer, count: taken)
        if isWriting {
            written.copyBytes(to: target, from: written.startIndex + offset..<written.startIndex + offset + taken)
        } else {
            target.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + taken]))
        }
        offset += taken
        return taken
    }

    private func write(_ buffer: UnsafeMutableRawPointer?, _ size: Int) -> Int {
        guard isWriting, let buffer, size >= 0 else { return -1 }
        if written.count < offset { written.append(Data(count: offset - written.count)) }
        let replaced = offset..<max(offset, min(offset + size, written.count))
        written.replaceSubrange(replaced, with: buffer, count: size)
        offset += size
        return size
    }

    private func seek(_ target: toff_t, _ whence: Int32) -> toff_t {
        // A negative distance comes as a large unsigned number; sums wrap around to the right place.
        let base: Int
        switch whence {
        case SEEK_CUR: base = offset
        case SEEK_END: base = count
        default: base = 0
        }
        let place = Int(truncatingIfNeeded: target &+ toff_t(base))
        // Far beyond the end, nothing can be read; and nothing may be written.
        guard place >= 0, place <= (isWriting ? written.count + (1 << 20) : .max) else { return .max }
        offset = place
        return toff_t(place)
    }

    private func map(
        _ base: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ size: UnsafeMutablePointer<toff_t>?
    ) -> Int32 {
        guard !isWriting, let base, let size else { return 0 }
        // libtiff only reads memory that is mapped for reading.
        base.pointee = UnsafeMutableRawPointer(mutating: bytes.baseAddress)
        size.pointee = toff_t(bytes.count)
        return 1
    }
}
#endif
