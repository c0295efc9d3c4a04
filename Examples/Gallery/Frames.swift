#if GTK
import CGTK
import Foundation
import TintypeGTK

/// The frames of a window, as its frame clock draws them, and the time of the main thread between two of them.
@MainActor final class Frames {
    /// The times from the end of one frame to the end of the next, in milliseconds.
    struct Interval {
        var wall: Double
        /// The wall time without that in which the main thread was ready to run, and other threads had the processors.
        var undisturbed: Double
        /// The processor time of the main thread.
        var processor: Double
    }

    private(set) var intervals: [Interval] = []
    private var last: (wall: Double, waited: Double, processor: Double)?
    var isRecording = false { didSet { last = nil } }
    /// Called after each frame.
    var onFrame: (() -> Void)?

    /// - Parameter window: a window that has been presented.
    init(_ window: WidgetPointer) {
        guard let clock = gtk_widget_get_frame_clock(window) else { return }
        Widgets.connect(UnsafeMutableRawPointer(clock), "after-paint") { [weak self] in self?.frameEnded() }
    }

    func removeAll() { intervals = [] }

    private func frameEnded() {
        if isRecording {
            let now = (Self.milliseconds(CLOCK_MONOTONIC), Self.waited(), Self.milliseconds(CLOCK_THREAD_CPUTIME_ID))
            if let last {
                let wall = now.0 - last.wall
                intervals.append(
                    Interval(
                        wall: wall, undisturbed: max(0, wall - (now.1 - last.waited)),
                        processor: now.2 - last.processor))
            }
            last = now
        }
        onFrame?()
    }

    private static func milliseconds(_ clock: clockid_t) -> Double {
        var time = timespec()
        clock_gettime(clock, &time)
        return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
    }

    /// The time in which this thread waited for a processor.
    private static func waited() -> Double {
        let text = (try? String(contentsOfFile: "/proc/thread-self/schedstat", encoding: .utf8)) ?? ""
        let fields = text.split(separator: " ")
        return fields.count > 1 ? (Double(fields[1]) ?? 0) / 1e6 : 0
    }
}
#endif
