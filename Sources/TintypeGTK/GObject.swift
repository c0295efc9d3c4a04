#if GTK
public import CGTK

/// A pointer to a widget of GTK.
public typealias WidgetPointer = UnsafeMutablePointer<GtkWidget>

/// Calls of GObject that are macros or take several casts in C.
@MainActor enum GObjects {
    static func object(_ pointer: UnsafeMutableRawPointer) -> UnsafeMutablePointer<GObject> {
        pointer.assumingMemoryBound(to: GObject.self)
    }

    static func isA(_ pointer: UnsafeMutableRawPointer, _ type: GType) -> Bool {
        g_type_check_instance_is_a(pointer.assumingMemoryBound(to: GTypeInstance.self), type) != 0
    }

    /// Calls a closure for each emission of a signal without arguments, as long as the object exists.
    @discardableResult
    static func connect(
        _ object: UnsafeMutableRawPointer, _ signal: String, _ call: @escaping @MainActor () -> Void
    ) -> gulong {
        let function: @convention(c) (gpointer?, gpointer?) -> Void = { _, data in
            guard let handler = SignalHandler.from(data) else { return }
            MainActor.assumeIsolated { handler.call(nil) }
        }
        return connect(object, signal, unsafeBitCast(function, to: GCallback.self), SignalHandler { _ in call() })
    }

    /// Calls a closure with the argument of each emission of a signal with an argument.
    @discardableResult
    static func connectArgument(
        _ object: UnsafeMutableRawPointer, _ signal: String,
        _ call: @escaping @MainActor (UnsafeMutableRawPointer?) -> Void
    ) -> gulong {
        let function: @convention(c) (gpointer?, gpointer?, gpointer?) -> Void = { _, argument, data in
            guard let handler = SignalHandler.from(data) else { return }
            // Sendable: signals of widgets are emitted on the first thread, which is the main actor's.
            nonisolated(unsafe) let argument = argument
            MainActor.assumeIsolated { handler.call(argument) }
        }
        return connect(object, signal, unsafeBitCast(function, to: GCallback.self), SignalHandler(call))
    }

    private static func connect(
        _ object: UnsafeMutableRawPointer, _ signal: String, _ function: GCallback, _ handler: SignalHandler
    ) -> gulong {
        g_signal_connect_data(
            object, signal, function, Unmanaged.passRetained(handler).toOpaque(),
            { data, _ in if let data { Unmanaged<SignalHandler>.fromOpaque(data).release() } },
            GConnectFlags(rawValue: 0))
    }
}

/// The closure of a connected signal.
private final class SignalHandler: Sendable {
    let call: @MainActor (UnsafeMutableRawPointer?) -> Void

    init(_ call: @escaping @MainActor (UnsafeMutableRawPointer?) -> Void) { self.call = call }

    static func from(_ data: gpointer?) -> SignalHandler? {
        data.map { Unmanaged<SignalHandler>.fromOpaque($0).takeUnretainedValue() }
    }
}

/// A weak reference that C code can hold.
final class WeakBox<Object: AnyObject & Sendable>: Sendable {
    weak let object: Object?

    init(_ object: Object) { self.object = object }

    func retained() -> gpointer { Unmanaged.passRetained(self).toOpaque() }

    static func object(_ data: gpointer?) -> Object? {
        data.flatMap { Unmanaged<WeakBox>.fromOpaque($0).takeUnretainedValue().object }
    }

    static func release(_ data: gpointer?) {
        if let data { Unmanaged<WeakBox>.fromOpaque(data).release() }
    }
}
#endif
