/// The loads of an ``ImageDisplay``, at most one for each slot.
///
/// Only the most recent load of a slot changes the slot. Each load ends exactly once. A binding belongs to its display, and ends its loads
/// when it is deallocated.
@MainActor public final class ImageBinding {
    /// The manager that loads the images.
    public let manager: ImageManager
    weak var display: (any ImageDisplay)?
    let clock: any Clock<Duration>
    private var slots: [ImageSlot: Slot] = [:]
    private var running: [ObjectIdentifier: DisplayLoad] = [:]

    /// A slot of the display. Nothing else knows what the slot shows.
    private struct Slot {
        /// The most recent load; `nil` if it was forgotten.
        var load: DisplayLoad?
        /// The load whose image the slot shows while ``load`` loads it anew.
        var former: DisplayLoad?
        /// The image that the slot shows; `nil` for nothing, a placeholder, and a failure image.
        var shown: ShownImage?

        @MainActor var phase: DisplayPhase {
            guard let load = former ?? load else { return .empty }
            return switch load.end {
            case nil: .loading(fraction: load.fraction)
            case .success(let result): .image(result)
            case .failure(let error): .failure(error)
            }
        }
    }

    /// The time from the start of a load to its placeholder. Meanwhile the slot keeps its contents, so that fast loads don't flicker. The
    /// default is zero.
    public var placeholderDelay = Duration.zero

    /// Creates the binding of a display.
    /// - Parameters:
    ///   - display: the display, weakly referenced.
    ///   - manager: the manager that loads the images.
    ///   - clock: the clock of ``placeholderDelay``.
    public init(
        _ display: any ImageDisplay, manager: ImageManager, clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.display = display
        self.manager = manager
        self.clock = clock
    }

    isolated deinit {
        for load in running.values { load.cancel() }
    }

    // MARK: Loads

    func setImage(
        _ request: ImageRequest?, in slot: ImageSlot, settings: DisplaySettings,
        attempt: DisplayLoad.Attempt = .first
    ) -> DisplayLoad {
        let load = DisplayLoad(request, slot: slot, settings: settings, attempt: attempt, binding: self)
        let previous = slots[slot]?.load
        slots[slot, default: Slot()].load = load
        slots[slot]?.former = attempt == .reload ? previous : nil
        running[ObjectIdentifier(load)] = load
        if let request, previous?.request?.url == request.url, let previous { load.inheritTransfer(of: previous) }
        previous?.supersede(cancels: !settings.options.contains(.avoidAutoCancelImage))
        // The end of the previous load is reported to the program, which may have asked for another image.
        load.begin()
        // A load that has ended has told so.
        if load.end == nil { phaseChanged(load) }
        return load
    }

    /// Returns the most recent load of a slot; `nil` if there was none, or if it was forgotten.
    /// - Parameter slot: the slot.
    public func load(in slot: ImageSlot = .image) -> DisplayLoad? { slots[slot]?.load }

    /// Returns the state of a slot.
    /// - Parameter slot: the slot.
    public func phase(of slot: ImageSlot = .image) -> DisplayPhase { slots[slot]?.phase ?? .empty }

    /// True if a slot waits for its image. Loads of replaced images don't count.
    package var isLoading: Bool {
        slots.values.contains { if case .loading = $0.phase { true } else { false } }
    }

    /// Loads the image of a slot again if its load failed, even if the failure is remembered.
    ///
    /// The event and transition closures of the failed load aren't called for the new load, because its end has already been reported.
    /// - Parameter slot: the slot.
    /// - Returns: the new load; `nil` if there is nothing to retry.
    @discardableResult public func retry(in slot: ImageSlot = .image) -> DisplayLoad? {
        guard let load = slots[slot]?.load, case .failure = load.end, let request = load.request else { return nil }
        return setImage(request, in: slot, settings: load.settings, attempt: .retry)
    }

    /// Loads the images of all slots again whose load failed, unless the manager remembers the failure, for a display that appears again. No
    /// closure is told the events of the new loads, as in ``retry(in:)``.
    package func repeatFailed() {
        for (slot, state) in slots {
            guard let load = state.load, case .failure(let error)? = load.end, !error.isCancellation,
                let request = load.request, isCurrent(load), !load.isFailureRemembered
            else { continue }
            _ = setImage(request, in: slot, settings: load.settings)
        }
    }

    /// Reloads the images of all slots that the display now wants differently, for example at another size. During a reload, and if it
    /// fails, the slots keep their images and phases.
    ///
    /// A load in progress continues with the adapted request. A load that has ended isn't reported again. A load that failed or was
    /// canceled isn't repeated; if a reload fails, the next reload tries again.
    public func reload() {
        for (slot, state) in slots {
            // What an earlier slot's display does may have replaced it.
            guard let load = state.load, let request = load.request, load.isOutdated, isCurrent(load) else { continue }
            if load.end == nil {
                load.restart()
            } else if case .success = load.end, !load.leavesShowingToProgram {
                _ = setImage(request, in: slot, settings: load.settings, attempt: .reload)
            }
        }
    }

    /// Cancels the loads of all slots. The slots keep their contents.
    public func cancelAll() {
        for load in running.values { load.cancel() }
    }

    /// Cancels the loads of all slots and empties the slots, for a display that is about to be reused.
    ///
    /// Reports the ends of the loads last, so that an image that the program requests in response is shown.
    public func prepareForReuse() {
        let (old, ending) = (slots, running.values)
        slots = [:]
        // A closure at the end of a transition may have asked for the image of another slot.
        for slot in old.keys where slots[slot] == nil {
            display?.show(nil, in: slot)
            if slots[slot] == nil { display?.phaseChanged(of: slot) }
        }
        for load in ending { load.cancel() }
    }

    /// Shows something of the program's own in a slot. The load of the slot is canceled and forgotten, so that its image doesn't come back.
    ///
    /// A load with ``DisplayOptions/avoidAutoSetImage`` goes on: the program shows its image.
    /// - Parameters:
    ///   - slot: the slot.
    ///   - isEmpty: true if the program empties the slot.
    ///   - show: tells the display what to show.
    package func showOwn(in slot: ImageSlot, isEmpty: Bool = false, _ show: () -> Void) {
        let old = slots[slot] ?? Slot()
        let stays = old.load?.leavesShowingToProgram == true
        old.load?.dropPlaceholder()
        slots[slot] = stays ? old : Slot()
        slots[slot]?.shown = isEmpty ? nil : ShownImage()
        show()
        guard let load = old.load, !stays else { return }
        if slots[slot]?.load == nil { display?.phaseChanged(of: slot) }
        // Last: an image that the program asks for when it is told of the end stays.
        load.cancel()
    }

    /// Replaces the indicator of a load that is under way, for a display that has another one now.
    /// - Parameter slot: the slot.
    package func replaceIndicator(in slot: ImageSlot) { slots[slot]?.load?.replaceIndicator() }

    /// The number of loads that have not ended, including loads of replaced images.
    package var activeLoads: Int { running.count }

    // MARK: Visibility

    /// True if the display is visible. While it is false, its loads have a low priority.
    public var isVisible = true {
        didSet {
            guard isVisible != oldValue else { return }
            for load in running.values { load.updatePriority() }
        }
    }

    /// True while loads are suspended: nothing is loaded, and requested loads start when this becomes false.
    public var isSuspended = false {
        didSet {
            guard isSuspended != oldValue else { return }
            for load in running.values { isSuspended ? load.suspend() : load.resume() }
        }
    }

    // MARK: For loads

    func isCurrent(_ load: DisplayLoad) -> Bool { slots[load.slot]?.load === load }

    func didEnd(_ load: DisplayLoad) {
        running[ObjectIdentifier(load)] = nil
        guard isCurrent(load) else { return }
        if let former = slots[load.slot]?.former.take(), case .failure? = load.end {
            // The slot still shows its image.
            slots[load.slot]?.load = former
        } else {
            display?.phaseChanged(of: load.slot)
        }
    }

    /// Tells the display of a new load, or of progress.
    func phaseChanged(_ load: DisplayLoad) {
        if isCurrent(load), slots[load.slot]?.former == nil { display?.phaseChanged(of: load.slot) }
    }

    func shown(in slot: ImageSlot) -> ShownImage? { slots[slot]?.shown }

    func didShow(_ image: ShownImage?, in slot: ImageSlot) { slots[slot]?.shown = image }
}

/// An image that a slot of a display shows.
struct ShownImage {
    /// The key of the image; `nil` for an image of the program.
    var key: ImageKey?
    /// True for a preview of which more is to come. An outdated image is whole.
    var isPart = false
}
