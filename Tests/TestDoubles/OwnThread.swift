import Foundation

/// Returns the result of a body that runs on a thread of its own, which may block, unlike those of tests and of queues.
func onOwnThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: body()) }
    }
}
