extension Duration {
    public static func minutes(_ count: Int) -> Duration { .seconds(count * 60) }
    public static func hours(_ count: Int) -> Duration { .seconds(count * 3_600) }
    public static func days(_ count: Int) -> Duration { .seconds(count * 86_400) }

    /// The duration in seconds, with the precision of a `Double`.
    public var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }

    /// The duration in milliseconds, with the precision of a `Double`.
    public var inMilliseconds: Double { inSeconds * 1_000 }
}
