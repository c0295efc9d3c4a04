/// The loads of an ``ImageDisplay``, at most a load for each slot.
///
/// The most recent load of a slot alone changes the slot; each load ends exactly once. A binding belongs to its display,
/// and ends its loads when it is deallocated.
@MainActor public final class ImageBinding {
    /// The manager that loads the images.
    public let manager: ImageManager
    weak var display: (any ImageDisplay)?
    let clock: any Clock<Duration>
    private var slots: [ImageSlot: Slot] = [:]
    private var running: [ObjectIdentifier: DisplayLoad] = [:]

    /// A slot of the display.
    private struct Slot {
        var load: DisplayLoad?
        /// The key of the image that the slot shows, perhaps a preview of it; `nil` for placeholders, and nothing.
        var shownKey: ImageKey?
    }

    /// The time from the start of a load to its placeholder; meanwhile the slot keeps its contents. The default is zero. Fast loads
    /// then cause no flicker.
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
        for slot in slots.values { slot.load?.invalidate() }
    }

    // MARK: Loads

    func setImage(_ request: ImageRequest?, in slot: ImageSlot, settings: DisplaySettings) -> DisplayLoad {
        let load = DisplayLoad(request, slot: slot, settings: settings, binding: self)
        let previous = slots[slot]?.load
        slots[slot, default: Slot()].load = load
        running[ObjectIdentifier(load)] = load
        if let request, previous?.request?.url == request.url, let previous { load.inheritTransfer(of: previous) }
        previous?.supersede(cancels: !settings.options.contains(.avoidAutoCancelImage))
        // The end of the previous load is reported to the program, which may have asked for another image.
        load.begin()
        // A load that has ended has told so.
        if load.end == nil { phaseChanged(load) }
        return load
    }

    /// Returns the most recent load of a slot; `nil` if there was none.
    /// - Parameter slot: the slot.
    public func load(in slot: ImageSlot = .image) -> DisplayLoad? { slots[slot]?.load }

    /// Returns the state of a slot.
    /// - Parameter slot: the slot.
    public func phase(of slot: ImageSlot = .image) -> DisplayPhase {
        guard let load = slots[slot]?.load else { return .empty }
        return switch load.end {
        case nil: .loading(fraction: load.fraction)
        case .success(let result): .image(result)
        case .failure(let error): .failure(error)
        }
    }

    /// Loads the image of a slot again if its load failed, even if the failure is remembered.
    ///
    /// The closure that received the events of the failed load receives none of the new load: it was told the end, exactly once.
    /// - Parameter slot: the slot.
    /// - Returns: the new load; `nil` if there is nothing to try again.
    @discardableResult public func retry(in slot: ImageSlot = .image) -> DisplayLoad? {
        guard let load = slots[slot]?.load, case .failure = load.end, var request = load.request else { return nil }
        request.retriesFailed = true
        return setImage(request, in: slot, settings: load.settings)
    }

    /// Loads the images of all slots again whose load failed, unless the manager remembers the failure, for a display that appears again. No
    /// closure is told the events of the new loads, as in ``retry(in:)``.
    package func repeatFailed() {
        for state in slots.values {
            guard let load = state.load, case .failure(let error)? = load.end, !error.isCancellation,
                let request = load.request, isCurrent(load)
            else { continue }
            _ = setImage(request, in: load.slot, settings: load.settings)
        }
    }

    /// Loads the images of all slots again whose display wants them otherwise now, for example at another size. Meanwhile the slots keep what they show.
    ///
    /// A load that is under way goes on with the new wishes. A load that has ended isn't reported again, and a load that failed or was
    /// canceled isn't repeated.
    public func reload() {
        for (slot, state) in slots {
            // What an earlier slot's display does may have replaced it.
            guard let load = state.load, let request = load.request, load.isOutdated, isCurrent(load) else { continue }
            if load.end == nil {
                load.restart()
            } else if case .success = load.end {
                var settings = load.settings
                settings.isReload = true
                _ = setImage(request, in: slot, settings: settings)
            }
        }
    }

    /// Cancels the loads of all slots. The slots keep their contents.
    public func cancelAll() {
        for load in running.values { load.cancel() }
    }

    /// Cancels the loads of all slots, and empties the slots, for a display that is used for something else next.
    public func prepareForReuse() {
        let old = slots
        slots = [:]
        for (slot, state) in old {
            state.load?.supersede(cancels: true)
            display?.show(nil, in: slot)
            display?.phaseChanged(of: slot)
        }
        cancelAll()
    }

    /// The number of loads that have not ended, including loads of replaced images.
    package var activeLoads: Int { running.count }

    // MARK: Visibility

    /// True if the display can be seen. While it is false, its loads have a low priority.
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
        phaseChanged(load)
    }

    func phaseChanged(_ load: DisplayLoad) {
        if isCurrent(load) { display?.phaseChanged(of: load.slot) }
    }

    func shownKey(in slot: ImageSlot) -> ImageKey? { slots[slot]?.shownKey }

    func didShow(_ key: ImageKey?, in slot: ImageSlot) { slots[slot]?.shownKey = key }
}
