import FoundationEssentials
import Glibc
import TintypeImages
import TintypeIsolation

/// A helper whose decoder misbehaves as its file says.
@main
struct TestDecoder {
    static func main() {
        // Makes the fonts known, as in a helper that draws text.
        let coder = ImageCoders([MisbehavingCoder()])
        let status = DecoderWorker(coders: coder).run {
            _ = dlopen("libfontconfig.so.1", RTLD_NOW | RTLD_GLOBAL)
        }
        exit(status)
    }
}

/// Reads "files" that name a misdeed.
struct MisbehavingCoder: AnimatedImageCoder {
    static let size = PixelSize(width: 3, height: 2)

    var decodableFormats: Set<ImageFormat> { [.svg] }

    func info(of data: Data, context: ProcessingContext) throws(ImageError) -> ImageInfo {
        var info = ImageInfo(format: .svg, size: Self.size, hasAlpha: true)
        let words = String(decoding: data, as: UTF8.self).split(separator: " ").map { String($0) }
        if words.first == "lie", words.count > 1 { Lies.change(&info, words[1]) }
        return info
    }

    func frameDecoder(
        for data: Data, options: DecodeOptions, context: ProcessingContext
    ) throws(ImageError) -> any FrameDecoder { EndlessFrames(info: try info(of: data, context: context)) }

    func decode(_ data: Data, options: DecodeOptions, context: ProcessingContext) throws(ImageError) -> Image {
        let words = String(decoding: data, as: UTF8.self).split(separator: " ")
        let bytes = words.first == "greedy" ? 1 << 40 : words.first == "reserved" ? 600 << 20 : 24
        if words.first != "unreserved" { _ = try context.reserve(bytes) }
        if let misdeed = words.first { try commit(String(misdeed), words.dropFirst().first.map { String($0) }) }
        var properties = Image.Properties()
        properties.format = .svg
        let size = words.first == "large" ? PixelSize(width: 2_000, height: 1_000) : Self.size
        properties.sourceSize = size
        var pixels = try MutablePixelBuffer(size: size, pool: context.pool)
        pixels.withUnsafeMutableBytes { bytes in
            for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: index) }
        }
        return Image(pixels: pixels.freeze(), properties: properties)
    }

    private func commit(_ misdeed: String, _ path: String?) throws(ImageError) {
        switch misdeed {
        case "lie": Lies.tell(path ?? "")
        case "fail": throw ImageError(ImageError.Code(rawValue: path ?? ""), stage: .load, reason: "it failed")
        case "abort": abort()
        case "trap": _ = [Int]()[misdeed.count]
        case "exit": exit(3)
        case "spin":
            // Computes: a thread that yields may get no processor time beside others, and it is the time that ends it.
            var steps = 0
            while true { steps &+= 1 }
        case "allocate":
            for _ in 0..<10_240 { takeMegabyte() }
        case "reserved": for _ in 0..<600 { takeMegabyte() }
        case "pause": usleep(300_000)
        case "open":
            guard open("/etc/passwd", O_RDONLY) < 0 else { return }
            throw ImageError(.corruptImage, stage: .decode, reason: "error \(errno)")
        case "font":
            // The misdeed is the second word: a path.
            let file = open(path ?? "", O_RDONLY)
            guard file < 0 else {
                close(file)
                return
            }
            throw ImageError(.corruptImage, stage: .decode, reason: "error \(errno)")
        case "writefont":
            guard let path, open(path, O_RDWR) < 0 else { return }
            throw ImageError(.corruptImage, stage: .decode, reason: "error \(errno)")
        case "write":
            guard open("/tmp/tintype-test", O_WRONLY | O_CREAT, 0o600) < 0 else { return }
            throw ImageError(.corruptImage, stage: .decode, reason: "error \(errno)")
        case "socket": _ = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        // The lifeline, by which the kernel ends the process with its program.
        case "lifeline": close(4)
        case "kill": _ = kill(getppid(), 0)
        case "signal":
            // The program would be sent a signal for each message.
            _ = fcntl(3, F_SETOWN, getppid())
        case "trace": _ = Glibc.open("/proc/self/mem", O_RDWR)
        case "process":
            var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("true"), nil]
            _ = posix_spawn(nil, "/bin/true", nil, nil, &arguments, nil)
        case "garbage": send([UInt8](repeating: 7, count: 4_096))
        // An answer whose content is missing, one that ends within its number, and one without an end.
        case "nonsense": send(#"{"layout":{}}"#)
        case "short": send(#"{"reserve":{"_0":1"#)
        case "deep": send(String(repeating: "[", count: 1 << 20))
        // The length of 4 GB.
        case "long": send([UInt8](repeating: 255, count: 8))
        // "Written", before there is any memory.
        case "early": send(#"{"written":{}}"#)
        // A number that no integer has.
        case "huge": send(#"{"reserve":{"_0":1e999}}"#)
        case "pixels":
            try writePixels { file throws(ImageError) in
                for offset in 8..<10_240 where pwrite(file, [0], 1, off_t(offset) << 20) >= 0 { return }
                throw ImageError(.limitExceeded, stage: .decode, reason: "error \(errno)")
            }
        case "shorten":
            try writePixels { file throws(ImageError) in
                _ = ftruncate(file, 0)
            }
        case "leave": try writePixels { _ throws(ImageError) in _exit(3) }
        case "mapped":
            try writePixels { file throws(ImageError) in
                _ = mmap(nil, 4_096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
            }
        default: break
        }
    }

    private func takeMegabyte() {
        guard let memory = malloc(1 << 20) else { abort() }
        memset(memory, 1, 1 << 20)
    }

    /// Describes an image of 8 MB, does something with the memory for its pixels, and says that they are written.
    private func writePixels(_ body: (_ file: Int32) throws(ImageError) -> Void) throws(ImageError) {
        Lies.send(.layout(Lies.image(PixelSize(width: 2_000, height: 1_000))))
        try body(Lies.receive())
        Lies.send(.written)
        Lies.waitForEver()
    }

    /// Sends a message of JSON alone.
    private func send(_ text: String) {
        send(withUnsafeBytes(of: (UInt32(text.utf8.count), UInt32(0))) { [UInt8]($0) } + text.utf8)
    }

    private func send(_ bytes: [UInt8]) { _ = bytes.withUnsafeBytes { Glibc.write(3, $0.baseAddress, $0.count) } }
}
