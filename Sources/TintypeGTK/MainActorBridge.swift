#if GTK
internal import CGTKShim
internal import Dispatch

/// The connection between Swift's main actor and the main loop of GLib.
public enum MainActorBridge {
    /// Runs the tasks of the main actor on the main loop of GLib.
    ///
    /// A program calls this once on its first thread, in a synchronous `main.swift`, before it runs the loop: `g_application_run`, or
    /// `g_main_loop_run`. The top level of the program must not have an `await`, and nothing else may run the main queue.
    /// Calling it again has no effect.
    @MainActor public static func attach() {
        // The queue exists before its event is asked for.
        _ = DispatchQueue.main
        tintype_attach_main_queue()
    }
}
#endif
