package import TintypeImages

/// A message of the program to a worker.
package enum HostMessage: Codable, Sendable {
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
}

/// A message of a worker to the program. The program trusts nothing in it.
package enum WorkerMessage: Codable, Sendable {
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
    /// The request failed, for a reason in words.
    case failed(ImageError.Code, String)
}

/// The settings of a worker.
package struct WorkerSettings: Codable, Sendable {
    /// The memory that the worker may allocate, in bytes.
    package var memoryLimit = 0
    /// The part of it that needs no reservation.
    package var workingMemoryLimit = 0
    /// The variables of the environment that say where fonts are, and which language text has.
    package var variables: [String: String] = [:]
    /// The locale of the program, which decides about the shapes of some characters.
    package var locale = ""
}

/// The work that a worker is asked for.
package struct WireRequest: Codable, Sendable {
    /// The number of bytes of the encoded image.
    package var byteCount = 0
    /// The formats of the coder that decodes.
    package var formats: [ImageFormat] = []
    /// The options, without settings of single formats.
    package var options = DecodeOptions()
    package var limits = DecodeLimits()
}

/// A decoded image, or a frame of an animation, without its pixels.
package struct WireImage: Codable, Sendable {
    package var size: PixelSize
    package var format: PixelFormat
    package var duration: Duration
    package var properties: Image.Properties
    /// The header of the animation whose first frame this is, without the metadata, which the properties have; `nil` for a still image.
    package var animation: ImageInfo?

    package init(
        _ size: PixelSize, _ format: PixelFormat, duration: Duration = .zero,
        properties: Image.Properties = Image.Properties(), animation: ImageInfo? = nil
    ) {
        self.size = size
        self.format = format
        self.duration = duration
        self.properties = properties
        self.animation = animation
        self.animation?.metadata = ImageMetadata()
    }

    /// The bytes of the pixels; `nil` for a size that no memory has.
    var byteCount: Int? { PixelLayout(size: size, format: format)?.byteCount }
}
