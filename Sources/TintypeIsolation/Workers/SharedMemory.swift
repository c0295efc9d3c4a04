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
        let isWritten = data.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count, let start = bytes.baseAddress {
                let written = pwrite(descriptor, start + done, bytes.count - done, done)
                if written < 0, errno == EINTR { continue }
                guard written > 0 else { return false }
                done += written
            }
            return true
        }
        guard isWritten else { throw .system("share memory", errno) }
    }

    deinit { close(descriptor) }

    /// Returns the frames that a worker wrote: large ones without a copy, once they can't be written any more.
    func frames(_ image: WireImage, pool: PixelBufferPool) throws(WorkerConversation.Failure) -> [ImageFrame] {
        var frames: [ImageFrame] = []
        var isSealed = false
        for (index, duration) in image.durations.enumerated() {
            let offset = index * image.frameStride
            if image.frameStride >= Self.mappingThreshold {
                if !isSealed {
                    // A worker has no reason to map the memory, and so to prevent this.
                    guard tintype_seal_writing(descriptor) == 0 else { throw .nonsense }
                    isSealed = true
                }
                if let pixels = try mapped(image, at: offset) {
                    frames.append(ImageFrame(pixels: pixels, duration: duration))
                    continue
                }
            }
            frames.append(ImageFrame(pixels: try copied(image, at: offset, pool), duration: duration))
        }
        return frames
    }

    /// Smaller buffers aren't mapped.
    private static let mappingThreshold = 4 << 20

    private func mapped(_ image: WireImage, at offset: Int) throws(WorkerConversation.Failure) -> PixelBuffer? {
        guard let base = mmap(nil, image.frameStride, PROT_READ, MAP_PRIVATE, descriptor, offset), base != MAP_FAILED
        else {
            throw .system("map shared memory", errno)
        }
        if let pixels = PixelBuffer(mapped: base, count: image.frameStride, size: image.size, format: image.format) {
            return pixels
        }
        munmap(base, image.frameStride)
        return nil
    }

    private func copied(
        _ image: WireImage, at offset: Int, _ pool: PixelBufferPool
    ) throws(WorkerConversation.Failure) -> PixelBuffer {
        var copy: MutablePixelBuffer
        do throws(ImageError) {
            copy = try MutablePixelBuffer(size: image.size, format: image.format, cleared: false, pool: pool)
        } catch {
            throw .abandoned(error)
        }
        try copy.withUnsafeMutableBytes { bytes throws(WorkerConversation.Failure) in
            var done = 0
            while done < bytes.count, let start = bytes.baseAddress {
                let count = pread(descriptor, start + done, bytes.count - done, off_t(offset + done))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { throw .system("read shared memory", errno) }
                done += count
            }
        }
        return copy.freeze()
    }
}
