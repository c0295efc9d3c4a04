public import Testing

extension Trait where Self == TimeLimitTrait {
    /// The time limit of every suite: ten minutes for each test.
    ///
    /// A test that hangs fails instead of blocking the run. The limit is generous because all tests share the processors,
    /// with sanitizers too.
    public static var timeLimited: Self { .timeLimit(.minutes(10)) }
}
