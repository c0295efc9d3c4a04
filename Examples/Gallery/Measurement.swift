#if GTK
import CGTK
import Foundation
import Tintype
import TintypeGTK

/// A measurement of the gallery: prints the time to its first screen, and the frames while it is scrolled from the first image to the last.
///
/// The same grid with pictures that load nothing, and a window without anything, show which part of the times is that of GTK.
@MainActor final class Measurement {
    enum Subject: String {
        /// A window without anything.
        case window
        /// A grid of the same number of pictures, which all show one texture.
        case pictures
        /// The gallery.
        case gallery
    }

    private let start: ContinuousClock.Instant
    private let window: WidgetPointer
    private let frames: Frames
    private let quit: @MainActor (Int32) -> Void

    /// - Parameters:
    ///   - start: the time at which the program began.
    ///   - window: a window that has been presented.
    init(_ window: WidgetPointer, since start: ContinuousClock.Instant, quit: @escaping @MainActor (Int32) -> Void) {
        self.window = window
        self.start = start
        self.quit = quit
        frames = Frames(window)
    }

    /// Measures a window without anything.
    static func ofEmptyWindow(
        _ size: PixelSize, of application: UnsafeMutablePointer<GtkApplication>, since start: ContinuousClock.Instant,
        quit: @escaping @MainActor (Int32) -> Void
    ) -> Measurement {
        let window: WidgetPointer = gtk_application_window_new(application)
        gtk_window_set_default_size(Widgets.window(window), Int32(size.width), Int32(size.height))
        gtk_window_present(Widgets.window(window))
        let measurement = Measurement(window, since: start, quit: quit)
        measurement.run(scrolling: nil) { true }
        return measurement
    }

    /// Prints the time of the first frame after which a condition is met, and then of scrolling if there is anything to scroll.
    /// - Parameters:
    ///   - scrolled: the scrolled window; `nil` to quit after the first screen.
    ///   - isComplete: true if everything that is visible has loaded.
    func run(scrolling scrolled: WidgetPointer?, until isComplete: @escaping @MainActor () -> Bool) {
        Task {
            await frame(isComplete)
            print("first screen \(Self.format((ContinuousClock.now - start) / .milliseconds(1))) ms")
            if let scrolled {
                for pass in 1...2 {
                    // Nothing of what was before is measured.
                    try? await Task.sleep(for: .seconds(1))
                    await scroll(scrolled)
                    report("pass \(pass)")
                    await frame(isComplete)
                }
            }
            quit(0)
        }
    }

    /// Waits for a frame after which a condition is met.
    private func frame(_ condition: @escaping @MainActor () -> Bool) async {
        gtk_widget_queue_draw(window)
        await withCheckedContinuation { continuation in
            frames.onFrame = { [frames, window] in
                guard condition() else { return gtk_widget_queue_draw(window) }
                frames.onFrame = nil
                continuation.resume()
            }
        }
    }

    /// Scrolls through everything, by half of a page with each frame.
    private func scroll(_ scrolled: WidgetPointer) async {
        guard let adjustment = gtk_scrolled_window_get_vadjustment(OpaquePointer(scrolled)) else { return }
        gtk_adjustment_set_value(adjustment, 0)
        await frame { true }
        frames.removeAll()
        frames.isRecording = true
        await withCheckedContinuation { continuation in
            frames.onFrame = { [frames, window] in
                let (value, page) = (gtk_adjustment_get_value(adjustment), gtk_adjustment_get_page_size(adjustment))
                guard value + page < gtk_adjustment_get_upper(adjustment) - 1 else {
                    frames.onFrame = nil
                    return continuation.resume()
                }
                gtk_adjustment_set_value(adjustment, value + page / 2)
                gtk_widget_queue_draw(window)
            }
            gtk_widget_queue_draw(window)
        }
        frames.isRecording = false
    }

    private func report(_ title: String) {
        print("\(title) \(frames.intervals.count) frames")
        for (name, path) in [
            ("wall", \Frames.Interval.wall), ("undisturbed", \.undisturbed), ("processor", \.processor),
        ] {
            let values = frames.intervals.map { $0[keyPath: path] }.sorted()
            guard let longest = values.last else { continue }
            func quantile(_ part: Double) -> String {
                Self.format(values[min(values.count - 1, Int(part * Double(values.count)))])
            }
            print(
                "\(title) \(name): median \(quantile(0.5)), p99 \(quantile(0.99)), longest \(Self.format(longest)) ms, "
                    + "\(values.count { $0 > 50 }) above 50 ms")
        }
    }

    private static func format(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
}
#endif
