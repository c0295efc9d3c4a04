import FoundationEssentials
import Glibc
import TintypeImages
import TintypeIsolation

/// Messages that no honest worker sends.
enum Lies {
    /// Changes the header of an image.
    static func change(_ info: inout ImageInfo, _ lie: String) {
        switch lie {
        case "frames": info.frameCount = .max
        case "many": info.frameCount = 2_000_000
        case "pages": info.pageCount = .max
        case "size": info.size = PixelSize(width: 1 << 32, height: 1 << 32)
        case "empty": info.size.width = 0
        case "loop": info.loopCount = .max
        case "durations": info.frameDurations = [Duration](repeating: .zero, count: 20_000)
        case "duration": info.frameDurations = [.seconds(1 << 40)]
        case "bits": info.bitsPerComponent = 65
        case "map": info.gainMap = ImageInfo.GainMap(size: PixelSize(width: 1 << 40, height: 1), components: 3)
        case "format": info.format = ImageFormat(rawValue: "../../etc/passwd")
        case "block": info.metadata.exif = Data(count: 5 << 20)
        case "words": info.colorProfile = "\u{1B}]0;title\u{7}\u{202E}red\n"
        case "endless":
            info.frameCount = 3
            info.frameDurations = [Duration](repeating: .seconds(1), count: 3)
        default: break
        }
    }

    /// Answers a request to decode.
    static func tell(_ lie: String) {
        switch lie {
        case "tall": send(.layout(image(PixelSize(width: 1, height: 1 << 31))))
        case "long": send(.layout(image(PixelSize(width: 1, height: 1 << 24))))
        case "box", "bytes": send(.layout(image(PixelSize(width: 128, height: 96))))
        case "header":
            var described = image(MisbehavingCoder.size)
            described.animation = ImageInfo(
                format: .svg, size: PixelSize(width: 9_000, height: 1), frameCount: 2, hasAlpha: true)
            send(.layout(described))
        case "source": send(described { $0.sourceSize = PixelSize(width: .max, height: .max) })
        case "loop": send(described { $0.loopCount = .max })
        case "scale": send(described { $0.scale = 1e308 })
        case "bits": send(described { $0.bitsPerComponent = 0 })
        case "format": send(described { $0.format = ImageFormat(rawValue: "../../etc/passwd") })
        case "unknown": send(described { $0.format = nil })
        case "colors": send(described { $0.colorSpace = ColorSpace(name: "own", profile: nil) })
        case "partial": send(described { $0.isPartial = true })
        case "moving": send(described { $0.mayMove = true })
        case "transformed": send(described { $0.isTransformed = true })
        case "digest": send(described { $0.metadata.iptcDigest = Data(count: 4) })
        case "metadata": send(described { $0.metadata.xmp = Data(count: 20 << 20) })
        case "deep": send(.layout(image(MisbehavingCoder.size, format: .rgbaFloat16)))
        case "cancelled", "overBudget", "decoderCrashed", "notCached":
            send(.failed(ImageError.Code(rawValue: lie), "a lie"))
        case "words":
            send(.failed(.corruptImage, "\u{1B}[31mred\u{202E}\r\n"))
            _exit(0)
        case "nothing": waitForEver()
        case "negative": send(.reserve(-1))
        case "nothingReserved": send(.reserve(0))
        case "late":
            send(.layout(image(MisbehavingCoder.size)))
            _ = receive()
            send(.reserve(1))
        case "reserve":
            send(.reserve(.max))
            _ = receive()
            send(.failed(.corruptImage, "reserved"))
            _exit(0)
        case "flood": while true { send(.reserve(1)) }
        case "files": send(.reserve(1), file: 0)
        case "ready": send(.ready)
        case "done": send(.done)
        case "opened": send(.opened(ImageInfo(format: .svg, size: MisbehavingCoder.size, hasAlpha: true), .zero))
        default: break
        }
        waitForEver()
    }

    static func image(_ size: PixelSize, format: PixelFormat = .rgba8) -> WireImage {
        WireImage(size, format, properties: properties(size))
    }

    private static func properties(_ size: PixelSize) -> Image.Properties {
        var properties = Image.Properties()
        properties.format = .svg
        properties.sourceSize = size
        return properties
    }

    private static func described(_ change: (inout Image.Properties) -> Void) -> WorkerMessage {
        var properties = properties(MisbehavingCoder.size)
        change(&properties)
        return .layout(WireImage(MisbehavingCoder.size, .rgba8, properties: properties))
    }

    // MARK: The connection

    private static let socket = WireSocket(descriptor: 3)

    static func send(_ message: WorkerMessage, file: Int32 = -1) {
        do throws(WireSocket.Failure) { try socket.send(message, file: file, wait: wait) } catch { _exit(0) }
    }

    /// Receives a message, and returns the file that came with it.
    static func receive() -> Int32 {
        var file: Int32 = -1
        do throws(WireSocket.Failure) {
            _ = try socket.receive(HostMessage.self, file: &file, wait: wait)
            return file
        } catch {
            _exit(0)
        }
    }

    static func waitForEver() -> Never {
        while true { wait(0) }
    }

    private static func wait(_ events: Int32) {
        var descriptor = pollfd(fd: 3, events: Int16(events), revents: 0)
        poll(&descriptor, 1, -1)
    }
}

/// An animation that never ends.
final class EndlessFrames: FrameDecoder {
    let info: ImageInfo
    let outputSize = MisbehavingCoder.size

    init(info: ImageInfo) { self.info = info }

    func nextFrame() throws(ImageError) -> ImageFrame? {
        ImageFrame(pixels: try MutablePixelBuffer(size: outputSize).freeze(), duration: .seconds(1))
    }

    func rewind() throws(ImageError) {}
    func seek(to index: Int) throws(ImageError) {}
    func keepSeekPoints(every interval: Int) {}
}
