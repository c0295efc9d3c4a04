package import TintypeImages

/// A message of the program to a worker.
package enum HostMessage: WireValue, Sendable {
    /// The first message.
    case begin(WorkerSettings)
    /// Asks for the header of an image, whose bytes are in the file that comes along.
    case info(WireRequest)
    /// Asks for an image, whose bytes are in the file that comes along.
    case decode(WireRequest)
    /// Opens an animation, whose bytes are in the file that comes along.
    case open(WireRequest)
    /// Asks for the next frame of the open animation.
    case nextFrame
    /// Moves to a frame of the open animation.
    case seek(Int)
    /// Keeps copies of the canvas of the open animation at this interval.
    case keepSeekPoints(Int)
    /// Ends the open animation. It isn't answered.
    case close
    /// The answer to ``WorkerMessage/reserve(_:)``: there is room.
    case proceed
    /// The answer to ``WorkerMessage/reserve(_:)``: no room is left, and the worker gives up the image.
    case stop
    /// The answer to ``WorkerMessage/layout(_:)``, with the memory for the pixels.
    case memory

    package func write(to writer: inout WireWriter) {
        switch self {
        case .begin(let settings): writer.write(0, settings)
        case .info(let request): writer.write(1, request)
        case .decode(let request): writer.write(2, request)
        case .open(let request): writer.write(3, request)
        case .nextFrame: writer.write(4)
        case .seek(let index): writer.write(5, index)
        case .keepSeekPoints(let interval): writer.write(6, interval)
        case .close: writer.write(7)
        case .proceed: writer.write(8)
        case .stop: writer.write(9)
        case .memory: writer.write(10)
        }
    }

    package init(from reader: inout WireReader) throws(WireSocket.Failure) {
        switch try reader.read(Int.self) {
        case 0: self = .begin(try reader.read())
        case 1: self = .info(try reader.read())
        case 2: self = .decode(try reader.read())
        case 3: self = .open(try reader.read())
        case 4: self = .nextFrame
        case 5: self = .seek(try reader.read())
        case 6: self = .keepSeekPoints(try reader.read())
        case 7: self = .close
        case 8: self = .proceed
        case 9: self = .stop
        case 10: self = .memory
        default: throw .garbage
        }
    }
}

/// A message of a worker to the program. The program trusts nothing in it.
package enum WorkerMessage: WireValue, Sendable {
    /// The worker is confined, and waits for requests.
    case ready
    /// A decoder needs this number of bytes.
    case reserve(Int)
    case info(ImageInfo)
    /// The open animation, and the size of its frames.
    case opened(ImageInfo, PixelSize)
    /// A decoded image or frame, without its pixels.
    case layout(WireImage)
    /// The pixels are in the memory of the program.
    case written
    /// The request is done, without a result: the end of an animation, or a frame was sought.
    case done
    case failed(ImageError)

    package func write(to writer: inout WireWriter) {
        switch self {
        case .ready: writer.write(0)
        case .reserve(let bytes): writer.write(1, bytes)
        case .info(let info): writer.write(2, info)
        case .opened(let info, let size):
            writer.write(3, info)
            writer.write(size)
        case .layout(let image): writer.write(4, image)
        case .written: writer.write(5)
        case .done: writer.write(6)
        case .failed(let error): writer.write(7, error)
        }
    }

    package init(from reader: inout WireReader) throws(WireSocket.Failure) {
        switch try reader.read(Int.self) {
        case 0: self = .ready
        case 1: self = .reserve(try reader.read())
        case 2: self = .info(try reader.read())
        case 3: self = .opened(try reader.read(), try reader.read())
        case 4: self = .layout(try reader.read())
        case 5: self = .written
        case 6: self = .done
        case 7: self = .failed(try reader.read())
        default: throw .garbage
        }
    }
}

extension WireWriter {
    /// Writes the number of a message, and its content.
    fileprivate mutating func write(_ number: Int, _ content: some WireValue) {
        write(number)
        write(content)
    }
}

/// The settings of a worker.
package struct WorkerSettings: WireRecord, Sendable {
    /// The memory that the worker may allocate, in bytes.
    package var memoryLimit = 0
    /// The part of it that needs no reservation.
    package var workingMemoryLimit = 0
    /// The variables of the environment that say where fonts are, and which language text has: each name is followed by its value.
    package var variables: [String] = []
    /// The locale of the program, which decides about the shapes of some characters.
    package var locale = ""

    package static var blank: WorkerSettings { WorkerSettings() }

    package mutating func pass(_ parts: inout some WireParts) throws(WireSocket.Failure) {
        try parts.pass(&memoryLimit)
        try parts.pass(&workingMemoryLimit)
        try parts.pass(&variables)
        try parts.pass(&locale)
    }
}

/// The work that a worker is asked for.
package struct WireRequest: WireRecord, Sendable {
    /// The number of bytes of the encoded image.
    package var byteCount = 0
    /// The formats of the coder that decodes.
    package var formats: [ImageFormat] = []
    package var options = DecodeOptions()
    package var limits = DecodeLimits()

    package static var blank: WireRequest { WireRequest() }

    package mutating func pass(_ parts: inout some WireParts) throws(WireSocket.Failure) {
        try parts.pass(&byteCount)
        try parts.pass(&formats)
        try parts.pass(&options)
        try parts.pass(&limits)
    }
}
