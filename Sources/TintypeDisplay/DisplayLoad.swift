internal import FoundationEssentials

/// A load for a slot of a display.
///
/// Ends exactly once: with the image, with an error, or with ``ImageError/Code/cancelled`` if it was canceled or replaced before its image
/// was shown.
@MainActor public final class DisplayLoad {
    /// The request; `nil` if there was none.
    public let request: ImageRequest?
    /// The slot that the load fills.
    public let slot: ImageSlot
    private(set) var settings: DisplaySettings
    private let attempt: Attempt
    private weak var binding: ImageBinding?

    /// The reason of a load.
    enum Attempt {
        /// The program asked for the image.
        case first
        /// The program asks for the image once more, even if a failure is remembered.
        case retry
        /// The display wants its image otherwise, for example at another size. Only the new image takes the place of the old.
        case reload
    }

    private var task: ImageTask?
    /// The tasks of earlier loads of the same URL. They keep its transfer alive until this load has joined it.
    private var inheritedTasks: [ImageTask] = []
    private var observer: Task<Void, Never>?
    private var placeholderTimer: Task<Void, Never>?
    /// The animation that is played, perhaps while the rest of it arrives.
    private var playing: AnimatedImage?
    private var activeIndicator: (any ImageIndicator)?
    private var waiters: [CheckedContinuation<Result<ImageResult, ImageError>, Never>] = []
    /// The result whose image was shown. The load ends with it, whatever the program does meanwhile.
    private var shownResult: Result<ImageResult, ImageError>?
    private var isSuspended = false
    private var ownPriority: ImagePriority?
    /// The key of the image that is being loaded.
    private var key: ImageKey?
    /// The request as it was carried out.
    private var adaptedRequest: ImageRequest?

    /// The most recent progress; `nil` before any.
    public private(set) var progress: ImageProgress?
    /// The result of the load; `nil` until it has ended.
    public private(set) var end: Result<ImageResult, ImageError>?

    init(
        _ request: ImageRequest?, slot: ImageSlot, settings: DisplaySettings, attempt: Attempt, binding: ImageBinding
    ) {
        self.request = request
        self.slot = slot
        self.settings = settings
        self.attempt = attempt
        self.binding = binding
    }

    // MARK: For programs

    /// The received part, from 0 to 1; `nil` while it is unknown. It is 1 when the image is there, wherever it came from.
    package var fraction: Double? {
        if case .success = end ?? shownResult { return 1 }
        return progress?.fraction
    }

    /// The result of the load, once it has ended. Canceling the waiting task doesn't cancel the load.
    public var result: Result<ImageResult, ImageError> {
        get async {
            if let end { return end }
            return await withCheckedContinuation { waiters.append($0) }
        }
    }

    /// The priority of the load while its display is visible. A change affects work that is already queued.
    public var priority: ImagePriority {
        get { ownPriority ?? request?.priority ?? .normal }
        set {
            ownPriority = newValue
            updatePriority()
        }
    }

    /// Ends the load with ``ImageError/Code/cancelled``, unless it has ended. The slot keeps its contents.
    public func cancel() { if end == nil { finish(.failure(cancellation)) } }

    // MARK: For the binding

    func begin() {
        guard end == nil, let binding else { return }
        guard let request else {
            show(settings.placeholder, as: .placeholder)
            let reason = "no URL was given"
            return finish(.failure(ImageError(.invalidURL, stage: .request, reason: reason)))
        }
        start(request, binding.manager, isFirst: true)
    }

    /// True if another load of the request would fail at once.
    var isFailureRemembered: Bool {
        guard let request, let manager = binding?.manager else { return false }
        return manager.remembersFailure(of: adapted(request))
    }

    /// True if the program shows the image of the load.
    var leavesShowingToProgram: Bool {
        if case .failure = end { false } else { settings.options.contains(.avoidAutoSetImage) }
    }

    /// Takes the tasks of the slot's previous load over, so that its transfer goes on if both need the same transfer.
    func inheritTransfer(of previous: DisplayLoad) {
        guard !settings.options.contains(.avoidAutoCancelImage) else { return }
        inheritedTasks = previous.inheritedTasks + [previous.task].compactMap(\.self)
        previous.inheritedTasks = []
        previous.task = nil
        previous.observer?.cancel()
    }

    private func endInheritedTasks() {
        let tasks = inheritedTasks
        inheritedTasks = []
        for task in tasks { task.cancel() }
    }

    /// Ends the part of the load in its slot, because another load has taken the slot.
    func supersede(cancels: Bool) {
        guard !cancels, shownResult == nil else { return cancel() }
        dropPlaceholder()
        stopIndicator()
    }

    /// Ends the wait for the time of the placeholder.
    func dropPlaceholder() {
        placeholderTimer?.cancel()
        placeholderTimer = nil
    }

    func suspend() {
        guard end == nil, task != nil else { return }
        stopTransfer()
        isSuspended = true
    }

    func resume() {
        guard isSuspended, end == nil, let request, let manager = binding?.manager else { return }
        isSuspended = false
        start(request, manager, isFirst: false)
    }

    /// True if the display wants the image otherwise than it did when the load started.
    var isOutdated: Bool {
        guard let request, let adaptedRequest, display != nil else { return false }
        return adapted(request).decode != adaptedRequest.decode
    }

    /// Starts again, as the display wants the image now.
    func restart() {
        guard end == nil, shownResult == nil, !isSuspended, let request, let manager = binding?.manager else { return }
        observer?.cancel()
        stopIndicator()
        inheritedTasks += [task].compactMap(\.self)
        task = nil
        start(request, manager, isFirst: false)
    }

    func updatePriority() { task?.priority = visiblePriority }

    private var visiblePriority: ImagePriority { binding?.isVisible == false ? min(priority, .low) : priority }

    // MARK: Loading

    private func adapted(_ request: ImageRequest) -> ImageRequest { display?.adapted(request, for: slot) ?? request }

    private func start(_ request: ImageRequest, _ manager: ImageManager, isFirst: Bool) {
        playing = nil
        var request = adapted(request)
        if attempt == .retry { request.retriesFailed = true }
        // The load starts at once, and loaders look at its priority.
        request.priority = visiblePriority
        adaptedRequest = request
        switch manager.displayLoad(request, isSuspended: binding?.isSuspended ?? false) {
        case .image(let result):
            guard end == nil else { return }
            receive(.finished(.success(result)))
        case .suspended(let key, let outdated):
            (isSuspended, self.key) = (true, key)
            if isFirst { showBeginning(outdated) }
        case .task(let task, let key, let outdated):
            // A hook of the load may have ended it, or started another.
            guard end == nil, self.task == nil else { return task.cancel() }
            (self.task, self.key) = (task, key)
            updatePriority()
            if isFirst { showBeginning(outdated) }
            if binding?.isSuspended == true { return suspend() }
            guard end == nil, self.task === task else { return }
            startIndicator()
            observer = Task { [self] in
                for await event in task.events {
                    guard self.task === task else { return }
                    receive(event)
                }
            }
        }
    }

    private func receive(_ event: ImageEvent) {
        switch event {
        case .progress(let progress):
            endInheritedTasks()
            self.progress = progress
            if isCurrent { activeIndicator?.update(fraction: progress.fraction) }
            binding?.phaseChanged(self)
            settings.onEvent?(event)
        case .preview(let image):
            if showsPreviews { showPreview(image) }
            settings.onEvent?(event)
        case .finished(let result):
            task = nil
            observer = nil
            placeholderTimer?.cancel()
            stopIndicator()
            showEnd(result)
        }
    }

    private func stopTransfer() {
        let task = task
        self.task = nil
        observer?.cancel()
        observer = nil
        stopIndicator()
        task?.cancel()
        endInheritedTasks()
    }

    /// Ends the load. Nothing else does.
    private func finish(_ result: Result<ImageResult, ImageError>) {
        guard end == nil else { return }
        let result = shownResult ?? result
        end = result
        shownResult = nil
        playing = nil
        dropPlaceholder()
        stopTransfer()
        // The slot keeps the load. A closure that isn't needed any more mustn't keep the display.
        let onEvent = settings.onEvent.take()
        settings.transition?.prepare = nil
        settings.transition?.completion = nil
        binding?.didEnd(self)
        onEvent?(.finished(result))
        for waiter in waiters { waiter.resume(returning: result) }
        waiters = []
    }

    private var cancellation: ImageError {
        let reason = "the load was canceled, or its display shows another image"
        return ImageError(.cancelled, stage: .load, source: request?.url.shortDescription, reason: reason)
    }

    // MARK: Showing

    private var display: (any ImageDisplay)? { binding?.display }
    private var isCurrent: Bool { binding?.isCurrent(self) ?? false }

    /// - Parameter shown: the image of the load; `nil` for what stands in for it.
    private func show(_ image: Image?, as role: DisplayedImage.Role, _ shown: ShownImage? = nil) {
        guard isCurrent, let display else { return }
        binding?.didShow(shown, in: slot)
        display.show(image.map { DisplayedImage($0, role: role) }, in: slot)
        if let image { play(image) }
    }

    private var showsPreviews: Bool {
        isCurrent && attempt != .reload && !settings.options.contains(.avoidAutoSetImage)
    }

    /// Shows a part of the image, or an outdated image.
    private func showPreview(_ image: Image) {
        // The animation grows by itself.
        guard playing == nil || playing !== image.animation else { return }
        dropPlaceholder()
        if image.isPartial, let shown = binding?.shown(in: slot), !shown.isPart {
            // A whole image of the same source, however small, is better than a part.
            if settings.options.contains(.keepCurrentImage) || shown.key?.source == key?.source { return }
        }
        show(image, as: .preview, ShownImage(key: key, isPart: image.isPartial))
    }

    private func play(_ image: Image) {
        playing = nil
        guard let animation = image.animation, isCurrent, let display, display.playsAnimations(in: slot) else { return }
        playing = animation
        display.play(animation, in: slot)
    }

    /// Shows the image that memory has while its source is asked, or else the placeholder.
    private func showBeginning(_ outdated: Image?) {
        if let outdated, showsPreviews { showPreview(outdated) } else { showPlaceholder() }
    }

    private func showPlaceholder() {
        // The slot shows the requested image already: it was removed from memory, or is loaded anew.
        guard attempt != .reload, settings.options.isDisjoint(with: [.delayPlaceholder, .keepCurrentImage]),
            let binding, binding.shown(in: slot)?.key != key
        else { return }
        guard binding.placeholderDelay > .zero else { return show(settings.placeholder, as: .placeholder) }
        let (delay, clock) = (binding.placeholderDelay.boundedLimit, binding.clock)
        placeholderTimer = Task { [weak self] in
            try? await clock.sleep(for: delay)
            guard let self, !Task.isCancelled else { return }
            show(settings.placeholder, as: .placeholder)
        }
    }

    private func startIndicator() {
        guard isCurrent, attempt != .reload, activeIndicator == nil, let style = settings.indicator,
            let indicator = display?.indicator(style, in: slot)
        else { return }
        activeIndicator = indicator
        indicator.start()
    }

    private func stopIndicator() { activeIndicator.take()?.stop() }

    /// Shows the indicator that the display has now.
    func replaceIndicator() {
        guard task != nil else { return }
        stopIndicator()
        startIndicator()
        if let progress { activeIndicator?.update(fraction: progress.fraction) }
    }

    private func showEnd(_ result: Result<ImageResult, ImageError>) {
        guard isCurrent, let display else { return finish(result) }
        let loaded: ImageResult
        switch result {
        case .success(let success): loaded = success
        case .failure(let error):
            if !error.isCancellation { showFailure() }
            return finish(result)
        }
        guard !settings.options.contains(.avoidAutoSetImage) else { return finish(result) }
        let content = DisplayedImage(loaded.image, role: .image)
        // An animation that a preview plays goes on.
        let isPlaying = playing != nil && playing === loaded.image.animation
        let isSudden = loaded.source == .memory && !settings.options.contains(.forceTransition)
        let transition = isPlaying || isSudden || attempt == .reload ? nil : settings.transition
        transition?.prepare?(content)
        // The program may have canceled the load, or asked for another image, which may be there.
        guard end == nil, isCurrent else { return finish(result) }
        // From now on, closures that do so come too late: the image is shown.
        shownResult = result
        binding?.didShow(ShownImage(key: loaded.key), in: slot)
        if isPlaying {
            settings.transition?.completion?(true)
        } else if let transition {
            // A display may tell the end again.
            let completion = Lock(transition.completion)
            display.show(content, in: slot, with: transition) { [weak self] isFinished in
                completion.withLock { $0.take() }?(isFinished)
                self?.finish(result)
            }
            play(loaded.image)
            if settings.options.contains(.waitTransition) { return }
        } else {
            display.show(content, in: slot)
            play(loaded.image)
        }
        finish(result)
    }

    private func showFailure() {
        guard attempt != .reload else { return }
        if let image = settings.failureImage { return show(image, as: .failure) }
        // The frames that are there go on.
        guard playing?.isPartial != true else { return }
        // A part of an image doesn't stay as if it were the whole.
        let wasDelayed = settings.options.contains(.delayPlaceholder) || placeholderTimer != nil
        if wasDelayed || binding?.shown(in: slot)?.isPart == true { show(settings.placeholder, as: .placeholder) }
    }
}
