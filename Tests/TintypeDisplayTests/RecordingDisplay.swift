import FoundationEssentials

@testable import TestDoubles
@testable import TintypeCaching
@testable import TintypeDisplay
@testable import TintypeImages
@testable import TintypeLoading

/// A display that records what it is told to show.
@MainActor final class RecordingDisplay: ImageDisplay {
    private(set) lazy var imageBinding = ImageBinding(self, manager: manager, clock: clock)
    private let manager: ImageManager
    private let clock: any Clock<Duration>
    /// The steps in order, such as `placeholder`, `image 8x8`, `spinner starts`.
    var log: [String] = []
    var shown: [ImageSlot: DisplayedImage] = [:]
    var playing: [ImageSlot: AnimatedImage] = [:]
    var isAnimating = false
    /// The size that the display wants; `nil` for the request's.
    var thumbnailSize: PixelSize?
    /// The transitions whose ends the test decides.
    var transitions: [@MainActor (Bool) -> Void] = []
    var endsTransitions = true

    /// The phases that the display was told of.
    var phases: [String] = []

    init(_ manager: ImageManager, clock: any Clock<Duration> = ContinuousClock()) {
        self.manager = manager
        self.clock = clock
    }

    func show(_ content: DisplayedImage?, in slot: ImageSlot) {
        shown[slot] = content
        playing[slot] = nil
        let place = slot == .image ? "" : " in \(slot.rawValue)"
        log.append((content.map { "\($0.role) \($0.image.size)" } ?? "nothing") + place)
    }

    func show(
        _ content: DisplayedImage, in slot: ImageSlot, with transition: ImageTransition,
        completion: @escaping @MainActor (Bool) -> Void
    ) {
        show(content, in: slot)
        log.append("transition begins")
        if endsTransitions { completion(true) } else { transitions.append(completion) }
    }

    func adapted(_ request: ImageRequest, for slot: ImageSlot) -> ImageRequest {
        var request = request
        if let thumbnailSize { request.thumbnailSize = thumbnailSize }
        return request
    }

    func indicator(_ style: IndicatorStyle, in slot: ImageSlot) -> (any ImageIndicator)? {
        RecordingIndicator(self, style)
    }

    func playsAnimations(in slot: ImageSlot) -> Bool { isAnimating }

    func phaseChanged(of slot: ImageSlot) {
        switch imageBinding.phase(of: slot) {
        case .empty: phases.append("empty")
        case .loading: if phases.last != "loading" { phases.append("loading") }
        case .image: phases.append("image")
        case .failure(let error): phases.append("\(error.code)")
        }
    }

    func play(_ animation: AnimatedImage, in slot: ImageSlot) {
        playing[slot] = animation
        log.append("plays \(animation.frameCount)")
    }
}

@MainActor final class RecordingIndicator: ImageIndicator {
    private let display: RecordingDisplay
    private let style: IndicatorStyle

    init(_ display: RecordingDisplay, _ style: IndicatorStyle) { (self.display, self.style) = (display, style) }

    func start() { display.log.append("\(style.rawValue) starts") }
    func update(fraction: Double?) { display.log.append("\(style.rawValue) \(fraction ?? -1)") }
    func stop() { display.log.append("\(style.rawValue) stops") }
}

extension Image {
    /// A gray square.
    static func square(_ side: Int) -> Image {
        guard var pixels = try? MutablePixelBuffer(size: PixelSize(width: side, height: side)) else {
            preconditionFailure("no memory for a test image")
        }
        pixels.withUnsafeMutableBytes { _ = $0.initializeMemory(as: UInt8.self, repeating: 128) }
        return Image(pixels: pixels.freeze())
    }
}

extension Result where Failure == ImageError {
    var failure: ImageError? { if case .failure(let error) = self { error } else { nil } }
    var isSuccess: Bool { failure == nil }
}
