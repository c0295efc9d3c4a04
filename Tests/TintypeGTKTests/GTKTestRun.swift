#if GTK
import CGTK
import Glibc
import Tintype
import TintypeTesting

@testable import TintypeGTK

/// A test of a widget, with the behavior that it shows.
struct GTKTest {
    var title: String
    var body: @MainActor (GTKTestRun) async throws -> Void

    /// The capabilities that a test shows, by their ids in `Documentation/development/capabilities.md`.
    struct Capabilities {
        var ids: [String]
        static func capability(_ ids: String...) -> Capabilities { Capabilities(ids: ids) }
    }

    init(
        _ title: String, _ capabilities: Capabilities = .capability(),
        _ body: @escaping @MainActor (GTKTestRun) async throws -> Void
    ) {
        self.title = title
        self.body = body
    }
}

/// The run of one test: its window, its manager, and the checks that failed.
@MainActor final class GTKTestRun {
    let loader = TestLoader()
    let manager: ImageManager
    private(set) var failures: [String] = []
    private var windows: [UnsafeMutablePointer<GtkWindow>] = []

    init() { manager = ImageManager(cache: ImageCache(), loader: loader, coders: ImageCoders.default) }

    static func run(_ tests: [GTKTest], _ filter: String?) async {
        var failed = 0
        for test in tests where filter.map({ test.title.contains($0) }) ?? true {
            let run = GTKTestRun()
            WidgetState.usesFrameClock = true
            do { try await test.body(run) } catch { run.failures.append("threw \(error)") }
            await run.close()
            print(run.failures.isEmpty ? "passed: \(test.title)" : "FAILED: \(test.title)")
            for failure in run.failures { print("    \(failure)") }
            failed += run.failures.isEmpty ? 0 : 1
            fflush(nil)
        }
        print(failed == 0 ? "All tests of GTK passed." : "\(failed) tests of GTK failed.")
        exit(failed == 0 ? 0 : 1)
    }

    func check(_ condition: Bool, _ message: @autoclosure () -> String, line: Int = #line) {
        if !condition { failures.append("line \(line): \(message())") }
    }

    func equal<Value: Equatable>(_ value: Value, _ expected: Value, line: Int = #line) {
        check(value == expected, "\(value) is not \(expected)", line: line)
    }

    /// Waits for something that must happen.
    func wait(_ subject: String = "", line: Int = #line, until condition: () -> Bool) async {
        let start = ContinuousClock.now
        while !condition() {
            if ContinuousClock.now - start > .seconds(60) {
                failures.append("line \(line): waited in vain: \(subject)")
                return
            }
            await pump()
        }
    }

    /// Lets the main loop of GTK run once.
    func pump() async {
        await withCheckedContinuation { continuation in
            let box = Unmanaged.passRetained(PumpBox(continuation)).toOpaque()
            g_idle_add_full(
                G_PRIORITY_LOW,
                { data in
                    if let data { Unmanaged<PumpBox>.fromOpaque(data).takeRetainedValue().continuation.resume() }
                    return 0
                }, box, nil)
        }
    }

    /// Shows a widget in a window and waits until it has been drawn.
    @discardableResult
    func show(_ widget: WidgetPointer, width: Int32 = 80, height: Int32 = 60) async -> WidgetPointer {
        let window = gtk_window_new()!
        let pointer = UnsafeMutableRawPointer(window).assumingMemoryBound(to: GtkWindow.self)
        gtk_window_set_decorated(pointer, 0)
        gtk_window_set_default_size(pointer, width, height)
        gtk_window_set_child(pointer, widget)
        gtk_window_present(pointer)
        windows.append(pointer)
        await wait("the window is mapped") { gtk_widget_get_mapped(widget) != 0 && gtk_widget_get_width(widget) > 0 }
        return window
    }

    func close() async {
        for window in windows { gtk_window_destroy(window) }
        windows = []
        for _ in 0..<3 { await pump() }
    }

    /// The color in the middle of a rendered paintable, or at a place in it, from 0 to 1.
    func color(
        _ slotPaintable: SlotPaintable, in widget: WidgetPointer, x: Double = 0.5, y: Double = 0.5, size: Int = 40
    ) -> SIMD4<UInt8>? {
        guard let paintable = slotPaintable.paintable else { return nil }
        let image = WidgetCapture.image(of: paintable, width: size, height: size, in: widget)
        return image.map { $0.pixels[min(size - 1, Int(x * Double(size))), min(size - 1, Int(y * Double(size)))] }
    }

    func url(_ name: String) -> URL { URL(string: "test:/\(name)")! }
}

private final class PumpBox {
    let continuation: CheckedContinuation<Void, Never>
    init(_ continuation: CheckedContinuation<Void, Never>) { self.continuation = continuation }
}

/// Images of one color.
enum Paint {
    static let red = SIMD4<UInt8>(255, 0, 0, 255), green = SIMD4<UInt8>(0, 255, 0, 255)
    static let blue = SIMD4<UInt8>(0, 0, 255, 255), gray = SIMD4<UInt8>(128, 128, 128, 255)

    static func buffer(_ color: SIMD4<UInt8>, width: Int = 16, height: Int = 16) -> PixelBuffer {
        var pixels = try! MutablePixelBuffer(size: PixelSize(width: width, height: height))
        let bytesPerRow = pixels.bytesPerRow
        pixels.withUnsafeMutableBytes { memory in
            for row in 0..<height {
                for column in 0..<width {
                    memory.storeBytes(of: color, toByteOffset: row * bytesPerRow + column * 4, as: SIMD4<UInt8>.self)
                }
            }
        }
        return pixels.freeze()
    }

    static func image(_ color: SIMD4<UInt8>, width: Int = 16, height: Int = 16) -> Image {
        Image(pixels: buffer(color, width: width, height: height))
    }

    static func png(_ color: SIMD4<UInt8>, width: Int = 16, height: Int = 16) -> Data {
        try! image(color, width: width, height: height).encoded(as: .png)
    }

    /// Three frames of 100 ms each: red, green, blue.
    static func animation() -> Data {
        let frames = [red, green, blue].map { ImageFrame(pixels: buffer($0), duration: .milliseconds(100)) }
        return try! Image(frames: frames)!.encoded(as: .png)
    }

    static func isNear(_ color: SIMD4<UInt8>?, _ other: SIMD4<UInt8>, tolerance: Int = 2) -> Bool {
        guard let color else { return false }
        return (0..<4).allSatisfy { abs(Int(color[$0]) - Int(other[$0])) <= tolerance }
    }
}
#endif
