#if HEIF
internal import CDE265
internal import Glibc
internal import TintypeImages

/// The memory of the pictures of a libde265 decoder.
///
/// Where a slice of a damaged picture ends early, libde265 reports no error, and leaves the rest as the memory was. So the memory is
/// zeroed, but for a mark in the luma of each coding block. A mark that is still there tells of a block that was never decoded.
final class HEVCPlaneMemory {
    private let size: PixelSize
    private let bytesPerSample: Int
    private var planes: [OpaquePointer: [UnsafeMutableRawPointer]] = [:]
    /// The bytes of a row of luma.
    private var bytesPerRow = 0

    /// The side of the smallest coding tree block (ITU-T H.265, section 7.4.3.2.1). At the right side, 8 pixels may be left of a block.
    private static let blockSide = 16
    /// In 8 bits, pixels that no picture has; in more, numbers that are out of range.
    private static let mark: UInt64 = 0xA51E_F708_E9C3_FD16

    /// - Parameter pictures: The size and depth of all pictures.
    init(_ pictures: HEVCPictureParameters) {
        size = pictures.codedSize
        bytesPerSample = pictures.bits > 8 ? 2 : 1
    }

    deinit { for memory in planes.values.joined() { free(memory) } }

    /// Gives a decoder memory. This object has to outlive the decoder.
    func provide(for decoder: UnsafeMutableRawPointer) {
        var functions = de265_image_allocation(
            get_buffer: { _, spec, image, memory in
                guard let spec, let image, let memory else { return 0 }
                let planes = Unmanaged<HEVCPlaneMemory>.fromOpaque(memory).takeUnretainedValue()
                return planes.allocate(spec.pointee, for: image) ? 1 : 0
            },
            release_buffer: { _, image, memory in
                guard let image, let memory else { return }
                Unmanaged<HEVCPlaneMemory>.fromOpaque(memory).takeUnretainedValue().release(image)
            })
        de265_set_image_allocation_functions(decoder, &functions, Unmanaged.passUnretained(self).toOpaque())
    }

    private func allocate(_ spec: de265_image_spec, for image: OpaquePointer) -> Bool {
        let (width, height, alignment) = (Int(spec.width), Int(spec.height), Int(spec.alignment))
        guard width > 0, height > 0, alignment > 0, width == size.width, height == size.height else { return false }
        var sizes = [(width, height)]
        switch spec.format {
        case de265_image_format_mono8: break
        case de265_image_format_YUV420P8: sizes += [(width / 2, height / 2), (width / 2, height / 2)]
        case de265_image_format_YUV422P8: sizes += [(width / 2, height), (width / 2, height)]
        case de265_image_format_YUV444P8: sizes += [(width, height), (width, height)]
        default: return false
        }
        release(image)
        var allocated: [UnsafeMutableRawPointer] = []
        for (channel, (width, height)) in sizes.enumerated() {
            let bytesPerRow = (width + alignment - 1) / alignment * alignment * bytesPerSample
            if channel == 0 { self.bytesPerRow = bytesPerRow }
            // libde265's own memory has a few bytes more, too, which its vector instructions read.
            guard let memory = calloc(1, bytesPerRow * height + 64) else {
                for memory in allocated { free(memory) }
                return false
            }
            allocated.append(memory)
            de265_set_image_plane(image, Int32(channel), memory, Int32(bytesPerRow), nil)
        }
        planes[image] = allocated
        forEachMark(of: image) { $0.storeBytes(of: Self.mark, as: UInt64.self) }
        return true
    }

    /// True if every block of a picture was decoded.
    func isComplete(_ image: OpaquePointer) -> Bool {
        var isComplete = true
        forEachMark(of: image) { if $0.load(as: UInt64.self) == Self.mark { isComplete = false } }
        return isComplete
    }

    private func forEachMark(of image: OpaquePointer, _ body: (UnsafeMutableRawPointer) -> Void) {
        guard let luma = planes[image]?.first else { return }
        for y in stride(from: 0, to: size.height, by: Self.blockSide) {
            for x in stride(from: 0, to: size.width, by: Self.blockSide) {
                body(luma + y * bytesPerRow + x * bytesPerSample)
            }
        }
    }

    private func release(_ image: OpaquePointer) {
        for memory in planes.removeValue(forKey: image) ?? [] { free(memory) }
    }
}
#endif
