internal import CIsolation
internal import Glibc
internal import TintypeImages

/// The cause of a worker's end.
enum WorkerEnding: Sendable {
    case exit(Int32)
    case signal(Int32)
    /// Another part of the program has asked the system about the process before.
    case unknown
}

extension WorkerConversation.Failure {
    /// Returns the error of a load whose worker was ended.
    func imageError(of ending: WorkerEnding, _ isolation: DecoderIsolation) -> ImageError {
        switch self {
        case .image(let error), .abandoned(let error): return error
        case .timeout(let limit):
            let limit = Duration.milliseconds(limit.inMilliseconds.rounded())
            return ImageError(
                .decodeTimedOut, stage: .decode,
                reason: "decoding took longer than \(limit), and its process was ended")
        case .system(let operation, let code): return Self.unavailable("the program cannot \(operation)", code)
        case .connection(.system(let code)): return Self.unavailable("the program cannot reach its decoder", code)
        case .nonsense, .connection(.garbage), .connection(.interrupted):
            return Self.crashed("the decoder's process sent an answer that makes no sense")
        case .connection(.closed): return Self.error(of: ending, isolation)
        }
    }

    /// Returns the error of a worker that could not start.
    func startError(of ending: WorkerEnding, _ isolation: DecoderIsolation, program: String) -> ImageError {
        let reason: String
        switch (self, ending) {
        case (.abandoned(let error), _): return error
        case (.timeout, _): reason = "it didn't answer within \(isolation.startLimit)"
        case (.connection(.closed), .exit(TINTYPE_OTHER_VERSION)): reason = "it has another version of Tintype"
        case (.connection(.closed), .exit(let code)):
            reason = "it exited with the code \(code); it may not link Tintype"
        default: reason = imageError(of: ending, isolation).reason
        }
        return ImageError(
            .decoderUnavailable, stage: .decode, reason: "\(program) can't decode in a process of its own: \(reason)")
    }

    /// Returns the error of a program that lacks descriptors, memory, or rights: no fault of the image.
    static func unavailable(_ reason: String, _ code: Int32) -> ImageError {
        ImageError(
            code == ENOMEM ? .outOfMemory : .decoderUnavailable, stage: .decode,
            reason: "\(reason): \(String(cString: strerror(code)))")
    }

    /// The error of a decoder that another copy of the program uses.
    static let ofFork = ImageError(
        .decoderUnavailable, stage: .decode, reason: "the animation was opened before the program forked")

    private static func crashed(_ reason: String) -> ImageError {
        ImageError(.decoderCrashed, stage: .decode, reason: reason)
    }

    private static func error(of ending: WorkerEnding, _ isolation: DecoderIsolation) -> ImageError {
        switch ending {
        case .unknown: return crashed("the decoder's process ended")
        case .exit(TINTYPE_OUT_OF_MEMORY):
            // Libraries abort when they get no memory.
            let workingMemory = min(isolation.workingMemoryLimit, isolation.memoryLimit)
            return ImageError(
                .outOfMemory, stage: .decode,
                reason:
                    "decoding took more than \(workingMemory) beside the memory for an image of its size, or more than "
                    + "\(isolation.memoryLimit) in total")
        case .exit(let code): return crashed("the decoder's process exited with the code \(code)")
        case .signal(SIGSYS): return crashed("the decoder's process made a system call that decoders aren't allowed")
        case .signal(SIGKILL):
            return ImageError(
                .outOfMemory, stage: .decode,
                reason: "the system killed the decoder's process, probably for lack of memory")
        case .signal(SIGXCPU):
            return ImageError(
                .decodeTimedOut, stage: .decode, reason: "decoding took more processor time than its limit")
        case .signal(let number):
            return crashed("the decoder's process crashed: \(String(cString: strsignal(number)))")
        }
    }
}
