extension ImageError {
    /// Returns the error of work that was cancelled.
    /// - Parameters:
    ///   - stage: the stage that was under way, or would have been next.
    ///   - activity: the work that was cancelled, such as `decoding`.
    package static func cancelled(stage: Stage, while activity: String) -> ImageError {
        ImageError(.cancelled, stage: stage, reason: "cancelled while \(activity)")
    }
}
