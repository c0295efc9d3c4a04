internal import FoundationEssentials

/// A load for a slot of a display.
///
/// It ends exactly once: the image, an error, or ``ImageError/Code/cancelled`` if it was canceled or replaced.
@MainActor public final class DisplayLoad {
    /// The request; `nil` if there was none.
    public let request: ImageRequest?
    /// The slot that the load fills.
    public let slot: ImageSlot
    private(set) var settings: DisplaySettings
    private weak var binding: ImageBinding?

    private var task: ImageTask?
    /// The tasks of earlier loads of the same URL. They keep its transfer alive until this load has joined it.
    private var inheritedTasks: [ImageTask] = []
    private var observer: Task<Void, Never>?
    private var placeholderTimer: Task<Void, Never>?
    /// The animation that is played, perhaps while the rest of it arrives.
    private var playing: AnimatedImage?
    private var activeIndicator: (any ImageIndicator)?
    private var waiters: [CheckedContinuation<Result<ImageResult, ImageError>, Never>] = []
    /// The result that is reported when the transition has ended.
    private var delayedEnd: Result<ImageResult, ImageError>?
    private var isSuspended = false
    private var showsPreview = false
    private var ownPriority: ImagePriority?
    /// The key of the image that is being loaded.
    private var key: ImageKey?
    /// The request as it was carried out.
    private var adaptedRequest: ImageRequest?

    /// The most recent progress; `nil` before any.
    public private(set) var progress: ImageProgress?
    /// The end of the load; `nil` while it is under way.
    public private(set) var end: Result<ImageResult, ImageError>?

    init(_ request: ImageRequest?, slot: ImageSlot, settings: DisplaySettings, binding: ImageBinding) {
        self.request = request
        self.slot = slot
        self.settings = settings
        self.binding = binding
    }

    // MARK: For programs

    /// The received part, from 0 to 1; `nil` while it is unknown. It is 1 when the image is there, wherever it came from.
    package var fraction: Double? {
        if case .success = end ?? delayedEnd { return 1 }
        return progress?.fraction
    }

    /// The end of the load, when it has come. Canceling the task that waits does not cancel the load.
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
    public func cancel() {
        invalidate()
        guard end == nil else { return }
        stopTransfer()
        finish(delayedEnd ?? .failure(cancellation))
    }

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

    /// Takes the tasks of the slot's previous load over, so that its transfer goes on if both need the same transfer.
    func inheritTransfer(of previous: DisplayLoad) {
        guard !settings.options.contains(.avoidAutoCancelImage) else { return }
        if case .success = previous.end {} else { showsPreview = previous.showsPreview }
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
        invalidate()
        if let delayedEnd {
            finish(delayedEnd)
        } else if cancels {
            cancel()
        } else {
            stopIndicator()
        }
    }

    /// Stops everything that isn't the load itself.
    func invalidate() {
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
        guard let request, let adaptedRequest, let display else { return false }
        return display.adapted(request, for: slot).decode != adaptedRequest.decode
    }

    /// Starts again, as the display wants the image now.
    func restart() {
        guard end == nil, delayedEnd == nil, !isSuspended, let request, let manager = binding?.manager else { return }
        observer?.cancel()
        stopIndicator()
        inheritedTasks += [task].compactMap(\.self)
        task = nil
        start(request, manager, isFirst: false)
    }

    func updatePriority() { task?.priority = visiblePriority }

    private var visiblePriority: ImagePriority { binding?.isVisible == false ? min(priority, .low) : priority }

    // MARK: Loading

    private func start(_ request: ImageRequest, _ manager: ImageManager, isFirst: Bool) {
        playing = nil
        var request = display?.adapted(request, for: slot) ?? request
        // The load starts at once, and loaders look at its priority.
        request.priority = visiblePriority
        adaptedRequest = request
        switch manager.displayLoad(request, isSuspended: binding?.isSuspended ?? false) {
        case .image(let result):
            guard end == nil else { return }
            receive(.finished(.success(result)))
        case .suspended(let key):
            isSuspended = true
            if isFirst { showPlaceholder(outdated: nil, key: key) }
        case .task(let task, let key, let outdated):
            // A hook of the load may have ended it, or started another.
            guard end == nil, self.task == nil else { return task.cancel() }
            (self.task, self.key) = (task, key)
            updatePriority()
            if isFirst { showPlaceholder(outdated: outdated, key: key) }
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
            if isCurrent, !settings.isReload, !settings.options.contains(.avoidAutoSetImage) { showPreview(image) }
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

    /// Reports the end.
    private func finish(_ result: Result<ImageResult, ImageError>) {
        guard end == nil else { return }
        stopIndicator()
        endInheritedTasks()
        end = result
        delayedEnd = nil
        playing = nil
        // The slot keeps the load. A closure that isn't needed any more mustn't keep the display.
        let onEvent = settings.onEvent.take()
        if case .success = result { settings.transition = nil }
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

    private func show(_ image: Image?, as role: DisplayedImage.Role, key: ImageKey? = nil) {
        guard isCurrent, let display else { return }
        binding?.didShow(key, in: slot)
        display.show(image.map { DisplayedImage($0, role: role) }, in: slot)
        if let image { play(image) }
    }

    private func showPreview(_ image: Image) {
        // The animation grows by itself.
        guard playing == nil || playing !== image.animation else { return }
        showsPreview = true
        show(image, as: .preview, key: key)
    }

    private func play(_ image: Image) {
        playing = nil
        guard let animation = image.animation, isCurrent, let display, display.playsAnimations(in: slot) else { return }
        playing = animation
        display.play(animation, in: slot)
    }

    private func showPlaceholder(outdated: Image?, key: ImageKey) {
        if let outdated, !settings.isReload {
            showsPreview = true
            return show(outdated, as: .preview)
        }
        // The slot shows the requested image already: it was removed from memory, or is loaded anew.
        guard !settings.isReload, settings.options.isDisjoint(with: [.delayPlaceholder, .keepCurrentImage]),
            binding?.shownKey(in: slot) != key
        else { return }
        guard let binding, binding.placeholderDelay > .zero else {
            return show(settings.placeholder, as: .placeholder)
        }
        let (delay, clock) = (binding.placeholderDelay.boundedLimit, binding.clock)
        placeholderTimer = Task { [weak self] in
            try? await clock.sleep(for: delay)
            guard let self, !Task.isCancelled, end == nil, delayedEnd == nil, !showsPreview else { return }
            show(settings.placeholder, as: .placeholder)
        }
    }

    private func startIndicator() {
        guard isCurrent, activeIndicator == nil, let style = settings.indicator,
            let indicator = display?.indicator(style, in: slot)
        else { return }
        activeIndicator = indicator
        indicator.start()
    }

    private func stopIndicator() {
        activeIndicator?.stop()
        activeIndicator = nil
    }

    private func showEnd(_ result: Result<ImageResult, ImageError>) {
        guard isCurrent, let display else { return finish(result) }
        switch result {
        case .failure(let error):
            if !error.isCancellation { showFailure() }
            finish(result)
        case .success(let loaded):
            guard !settings.options.contains(.avoidAutoSetImage) else { return finish(result) }
            let image = loaded.image
            // An animation that a preview plays goes on.
            if let playing, playing === image.animation {
                binding?.didShow(loaded.key, in: slot)
                settings.transition?.completion?(true)
                return finish(result)
            }
            guard let transition = settings.transition,
                loaded.source != .memory || settings.options.contains(.forceTransition)
            else {
                show(image, as: .image, key: loaded.key)
                return finish(result)
            }
            let content = DisplayedImage(image, role: .image)
            transition.prepare?(content)
            // The program may have asked for another image, which may be there.
            guard isCurrent else { return finish(result) }
            binding?.didShow(loaded.key, in: slot)
            // The completion may ask for another image; this one was shown.
            delayedEnd = result
            display.show(content, in: slot, with: transition) { [weak self] isFinished in
                transition.completion?(isFinished)
                if let self, let delayedEnd { finish(delayedEnd) }
            }
            play(image)
            if !settings.options.contains(.waitTransition) { finish(result) }
        }
    }

    private func showFailure() {
        guard !settings.isReload else { return }
        if let image = settings.failureImage { return show(image, as: .failure) }
        // The frames that are there go on.
        guard playing?.isPartial != true else { return }
        // A part of an image doesn't stay as if it were the whole.
        let wasDelayed = settings.options.contains(.delayPlaceholder) || placeholderTimer != nil
        if showsPreview || wasDelayed { show(settings.placeholder, as: .placeholder) }
    }
}
