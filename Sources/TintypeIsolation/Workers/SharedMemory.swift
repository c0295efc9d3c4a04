internal import CIsolation
internal import FoundationEssentials
internal import Glibc
internal import TintypeImages

/// A file in memory of a fixed size, which the program makes and a worker sees. It can neither shrink nor grow.
final class SharedMemory {
    let descriptor: Int32
    let count: Int

    /// Makes a file for a worker to write.
    init(count: Int) throws(WorkerConversation.Failure) {
        descriptor = tintype_memory_file(count)
        self.count = count
        guard descriptor >= 0 else { throw .system("share memory", errno) }
    }

    /// Makes a file of bytes for a worker to read.
    convenience init(_ data: Data) throws(WorkerConversation.Failure) {
        try self.init(count: data.count)
        guard data.withUnsafeBytes({ Self.write($0, to: descriptor) }) else { throw .system("share memory", errno) }
    }

    deinit { close(descriptor) }

    /// Fills a file from its start. Returns false, with `errno`, if it can't.
    static func write(_ bytes: UnsafeRawBufferPointer, to file: Int32) -> Bool {
        var done = 0
        while done < bytes.count, let start = bytes.baseAddress {
            let count = pwrite(file, start + done, bytes.count - done, off_t(done))
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }

    /// Returns the pixels that a worker wrote: many without a copy, once they can't be written any more.
    func pixels(
        _ size: PixelSize, _ format: PixelFormat, pool: PixelBufferPool
    ) throws(WorkerConversation.Failure) -> PixelBuffer {
        // The system limits the number of mappings.
        guard count >= PixelMemory.mappingThreshold else { return try copied(size, format, pool) }
        // A worker has no reason to map the memory, and so to prevent this.
        guard tintype_seal_writing(descriptor) == 0 else { throw .nonsense }
        guard let base = mmap(nil, count, PROT_READ, MAP_PRIVATE, descriptor, 0), base != MAP_FAILED,
            let pixels = PixelBuffer(mapped: base, count: count, size: size, format: format)
        else { throw .system("map shared memory", errno) }
        return pixels
    }

    private func copied(
        _ size: PixelSize, _ format: PixelFormat, _ pool: PixelBufferPool
    ) throws(WorkerConversation.Failure) -> PixelBuffer {
        var copy: MutablePixelBuffer
        do throws(ImageError) {
            copy = try MutablePixelBuffer(size: size, format: format, cleared: false, pool: pool)
        } catch {
            throw .abandoned(error)
        }
        // Memory is read without interruption.
        let isWhole = copy.withUnsafeMutableBytes { bytes in
            pread(descriptor, bytes.baseAddress, bytes.count, 0) == bytes.count
        }
        guard isWhole else { throw .system("read shared memory", errno) }
        return copy.freeze()
    }
}
