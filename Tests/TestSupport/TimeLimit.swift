internal import Foundation
public import Testing

extension Trait where Self == TimeLimitTrait {
    /// The time limit of every suite: ten minutes for each test, or the number in `TEST_MINUTES`.
    ///
    /// A test that hangs fails instead of blocking the run. The limit is generous, because it includes the time that a test
    /// waits for the processors, which all tests share. Scripts that run tests under a sanitizer raise it.
    public static var timeLimited: Self {
        .timeLimit(.minutes(ProcessInfo.processInfo.environment["TEST_MINUTES"].flatMap { Int($0) } ?? 10))
    }
}

extension Trait where Self == ConditionTrait {
    /// Leaves a test out under a sanitizer, which takes memory, and maps files, of its own.
    public static var withoutSanitizer: Self {
        .disabled(
            if: ProcessInfo.processInfo.environment["TEST_SANITIZER"] != nil, "a sanitizer takes memory of its own")
    }
}
