extension ImageError {
    /// Returns the error for canceled work.
    /// - Parameters:
    ///   - stage: the stage that was in progress, or would have been next.
    ///   - activity: the work that was canceled, such as `decoding`.
    package static func cancelled(stage: Stage, while activity: String) -> ImageError {
        ImageError(.cancelled, stage: stage, reason: "canceled while \(activity)")
    }
}
